"""Kinds `critic` and `format`: a model looks at an answer before it is shown. Its words are advice, never facts.

The critic writes checks, and queries decide them. Confidence depends on how many checks held. The formatter writes the
sentences and the column headers of the answer; the numbers in them are checked against the rows like all others. If
either step fails, the answer is shown without its advice.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from answerable.agents.data_text import as_data
from answerable.agents.dependencies import AgentDependencies
from answerable.agents.model_descriptors import AdviceConfig
from answerable.agents.prompt_context import schema_links, shared_cell, tables_text
from answerable.agents.replies import Checks, Verification, Wording
from answerable.agents.write_steps import checked_sql
from answerable.core.errors import LimitError, RefusedError, UserError
from answerable.core.values import Json
from answerable.engine.steps.base import Step
from answerable.engine.steps.present import Advice
from answerable.engine.steps.produced import Produced, produced_before
from answerable.engine.steps.sql import SqlConfig

_SHOWN = 30
"""Rows of an answer that a model sees: a third each from the start, the middle and the end."""
_TOLERANCE = 1e-9
"""Relative. Databases sum floating-point numbers in different orders, so the last digits may differ."""


class CriticStep:
    def __init__(self, dependencies: AgentDependencies) -> None:
        self._dependencies = dependencies

    async def run(self, step: Step) -> Json:
        config, produced = step.config_as(AdviceConfig), _last(step)
        dependencies = self._dependencies
        source = await dependencies.sources.get(config.source, step.context.principal)
        reader = await dependencies.readers.reader(source, step.context.principal)
        prompt_context = {
            "question": as_data(config.question),
            "today": dependencies.readers.today(config.today, reader.catalog).isoformat(),
            "program": as_data(produced.code),
            "rows": await _rows_text(produced, dependencies, step),
            "dialect": source.languages[0],
            "tables": tables_text(
                schema_links(reader, config.question, share_personal=dependencies.share_personal),
                share_rows=dependencies.share_rows,
            ),
        }

        # All queries are checked before the first one runs, while the model can still correct them.
        async def check(reply: Checks) -> None:
            for verification in reply.checks:
                await checked_sql(verification.sql, source)

        reply = await dependencies.agents.ask("critic", prompt_context, Checks, step.context, step.output, check=check)
        held = [await self._held(each, config.source, step) for each in reply.checks]
        return _verdict(reply, held).model_dump(mode="json")

    async def _held(self, verification: Verification, source: str, step: Step) -> "CheckResult":
        try:
            result = await self._dependencies.sql.query(
                SqlConfig(source=source, sql=verification.sql), step.context.principal
            )
        except (UserError, RefusedError, LimitError):
            # A check that cannot run says nothing about the answer, so it must not fail the step.
            return CheckResult(verification, None)
        value = next(iter(result.frame.sample[0].values()), None) if result.frame.sample else None
        step.output("check", {"question": verification.question, "expected": verification.expected, "found": value})
        return CheckResult(verification, value)


@dataclass(frozen=True, slots=True)
class CheckResult:
    """A check, and the value that its query returned."""

    verification: Verification
    found: Json
    """None if the check could not run or returned no rows."""

    @property
    def decided(self) -> bool:
        return isinstance(self.found, int | float)

    @property
    def agrees(self) -> bool:
        """Compares only the decimals that the model wrote: an expected 0.27 agrees with 0.2705."""
        expected = self.verification.expected
        # `repr` of 5.0 ends in ".0": a whole number was written without decimals, so no rounding is allowed for it.
        decimals = repr(expected).partition(".")[2].removesuffix("0")
        rounding = 0.5 * 10 ** -len(decimals) if decimals.isdigit() else 0.0
        return abs(float(self.found) - expected) <= max(rounding, _TOLERANCE * max(1.0, abs(expected)))


def _verdict(reply: Checks, held: Sequence[CheckResult]) -> Advice:
    decided = [each for each in held if each.decided]
    wrong = [each for each in decided if not each.agrees]
    findings = tuple(
        f"A check does not hold: {each.verification.question} Expected {each.verification.expected:g}, "
        f"the data says {each.found:g}."
        for each in wrong
    ) + tuple(f"The critic remarks: {concern}" for concern in reply.concerns)
    if wrong:
        return Advice(
            confidence="low", reason=f"{len(wrong)} of {len(decided)} checks did not hold.", findings=findings
        )
    if decided and not reply.concerns:
        checks = "One independent check" if len(decided) == 1 else f"{len(decided)} independent checks"
        return Advice(confidence="high", reason=f"{checks} of the data held.")
    return Advice(confidence="medium", reason="No independent check could decide.", findings=findings)


class FormatStep:
    def __init__(self, dependencies: AgentDependencies) -> None:
        self._dependencies = dependencies

    async def run(self, step: Step) -> Json:
        config, produced = step.config_as(AdviceConfig), _last(step)
        dependencies = self._dependencies
        # Without rows to quote, a model could only repeat the question or invent numbers.
        if not dependencies.share_rows or not produced.frame.row_count:
            return Advice().model_dump(mode="json")
        rows = await _rows_text(produced, dependencies, step)
        prompt_context = {"question": as_data(config.question), "rows": rows}
        reply = await dependencies.agents.ask("format", prompt_context, Wording, step.context, step.output)
        return Advice(prose=reply.text or None, headers=reply.headers).model_dump(mode="json")


def _last(step: Step) -> Produced:
    [produced] = produced_before(step.inputs).values()
    return produced


async def _rows_text(produced: Produced, dependencies: AgentDependencies, step: Step) -> str:
    from answerable.answers import frame

    result = produced.frame
    head = f"{result.row_count:,} rows with the columns " + ", ".join(
        f"{as_data(c.name)} ({c.type})" for c in result.columns
    )
    if not dependencies.share_rows:
        return head
    path = await dependencies.store.artifacts.path(step.context.principal, result.artifact)
    third = _SHOWN // 3
    starts = [0, max(0, result.row_count // 2 - third // 2), max(0, result.row_count - third)]
    # Keyed by row number, because the three parts overlap if there are fewer rows than `_SHOWN`.
    chosen = {start + offset: row for start in starts for offset, row in enumerate(frame.rows(path, start, third))}
    names = [column.name for column in result.columns]

    def listed(row: Sequence[Json]) -> str:
        """Writes the row as JSON, so that a model can distinguish numbers, texts and nulls."""
        cells = zip(names, row, strict=True)
        return as_data([shared_cell(name, cell, dependencies.share_personal) for name, cell in cells])

    return "\n".join([head, *(f"row {number + 1}: {listed(chosen[number])}" for number in sorted(chosen))])
