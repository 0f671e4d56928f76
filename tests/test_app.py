"""What is not needed is not loaded: a command that asks one question is soon under way."""

import json
import os
import subprocess
import sys
from pathlib import Path

CODE = """
import json, sys
import answerable.app

HEAVY = ["answerable.agents.schema_links", "answerable.reader.reader", "duckdb", "polars", "psycopg"]
HEAVY += ["pydantic_ai", "yaml"]
def loaded():
    return [name for name in HEAVY if name in sys.modules]

imported = loaded()
from answerable import Answerable
with Answerable(sys.argv[1]) as data:
    assert data.sql("SELECT count(*) AS n FROM people").value == 2
    direct = loaded()
    assert data.ask("how many people are there?").value == 2
print(json.dumps([imported, direct, loaded()]))
"""
COMMAND = """
import dataclasses, sys
from answerable.cli.main import main

try:
    main()
finally:
    print(*sorted(sys.modules), file=sys.stderr)
    ours = [(name, module) for name, module in sys.modules.items() if name.startswith("answerable.")]
    slow = [name for name, module in ours if vars(module).get("dataclass") is dataclasses.dataclass]
    print("slow dataclasses:", *slow, file=sys.stderr)
"""


def test_a_question_that_needs_no_model_loads_nothing_of_models(tmp_path: Path) -> None:
    people = tmp_path / "people.csv"
    people.write_text("id,name\n1,Ana\n2,Bo\n")
    done = subprocess.run([sys.executable, "-c", CODE, str(people)], capture_output=True, text=True, check=True)
    imported, direct, asked = json.loads(done.stdout)

    assert imported == []
    assert not {"answerable.reader.reader", "answerable.agents.schema_links", "pydantic_ai"} & set(direct)
    assert not {"answerable.agents.schema_links", "pydantic_ai"} & set(asked)


def test_a_typed_question_loads_no_library_that_it_does_not_need(tmp_path: Path) -> None:
    """Loading is most of the time that a typed question takes. DuckDB is loaded by the worker, and only there."""
    people = tmp_path / "people.csv"
    people.write_text("id,name,joined\n1,Ana,2024-01-31\n2,Bo,2024-02-29\n")
    command = [sys.executable, "-c", COMMAND, "ask", "list the names of all people", "--source", str(people)]
    environment = {**os.environ, "ANSWERABLE_HOME": str(tmp_path / "home")}
    subprocess.run(command, capture_output=True, check=True, env=environment)  # describes the data
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)

    assert "Ana" in done.stdout
    heavy = {"duckdb", "fastapi", "httpx", "nanoarrow", "numpy", "polars", "psycopg", "pyarrow", "pydantic_ai", "yaml"}
    describing = {"answerable.sources.sql.profile", "answerable.sources.sql.relationships"}
    of_other_languages = {"answerable.query.cypher.tree"}
    of_others = {"answerable.agents.replies", "answerable.protection.personal.detect", "answerable.store.identities"}
    assert not (heavy | describing | of_other_languages | of_others) & set(done.stderr.split())
    slow = done.stderr.partition("slow dataclasses:")[2].split()
    assert len(slow) <= 12, f"take the dataclass of core/records.py, which loads quickly, in {slow}"
