"""Variants of a draft that combine two queries: what two tables hold together, and conditions that stand apart."""

from collections.abc import Iterator, Sequence

from answerable.reader.candidates.options import ConditionOption
from answerable.reader.linking.scene import Scene
from answerable.reader.linking.schema import ColumnView, Schema
from answerable.reader.plans.draft import Combination, Draft, Term

_LEAST_SAID = 0.6


def of_two_tables(draft: Draft, scene: Scene) -> Iterator[tuple[Draft, str]]:
    """Names of customers and staff: the same column of another table that is mentioned, in one list."""
    if len(draft.select) != 1 or draft.where or draft.order or draft.group or draft.select[0].function:
        return
    column = draft.select[0].column
    if column is None or draft.extra:
        return
    own = scene.schema.columns[column]
    for table, mentions in scene.tables.items():
        if table == own.table or max(m.score for m in mentions) < _LEAST_SAID:
            continue
        twin = _twin(scene.schema, own, table)
        if twin is not None:
            right = Draft(table, (Term(twin),))
            for operator in _operators(scene):
                yield draft._replace(combination=Combination(operator, right)), operator  # type: ignore[arg-type]


def _operators(scene: Scene) -> tuple[str, ...]:
    return ("except",) if "NEG" in scene.cue_tags else ("union", "intersect")


def _twin(schema: Schema, own: ColumnView, table: int) -> int | None:
    """The column that is called the same there, or that names the rows as this one does here."""
    for column in schema.tables[table].columns:
        if schema.columns[column].words == own.words:
            return column
    if schema.tables[own.table].display == own.id:
        return schema.tables[table].display
    return None


def of_conditions(draft: Draft, tests: Sequence[ConditionOption], scene: Scene) -> Iterator[tuple[Draft, str]]:
    """Those in A above 3 or in B below 2: what stands on either side of the conjunction belongs together."""
    if len(tests) < 3 or draft.order or draft.combination:
        return
    for cue in scene.cues_of("EITHER", "AND", "BOTH"):
        left = tuple(c for c, test in zip(draft.where, tests, strict=True) if test.end <= cue.start)
        right = tuple(c for c, test in zip(draft.where, tests, strict=True) if test.start >= cue.end)
        if not left or not right or len(left) + len(right) < len(tests):
            continue
        operator = "intersect" if cue.tag == "BOTH" else "union"
        other = draft._replace(where=right)
        yield draft._replace(where=left, combination=Combination(operator, other)), operator  # type: ignore[arg-type]
