"""A first reading by plain rules: count, list, filter, group, top-N and aggregates over joined tables."""

from collections.abc import Iterator, Sequence

from answerable.reader.draft import ROWS, Condition, Draft, Function, Operator, Order, Term
from answerable.reader.lexicon import AGGREGATES
from answerable.reader.link import Links, Mention, ValueMention
from answerable.reader.normalise import Question
from answerable.reader.schema import Schema

_COMPARATORS: tuple[tuple[tuple[str, ...], Operator], ...] = (
    (("at", "least"), ">="),
    (("no", "less", "than"), ">="),
    (("at", "most"), "<="),
    (("no", "more", "than"), "<="),
    (("more", "than"), ">"),
    (("greater", "than"), ">"),
    (("larger", "than"), ">"),
    (("higher", "than"), ">"),
    (("older", "than"), ">"),
    (("longer", "than"), ">"),
    (("above",), ">"),
    (("over",), ">"),
    (("after",), ">"),
    (("less", "than"), "<"),
    (("lower", "than"), "<"),
    (("smaller", "than"), "<"),
    (("younger", "than"), "<"),
    (("fewer", "than"), "<"),
    (("under",), "<"),
    (("below",), "<"),
    (("before",), "<"),
)
_GROUP_WORDS = frozenset({"each", "per", "every", "by"})
_DESCENDING = frozenset({"max"})


class Rules:
    def __init__(self, question: Question, schema: Schema, links: Links) -> None:
        self.tokens = question.tokens
        self.words = [token.lower for token in question.tokens]
        self.schema = schema
        self.links = links
        self.values = _best_values(links.values)
        taken = {place for value in self.values for place in range(value.start, value.end)}
        self.columns = [m for m in _best_columns(links, schema) if not taken & set(range(m.start, m.end))]
        self.tables = [m for m in links.tables if m.score >= 0.9 and not taken & set(range(m.start, m.end))]

    def read(self) -> Draft | None:
        entity = self.entity()
        if entity is None:
            return None
        group = self.group_column()
        select, order, limit = self.select_and_order(entity, group)
        where = tuple((condition,) for condition in self.conditions())
        grouping = (Term(group),) if group is not None else ()
        return Draft(entity, select, where=where, group=grouping, order=order, limit=limit)

    def entity(self) -> int | None:
        first = min(self.tables, key=lambda m: m.start, default=None)
        if first is not None:
            return first.id
        places = [m.id for m in self.columns] + [value.column for value in self.values]
        return self.schema.columns[places[0]].table if places else None

    def group_column(self) -> int | None:
        for mention in self.columns:
            if mention.start and self.words[mention.start - 1] in _GROUP_WORDS and not self.is_sorted_by(mention):
                return mention.id
        for table in self.tables:
            if table.start and self.words[table.start - 1] in ("each", "per", "every"):
                return self.schema.tables[table.id].display
        return None

    def is_sorted_by(self, mention: Mention) -> bool:
        before = self.words[max(0, mention.start - 3) : mention.start]
        return any(word in ("sort", "sorted", "order", "ordered") for word in before)

    def select_and_order(
        self, entity: int, group: int | None
    ) -> tuple[tuple[Term, ...], tuple[Order, ...], int | None]:
        aggregates = list(self.aggregates())
        counted = "how many" in " ".join(self.words) or "number of" in " ".join(self.words) or "count" in self.words
        plain = [m.id for m in self.columns if m.id not in {c for _, c, _ in aggregates} and not self.compared(m)]
        key = (Term(group),) if group is not None else ()
        if counted:
            return (*key, ROWS), (), None
        superlative = next(
            ((f, c, n) for f, c, n in aggregates if f in ("max", "min") and (n or self.tables_asked())), None
        )
        if superlative and group is None and ("average" not in self.words):
            function, column, count = superlative
            shown = tuple(Term(c) for c in plain) or self.shown(entity)
            return shown, (Order(Term(column), function in _DESCENDING),), count or 1
        if aggregates:
            return (*key, *(Term(c, f) for f, c, _ in aggregates)), (), None
        sort = tuple(Order(Term(m.id), "descending" in self.words) for m in self.columns if self.is_sorted_by(m))
        sorted_on = {order.term.column for order in sort}
        shown = tuple(Term(c) for c in dict.fromkeys(plain) if c not in sorted_on) or self.shown(entity)
        return (shown if not key else (*key, ROWS)), sort, None

    def tables_asked(self) -> bool:
        return self.words[:1] == ["which"] or self.words[:1] == ["who"] or self.words[:1] == ["top"]

    def shown(self, entity: int) -> tuple[Term, ...]:
        display = self.schema.tables[entity].display
        return (Term(display),) if display is not None else ()

    def aggregates(self) -> Iterator[tuple[Function, int, int | None]]:
        for mention in self.columns:
            for place in range(max(0, mention.start - 3), mention.start):
                function = AGGREGATES.get(self.words[place])
                if function is not None:
                    near = self.tokens[place + 1] if place + 1 < len(self.tokens) else None
                    count = near.value if near and isinstance(near.value, int) else None
                    yield function, mention.id, count  # type: ignore[misc]
                    break

    def compared(self, mention: Mention) -> bool:
        return any(condition.left.column == mention.id for condition in self.conditions())

    def conditions(self) -> list[Condition]:
        found = [Condition(Term(value.column), "=", value.value) for value in self.values]
        used = {place for value in self.values for place in range(value.start, value.end)}
        for place, token in enumerate(self.tokens):
            operator = self.operator_before(place)
            if token.value is None or place in used or operator is None:
                continue
            column = self.number_column(place)
            if column is not None:
                found.append(Condition(Term(column), operator, token.value))
        return found

    def operator_before(self, place: int) -> Operator | None:
        for words, operator in _COMPARATORS:
            if tuple(self.words[max(0, place - len(words)) : place]) == words:
                return operator
        return None

    def number_column(self, place: int) -> int | None:
        numeric = [m for m in self.columns if self.schema.columns[m.id].numeric]
        near = min(numeric, key=lambda m: abs(m.start - place), default=None)
        return near.id if near else None


def _best_values(values: Sequence[ValueMention]) -> list[ValueMention]:
    kept: list[ValueMention] = []
    for value in sorted(values, key=lambda v: (-(v.end - v.start), -v.score)):
        if all(value.end <= other.start or value.start >= other.end for other in kept):
            kept.append(value)
    return sorted(kept, key=lambda v: v.start)


def _best_columns(links: Links, schema: Schema) -> list[Mention]:
    """One column for each place: the fullest match, of a table that is named if possible."""
    named = {m.id for m in links.tables if m.score >= 0.9}
    kept: list[Mention] = []
    for mention in sorted(
        (m for m in links.columns if m.score >= 0.6),
        key=lambda m: (-m.score * (m.end - m.start), schema.columns[m.id].table not in named, m.id),
    ):
        if all(mention.end <= other.start or mention.start >= other.end for other in kept):
            kept.append(mention)
    return sorted(kept, key=lambda m: m.start)
