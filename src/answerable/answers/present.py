"""From a finished run to the answer that users get."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Literal

from answerable.answers.answer import Answer, Choice, Kind, Provenance, StepRecord, Usage
from answerable.answers.chart import chart
from answerable.answers.chart_request import chart_request, in_form
from answerable.answers.checking.claims import LEFT_OUT, CheckedText, check_claims
from answerable.answers.checking.facts import ExtraFact, plan_facts
from answerable.answers.format import DIRECT_ROWS, FormatSpec, format_cell, format_spec, headed
from answerable.answers.prose import DescribedResult, counted, prose
from answerable.answers.requested_format import RequestedFormat
from answerable.answers.result_rows import ResultRows, Rows
from answerable.core.ids import RunId
from answerable.core.values import FrameRef, Json
from answerable.query.headings import RowNoun
from answerable.query.plan import QueryPlan
from answerable.query.quantities import Quantity

ROW_LIMIT = 1_000
"""Rows that ride in an answer; the rest are read from its artifact."""


def present(
    run_id: RunId,
    question: str,
    path: Path,
    result: FrameRef,
    *,
    known_rows: Rows | None = None,
    plan: QueryPlan | None = None,
    provenance: Provenance | None = None,
    steps: Sequence[StepRecord] = (),
    usage: Usage | None = None,
    status: Literal["done", "partial"] = "done",
    row_limit: int = ROW_LIMIT,
    units: Mapping[str, str] | None = None,
    quantities: Mapping[str, Quantity] | None = None,
    drawn: Json = None,
    proposed: str | None = None,
    headers: Mapping[str, str] | None = None,
    noun: RowNoun | None = None,
    requested: RequestedFormat | None = None,
) -> Answer:
    """Builds the answer whose rows are in the Arrow file at `path`. `known_rows`: all rows, if they need not be read;
    `drawn`: a chart that a program drew from the rows; `proposed`: text about the rows that a model or program wrote,
    which is checked like our own; `headers`: heads for columns;
    `noun`: what the rows are; `requested`: the form that the user asked for, whose order and columns the rows have."""
    result_rows = ResultRows(path, known_rows)
    rows = result_rows.part(0, row_limit)
    provenance = provenance or Provenance()
    sample = _sample(result_rows, rows, result.row_count)
    spec = headed(format_spec(result.columns, sample, plan, units, quantities), headers or {})
    if requested is not None:
        from answerable.answers.arranged import requested_spec  # loads polars, which a plain answer does without

        spec = requested_spec(spec, requested, path)
    picture, remark = _picture(question, result, rows, spec, drawn, requested, plan=plan, units=units)
    check = partial(
        check_claims,
        columns=result.columns,
        rows=rows,
        row_count=result.row_count,
        plan=plan,
        question=question,
        units=units,
    )
    facts = _extra_facts(provenance, plan, result, len(rows))
    checked = check(proposed, extra_facts=facts) if proposed else None
    if checked is None or not _says_the_answer(checked, result, rows, spec):
        # The answer's value is always said: where the proposed text lacks it, our own sentence comes first.
        own = prose(DescribedResult(result.columns, rows, result.row_count, spec, plan, noun))
        our_own = check(own, extra_facts=(*facts, *_noun_facts(noun, result)))
        # Our own sentences are made of cells and counts. Where the check does not follow one, it stays, without links.
        our_own = our_own if our_own.text == own else CheckedText(own)
        checked = our_own if checked is None else _joined(our_own, checked)
    provenance = provenance.model_copy(update={"findings": (*provenance.findings, remark)}) if remark else provenance
    wants_chart = requested is not None and requested.chart is not None and picture is not None
    return Answer(
        run_id=run_id,
        status=status,
        kind="chart" if drawn or wants_chart else _kind(question, result, picture),
        text=_text(checked, spec, rows, result.row_count),
        columns=result.columns,
        rows=tuple(rows),
        row_count=result.row_count,
        steps=tuple(steps),
        provenance=_completed(provenance, result, result_rows.findings, len(rows), checked, picture, spec),
        usage=usage or Usage(),
    )


def _picture(
    question: str,
    result: FrameRef,
    rows: list[tuple[Json, ...]],
    spec: FormatSpec,
    drawn: Json,
    requested: RequestedFormat | None,
    *,
    plan: QueryPlan | None,
    units: Mapping[str, str] | None,
) -> tuple[Json, str | None]:
    """The chart of an answer, if there is one, and why it has not the form that was asked for."""
    if drawn:  # a program's own chart comes first: ours is only a guess at what is wanted
        return drawn, None
    heads = {column.column: column.header for column in spec.columns}
    picture = chart(result.columns, rows, result.row_count, plan=plan, units=units, heads=heads)
    request = chart_request(question)
    form = requested.chart if requested is not None and requested.chart else request.form if request else None
    return in_form(picture, form, rows) if form is not None else (picture, None)


def _text(checked: CheckedText, spec: FormatSpec, rows: Rows, row_count: int) -> str:
    """The sentences, with the table after them if it was asked for as markdown: links to places in the sentences stay
    right. The check may leave out every sentence; the number of rows is always true."""
    text = checked.text or counted(row_count, None)
    if not spec.markdown:
        return text
    from answerable.answers.arranged import markdown_table

    return f"{text}\n\n{markdown_table(spec, rows, row_count)}"


def _says_the_answer(checked: CheckedText, result: FrameRef, rows: Rows, spec: FormatSpec) -> bool:
    """Whether something of the text was left, and the value is in it if the result is one value; of one row, whether
    no sentence was left out."""
    if checked.text and result.row_count == 1 and len(result.columns) > 1:
        return not any(finding.startswith(LEFT_OUT) for finding in checked.findings)
    if not checked.text or result.row_count != 1 or rows[0][0] is None:
        return bool(checked.text)
    linked = any(link.kind == "cell" and (link.row, link.column) == (0, 0) for link in checked.links)
    shown = format_cell(rows[0][0], spec.columns[0].format) or ""
    return linked or shown.casefold() in checked.text.casefold()


def _joined(first: CheckedText, second: CheckedText) -> CheckedText:
    text = f"{first.text} {second.text}".strip()
    by = len(text) - len(second.text)
    moved = (k.model_copy(update={"start": k.start + by, "end": k.end + by}) for k in second.links)
    return CheckedText(text, (*first.findings, *second.findings), (*first.links, *moved))


def asked_back(
    run_id: RunId,
    text: str,
    choices: Sequence[Choice],
    provenance: Provenance | None = None,
    usage: Usage | None = None,
) -> Answer:
    """A question back, with the readings to choose from."""
    return Answer(
        run_id=run_id,
        status="clarify",
        kind="clarify",
        text=text,
        choices=tuple(choices),
        provenance=provenance or Provenance(),
        usage=usage or Usage(),
    )


def _sample(result_rows: ResultRows, rows: list[tuple[Json, ...]], row_count: int) -> list[tuple[Json, ...]]:
    """All rows of a small result; of a large one the first, the middle and the last."""
    if row_count <= DIRECT_ROWS:
        return rows
    share = DIRECT_ROWS // 4
    middle = result_rows.part(row_count // 2, share)
    return rows[: DIRECT_ROWS - 2 * share] + middle + result_rows.part(row_count - share, share)


def _kind(question: str, result: FrameRef, picture: Json) -> Kind:
    if result.row_count == 1 and len(result.columns) == 1:
        return "value"
    return "chart" if picture is not None and chart_request(question) is not None else "table"


def _extra_facts(provenance: Provenance, plan: QueryPlan | None, result: FrameRef, shown: int) -> tuple[ExtraFact, ...]:
    """What the prose may say beside the rows: what was understood, the plan's constants, how many rows are shown."""
    understood = (ExtraFact(value=provenance.understood, basis="what was understood"),) if provenance.understood else ()
    part = (ExtraFact(value=shown, basis="the rows shown"),) if shown < result.row_count else ()
    return (*understood, *(plan_facts(plan) if plan else ()), *part)


def _noun_facts(noun: RowNoun | None, result: FrameRef) -> tuple[ExtraFact, ...]:
    """What our own sentences say of the rows as a whole: "238 customers". In the sentences of a model a number of
    customers may be meant as anything, so there it has to be found in the rows."""
    if noun is None:
        return ()
    names = (ExtraFact(value=name, basis="what the rows are") for name in (noun.one, noun.many))
    return (ExtraFact(value=result.row_count, basis="the number of rows"), *names)


def _completed(
    provenance: Provenance,
    result: FrameRef,
    findings: Sequence[str],
    shown: int,
    checked: CheckedText,
    picture: Json,
    spec: FormatSpec,
) -> Provenance:
    return provenance.model_copy(
        update={
            "artifact": result.artifact,
            "chart": picture,
            "format": spec.model_dump(mode="json"),
            "links": checked.links,
            "truncated": shown < result.row_count,
            "findings": (*provenance.findings, *checked.findings, *findings),
        }
    )
