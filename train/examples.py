"""What the role models are fitted on: the vectors of every question with what the gold query did."""

from contextlib import suppress
from dataclasses import dataclass, field

from sqlglot.errors import ParseError

from answerable.reader.candidates.role_features import RoleFeaturizer
from answerable.reader.candidates.roles import (
    COLUMN_ROLES,
    NUMBER_ROLES,
    functions_said,
    number_columns,
    relevant_columns,
)
from answerable.reader.fitted.features import Vector
from answerable.reader.linking.scene import Scene, link_question
from answerable.reader.linking.tokens import tokenize
from answerable.reader.plans.draft import Draft, DraftCondition, DraftRange, Term, all_drafts
from train.cases import Case, database
from train.gold import Unsupported, gold_draft


@dataclass
class Sample:
    case: Case
    scene: Scene
    gold: Draft | None


@dataclass
class Rows:
    vectors: list[Vector] = field(default_factory=list)
    labels: list[int] = field(default_factory=list)
    groups: list[str] = field(default_factory=list)

    def add(self, vector: Vector, label: bool, group: str) -> None:
        self.vectors.append(vector)
        self.labels.append(int(label))
        self.groups.append(group)


def make_sample(case: Case, *, guessing: bool) -> Sample:
    data = database(case.database)
    scene = link_question(tokenize(case.question), data.schema, data.values, guessing=guessing)
    gold = None
    if case.gold_sql is not None:
        with suppress(Unsupported, ParseError):
            gold = gold_draft(case.gold_sql, data.schema)
    return Sample(case, scene, gold)


@dataclass
class Truth:
    """The roles that the gold query gave."""

    tables: set[int]
    select: set[int]
    count: set[int]
    """Columns that are counted, as a rule without repetition."""
    group: set[int]
    order: set[int]
    aggregates: set[tuple[str, int]]
    values: set[tuple[int, str]]
    numbers: set[tuple[int, float | str]]
    having: set[float]
    limits: set[float]


def truth_of(gold: Draft) -> Truth:
    drafts = all_drafts(gold)
    top = [gold] + ([gold.combination.right] if gold.combination else [])
    selected = [term for draft in top for term in draft.select]
    orders = [order.term for draft in drafts for order in draft.order]
    conditions = [c for draft in drafts for clause in draft.where for c in clause]
    havings = [c for draft in drafts for c in draft.having]
    plain = [t for t in selected if t.function is None and t.column is not None]
    return Truth(
        tables={table for draft in drafts for table in draft.extra},
        select={t.column for t in plain if t.column is not None},
        count={t.column for t in selected if t.function == "count" and t.column is not None and t.distinct},
        group={t.column for draft in drafts for t in draft.group if t.column is not None},
        order={t.column for t in orders if t.column is not None} | _extremes(conditions),
        aggregates={
            (t.function, t.column) for t in selected if t.function not in (None, "count") and t.column is not None
        },
        values={
            (c.left.column, _folded(c.right))
            for c in conditions
            if c.left.column is not None and isinstance(c.right, str | int)
        },
        numbers={(column, value) for c in conditions for column, value in _numbers(c)},
        having={float(c.right) for c in havings if isinstance(c.right, int | float)},
        limits={float(draft.limit) for draft in drafts if draft.limit is not None and draft.limit > 1},
    )


def _folded(value: object) -> str:
    return str(value).strip().lower()


def _extremes(conditions: list[DraftCondition]) -> set[int]:
    """`x = (select max(x) …)` sorts by x, as it were."""
    return {
        c.left.column
        for c in conditions
        if c.operator == "="
        and isinstance(c.right, Draft)
        and c.left.column is not None
        and len(c.right.select) == 1
        and c.right.select[0].function in ("max", "min")
    }


def _numbers(condition: DraftCondition) -> list[tuple[int, float | str]]:
    column, right = condition.left.column, condition.right
    if column is None or condition.left.function is not None:
        return []
    found = [right.low, right.high] if isinstance(right, DraftRange) else [right]
    return [(column, number) for number in map(_as_number, found) if number is not None]


def _as_number(value: object) -> float | str | None:
    if isinstance(value, int | float):
        return float(value)
    try:
        return float(value) if isinstance(value, str) else None
    except ValueError:
        return str(value)


def table_rows(sample: Sample, rows: Rows) -> None:
    if sample.gold is None:
        return
    truth = truth_of(sample.gold)
    maker = RoleFeaturizer(sample.scene)
    for number in range(len(sample.scene.schema.tables)):
        rows.add(maker.table(number), number in truth.tables, str(sample.case.database))


def role_rows(sample: Sample, chances: list[float], rows: dict[str, Rows]) -> None:
    if sample.gold is None:
        return
    truth = truth_of(sample.gold)
    maker = RoleFeaturizer(sample.scene)
    maker.table_chance = chances
    group = str(sample.case.database)
    columns = relevant_columns(sample.scene)
    wanted = {"select": truth.select, "group": truth.group, "order": truth.order, "count": truth.count}
    functions = functions_said(sample.scene)
    for number, mention in columns:
        vector = maker.column(number, mention)
        for role in COLUMN_ROLES:
            rows[role].add(vector, number in wanted[role], group)
        for function in functions:
            longer = [*vector, *maker.function(function, mention, maker.schema.columns[number].table)]
            rows["aggregate"].add(longer, (function, number) in truth.aggregates, group)
    for rivals in sample.scene.rivals.values():
        for value in rivals:
            rows["value"].add(maker.value(value), (value.column, _folded(value.value)) in truth.values, group)
    _number_rows(sample, truth, maker, columns, rows)


def _number_rows(sample: Sample, truth: Truth, maker: RoleFeaturizer, columns: list, rows: dict[str, Rows]) -> None:  # type: ignore[type-arg]
    group = str(sample.case.database)
    compared = {number for _, number in truth.numbers}
    for place in sample.scene.numbers:
        token = sample.scene.tokens[place]
        value: float | str = token.text if token.kind == "date" else float(token.value or 0)
        vector = maker.number_role(place)
        labels = {"where": value in compared, "having": value in truth.having, "limit": value in truth.limits}
        for role in NUMBER_ROLES:
            rows[f"number_{role}"].add(vector, labels[role], group)
        for number, mention in number_columns(sample.scene, columns):
            rows["number"].add(maker.number(place, number, mention), (number, value) in truth.numbers, group)


ROLE_NAMES = (*COLUMN_ROLES, "aggregate", "value", "number", *(f"number_{role}" for role in NUMBER_ROLES))


def term_label(term: Term) -> str:
    return f"{term.function or 'c'}{'d' if term.distinct else ''}"
