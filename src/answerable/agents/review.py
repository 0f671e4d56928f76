"""A model's review of an answer: its wording, and checks that the data decides. One call for both.

The wording is checked against the rows when the answer is presented. The checks are queries; what must come out of them
is read from the answer's rows (`checks.py`).
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from answerable.agents.checks import CheckedRows, CheckResult, NotThere, failed, is_independent, verdict
from answerable.agents.data_text import as_data
from answerable.agents.dependencies import AgentDependencies
from answerable.agents.federation import by_label
from answerable.agents.looks import Looks, reason_of
from answerable.agents.model_descriptors import UNREVIEWED
from answerable.agents.query_text import CYPHER, checked_text, on_one_line
from answerable.agents.replies import Reviewed, Verification
from answerable.agents.rows_text import shared_cell
from answerable.agents.runtime import Mistake
from answerable.agents.schema_links import schema_links
from answerable.agents.schema_text import tables_text
from answerable.core.errors import AnswerableError, LimitError, RefusedError, UserError
from answerable.core.ids import NodeId
from answerable.core.values import Json
from answerable.engine.steps.base import Step
from answerable.engine.steps.present import Advice, show_rows
from answerable.engine.steps.produced import Produced
from answerable.engine.steps.understand import Question

_SHOWN = 30
"""Rows of an answer that a model sees: a third each from the start, the middle and the end."""
_MOST_ROWS = 10_000
"""Rows that checks can refer to."""


@dataclass(frozen=True, slots=True)
class Review:
    reply: Reviewed
    results: tuple[CheckResult, ...]

    @property
    def failures(self) -> int:
        return len(failed(self.results))

    @property
    def is_doubtful(self) -> bool:
        return bool(self.failures or self.reply.concerns)

    @property
    def evidence(self) -> str:
        """What speaks against the answer, for whoever writes it again."""
        checks = [f"{each.finding} The check: {each.verification.sql}" for each in failed(self.results)]
        return " ".join([*checks, *self.reply.concerns])

    def advice(self) -> Advice:
        words = {"prose": self.reply.text or None, "format": self.reply.format.requested()}
        return verdict(self.results, self.reply.concerns).model_copy(update=words)


def without_review(error: AnswerableError) -> Advice:
    """What is said of rows whose review failed. A model that declines to review them says why in its own words."""
    return Advice(findings=(f"{UNREVIEWED} {error.message}" if declined(error) else UNREVIEWED,))


def declined(error: AnswerableError) -> bool:
    from answerable.models.failures import REFUSED  # loads slowly

    return error.stable_code == REFUSED


class Reviewer:
    def __init__(self, question: Question, dependencies: AgentDependencies, step: Step) -> None:
        self._question = question
        self._dependencies = dependencies
        self._step = step
        self._context = step.context
        self._output = step.output

    async def review(self, programs: Mapping[NodeId, Produced], checks: Sequence[Verification] = ()) -> Review:
        """Reviews the rows of the last of `programs`. `checks` of an earlier review are made again."""
        dependencies, question = self._dependencies, self._question
        *_, answer = programs.values()
        rows = await self._checked_rows(answer)
        # Before the model is asked: nobody should wait for words to see rows that are there.
        show_rows(self._step, answer.frame, rows.rows)
        read = await self._tables_read(programs)
        reader = await dependencies.readers.reader(
            await dependencies.readers.source_of(question, self._context.principal), self._context.principal
        )
        prompt_context = {
            "question": as_data(question.text),
            "today": dependencies.readers.today(question.today, reader.catalog).isoformat(),
            "programs": "\n".join(
                f"{name} ({each.language}): {as_data(_shown(each))}" for name, each in programs.items()
            ),
            "rows": self._rows_text(answer, rows),
            "dialect": reader.catalog.dialect,
            "tables": await self._tables_text(read, " ".join(each.code for each in programs.values()).lower()),
        }

        # A single wrong check is left out; only if none can be used, the model is asked to correct them.
        async def check(reply: Reviewed) -> None:
            if unknown := reply.format.requested().unknown_columns(rows.columns):
                there = ", ".join(column.name for column in rows.columns)
                raise Mistake(f"the format names {unknown[0]!r}, and the rows have the columns {there}")
            problems = [problem for each in reply.checks if (problem := _problem(each, rows))]
            if problems and len(problems) == len(reply.checks):
                raise Mistake(problems[0])

        reply = await dependencies.agents.ask(
            "format", prompt_context, Reviewed, self._context, self._output, check=check
        )
        if not dependencies.share_rows:
            # Without rows to quote, a model can only repeat the question or invent numbers.
            reply = reply.model_copy(update={"text": ""})
        usable = [each for each in (*checks, *reply.checks) if not _problem(each, rows)]
        tables = {name for names in read.values() for name in names}
        return Review(reply, tuple([await self._result(each, rows, tables, answer) for each in usable]))

    async def _result(self, check: Verification, rows: CheckedRows, tables: set[str], answer: Produced) -> CheckResult:
        result = CheckResult(check, rows.value(check), None, decisive=rows.decides(check), program=rows.code)
        try:
            if not self._question.sources and not await self._says_something(check.sql, tables, answer.code):
                return replace(result, ran=False)
            looks = Looks(self._question, self._dependencies, self._context, lambda *_: None)
            found = await looks.query(check.sql)
        except (UserError, RefusedError, LimitError) as error:
            # A check that cannot run says nothing about the answer, so it must not fail the step.
            self._output("check", {"question": check.question, "failed": reason_of(error)})
            return replace(result, ran=False)
        if found.frame.row_count != 1:
            return replace(result, ran=False)
        value = next(iter(found.frame.sample[0].values()), None)
        result = replace(result, found=value)
        outcome = {"question": check.question, "expected": result.claimed, "found": value, "holds": result.agrees}
        self._output("check", outcome)
        return result

    async def _says_something(self, sql: str, tables: set[str], program: str) -> bool:
        source = await self._dependencies.sources.get(self._question.source, self._context.principal)
        query = checked_text(sql, await source.describe())
        # The program is shown as the checker wrote it, so the check is compared in the same form.
        return is_independent(query.text, query.tables, program, tables)

    async def _tables_read(self, programs: Mapping[NodeId, Produced]) -> dict[str, frozenset[str]]:
        """The tables of each source that the programs read, by the source's label."""
        labels = {name: label for label, name in by_label(self._question).items()}
        read: dict[str, frozenset[str]] = {}
        for each in programs.values():
            if (
                each.language not in ("sql", CYPHER)
                or each.inputs
                or len(each.sources) != 1
                or each.sources[0] not in labels
            ):
                continue
            source = await self._dependencies.sources.get(each.sources[0], self._context.principal)
            try:
                tables = checked_text(each.code, await source.describe()).tables
            except AnswerableError:
                continue  # its text is that of a plan in another dialect; the other programs still tell their tables
            label = labels[each.sources[0]]
            read[label] = read.get(label, frozenset()) | tables
        return read

    async def _tables_text(self, read: Mapping[str, frozenset[str]], code: str) -> str:
        """Describes the tables and columns that the answer comes from, and names the others: a check mostly needs no
        more."""
        dependencies, principal, texts = self._dependencies, self._context.principal, []
        for label, name in by_label(self._question).items():
            reader = await dependencies.readers.reader(await dependencies.sources.get(name, principal), principal)
            found = schema_links(reader, self._question.text, share_personal=dependencies.share_personal)
            used = [table.name for table in found.catalog.tables if table.name in read.get(label, ())]
            found = replace(found, tables=tuple(dict.fromkeys([*used, *found.tables])), touched=len(used))
            texts.append(tables_text(found, share_rows=dependencies.share_rows, spare=0, code=code))
        return "\n".join(texts)

    async def _checked_rows(self, answer: Produced) -> CheckedRows:
        from answerable.answers import frame

        result = answer.frame
        path = await self._dependencies.store.artifacts.path(self._context.principal, result.artifact)
        rows = await asyncio.to_thread(frame.rows, path, 0, _MOST_ROWS)
        return CheckedRows(result.columns, rows, result.row_count, answer.code)

    def _rows_text(self, answer: Produced, rows: CheckedRows) -> str:
        head = f"{rows.row_count:,} rows with the columns " + ", ".join(
            f"{as_data(c.name)} ({c.type})" for c in rows.columns
        )
        if not self._dependencies.share_rows:
            return head
        third, known = _SHOWN // 3, len(rows.rows)
        starts = (0, max(0, known // 2 - third // 2), max(0, known - third))
        # A set of row numbers, because the three parts overlap if there are fewer rows than `_SHOWN`.
        shown = sorted({number for start in starts for number in range(start, min(start + third, known))})
        return "\n".join([head, *(f"row {number + 1}: {self._row(rows, number)}" for number in shown)])

    def _row(self, rows: CheckedRows, number: int) -> str:
        """Writes the row as JSON, so that a model can distinguish numbers, texts and nulls."""
        cells: list[Json] = [
            shared_cell(column.name, cell, self._dependencies.share_personal)
            for column, cell in zip(rows.columns, rows.rows[number], strict=True)
        ]
        return as_data(cells)


def _shown(program: Produced) -> str:
    return program.code if program.language == "python" else on_one_line(program.code)


def _problem(check: Verification, rows: CheckedRows) -> str:
    try:
        rows.value(check)
    except NotThere as reason:
        return f"the check {check.question!r}: {reason}"
    return ""
