"""What `make test-fast` runs: the units, and one scenario for each seam of "To add" in ARCHITECTURE.md.

Prints the arguments for pytest. `tests/test_fast.py` makes sure that no seam is left out.
"""

UNITS = (
    "tests/core",
    "tests/isolation",
    "tests/store",
    "tests/answers",
    "tests/apis",
    "tests/evals",
    "tests/engine/test_conditions.py",
    "tests/engine/test_graph.py",
    "tests/engine/test_guards.py",
    "tests/engine/test_journal.py",
    "tests/query/test_to_sql.py",
    "tests/query/test_validate.py",
    "tests/test_app.py",
    "tests/test_fast.py",
    "tests/test_layers.py",
    "tests/test_public_names.py",
    "tests/test_settings.py",
    "tests/test_words.py",
)
SEAMS = {
    "data source": "tests/conformance/test_sources.py::test_describes_tables_types_and_counts",
    "query language": "tests/conformance/test_source_seam.py::test_it_runs_a_checked_query_of_its_language",
    "sandbox": "tests/scenarios/test_programs.py::test_a_program_works_on_the_tables_that_it_names",
    "kind of node that users can draw": "tests/graphs/test_kinds.py::test_rows_become_the_answer_of_the_run",
    "step kind": "tests/scenarios/test_programs.py::test_a_plan_of_several_steps_runs_from_a_file",
    "export format": "tests/scenarios/test_ask.py::test_all_rows_can_be_written_to_a_file",
    "view of the page": "tests/web/test_files.py::test_every_event_is_known_to_the_page",
    "route": "tests/gateway/test_chat.py::test_a_question_gets_its_answer_and_a_thread",
    "middleware": "tests/gateway/test_middleware_order.py::test_the_middleware_stands_in_this_order_from_outside_in",
    "command": "tests/scenarios/test_ask.py::test_a_folder_of_csv_files_is_asked_in_plain_words",
    "agent": "tests/agents/test_cases.py::test_what_was_recorded_still_holds",
    "model provider": "tests/scenarios/test_models.py::test_a_question_beyond_the_reader_is_planned_and_written",
    "question form": "tests/scenarios/test_ask.py::test_a_follow_up_refers_to_the_last_answer",
    "library": "tests/test_library.py::test_a_question_gives_text_value_and_code",
}

if __name__ == "__main__":
    print(*UNITS, *SEAMS.values())
