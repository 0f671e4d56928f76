"""Expressions and conditions of a plan as English phrases. Different ones never share a phrase."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, datetime
from functools import cached_property
from typing import Literal

from answerable.query.nouns import Nouns, is_plural, plural, spoken
from answerable.query.plan import (
    Aggregate,
    And,
    Arithmetic,
    Between,
    Bucket,
    ColumnRef,
    Compare,
    Constant,
    DateDifference,
    DatePart,
    Expr,
    Filter,
    InList,
    InQuery,
    IsNull,
    MeasureRef,
    Not,
    Or,
    QueryPlan,
    ScalarQuery,
    TextFunction,
    TextMatch,
)
from answerable.query.row_source import RowSource, relationships_between, usual_ways
from answerable.query.scope import TEMPORAL, Scope, type_of
from answerable.reader.time.calendar_periods import MONTHS, WEEKDAYS, Period, day_name, period_name

_COMPARISONS = {
    "=": "is",
    "!=": "is not",
    "<": "is less than",
    "<=": "is at most",
    ">": "is more than",
    ">=": "is at least",
}
_DATE_COMPARISONS = {
    "=": "is",
    "!=": "is not",
    "<": "is before",
    "<=": "is on or before",
    ">": "is after",
    ">=": "is on or after",
}
_MATCHES = {
    "contains": ("contains", "does not contain"),
    "starts_with": ("starts with", "does not start with"),
    "ends_with": ("ends with", "does not end with"),
    "equals": ("is, in any letter case,", "is not, in any letter case,"),
}
_PLURAL_VERBS = {
    "is": "are",
    "contains": "contain",
    "starts": "start",
    "ends": "end",
    "does": "do",
}
_PARTS = {
    "year": "year",  # the same as the period; of the others, each stands for several periods
    "quarter": "calendar quarter",
    "month": "calendar month",
    "week": "calendar week",
    "day": "day of the month",
    "weekday": "weekday",
    "hour": "hour of the day",
    "minute": "minute of the hour",
}
_SAID_OF_ANYTHING = frozenset({"name", "title", "type", "code", "description", "id", "number", "status"})
"""Columns that are not clear without whose they are."""
_OPERATORS = {"+": "plus", "-": "minus", "*": "times", "/": "divided by"}
_TEXT_FUNCTIONS = {
    "lower": "{} in small letters",
    "upper": "{} in capitals",
    "trim": "{} without blanks around it",
    "length": "length of {}",
}
_ADJECTIVES = {"sum": "total", "avg": "average", "median": "median", "stddev": "standard deviation of the"}
EXTREMES = {
    "number": ("lowest", "highest"),
    "time": ("earliest", "latest"),
    "text": ("alphabetically first", "alphabetically last"),
}


def listed(phrases: Sequence[str], word: Literal["and", "or"] = "and") -> str:
    if len(phrases) < 2:
        return "".join(phrases)
    return ", ".join(phrases[:-1]) + f" {word} {phrases[-1]}"


class Phrases:
    """The phrases of one plan. `nested` describes a plan within it, as one value or as many values; `nested_filter`
    describes only the condition of that plan."""

    def __init__(
        self,
        scope: Scope,
        rows: RowSource,
        names: Nouns,
        nested: Callable[[QueryPlan, bool], str],
        nested_filter: Callable[[QueryPlan], str],
    ) -> None:
        self.scope = scope
        self.rows = rows
        self.names = names
        self.nested = nested
        self.nested_filter = nested_filter

    # Expressions.

    def expression(self, expr: Expr) -> str:
        match expr:
            case ColumnRef():
                return self.column(expr)
            case Constant():
                return _constant(expr)
            case Aggregate():
                return self.aggregate(expr)
            case Arithmetic():
                return self.arithmetic(expr)
            case Bucket():
                return f"{expr.unit} of {self.enclosed(expr.of)}"
            case DatePart():
                return f"{_PARTS[expr.part]} of {self.enclosed(expr.of)}"
            case DateDifference():
                return f"number of {expr.unit}s from {self.enclosed(expr.start)} to {self.enclosed(expr.end)}"
            case TextFunction():
                return _TEXT_FUNCTIONS[expr.function].format(self.enclosed(expr.of))
            case MeasureRef():
                return self.measure(expr)
            case ScalarQuery():
                return self.nested(expr.plan, False)

    def enclosed(self, expr: Expr) -> str:
        """In brackets where the phrase has parts that could be taken for parts of the sentence around it."""
        text = self.expression(expr)
        simple = isinstance(expr, ColumnRef | Constant | Aggregate | MeasureRef)
        return text if simple else f"({text})"

    def column(self, ref: ColumnRef) -> str:
        column = self.scope.column(ref)
        name = self.names.column(self.scope.tables[ref.table], column)
        if ref.table != self.rows.root and self.is_usual(ref.table):
            plain = self.column_names[name] == 1 and name not in _SAID_OF_ANYTHING
            return name if plain else f"{self.called(ref.table)}'s {name}"
        return self.owner(ref.table) + name

    def owner(self, alias: str) -> str:
        """The way from a row to one of another table, as possessives: "customer's region's "."""
        return "".join(f"{self.called(step)}'s " for step in self.way(alias))

    def way(self, alias: str) -> tuple[str, ...]:
        link = self.rows.link(alias)
        return () if link is None else (*self.way(link.parent), alias)

    def is_usual(self, alias: str) -> bool:
        """Whether only one shortest path leads to the table and the plan uses it. Then phrases leave it out."""
        way = self.way(alias)
        unnamed = all(self.scope.tables[step].name == step for step in (*way, self.rows.root))
        return unnamed and self.usual_ways.get(alias) == way

    @cached_property
    def usual_ways(self) -> Mapping[str, tuple[str, ...] | None]:
        return usual_ways(self.scope.catalog, self.scope.tables[self.rows.root].name)

    @cached_property
    def column_names(self) -> Counter[str]:
        """How often a name occurs in the tables that a row leads to."""
        tables = [table for name in self.usual_ways if (table := self.scope.catalog.table(name))]
        return Counter(self.names.column(table, column) for table in tables for column in table.columns)

    def called(self, alias: str) -> str:
        """One row of a table: by its name, or by its alias where it has one."""
        table = self.scope.tables[alias]
        return self.names.one(table) if alias == table.name else spoken(alias)

    def counted(self) -> str:
        """What the rows are."""
        return self.names.many(self.scope.tables[self.rows.root]) if self.rows.exact else "combinations"

    def measure(self, ref: MeasureRef) -> str:
        measure, alias = self.scope.measure(ref)
        same = [other for other, table in self.scope.tables.items() if table.name == measure.table]
        owner = self.owner(alias) if len(same) > 1 else ""
        return f"the {owner}{self.names.measure(measure)}"

    def aggregate(self, expr: Aggregate) -> str:
        only = f" (only those {self.whose(expr.where)})" if expr.where is not None else ""
        if expr.of is None:
            return f"the number of {self.counted()}{only}"
        return self.aggregated(expr, expr.of) + only

    def aggregated(self, expr: Aggregate, of: Expr) -> str:
        if expr.function == "count":
            if expr.distinct:
                return f"the number of different {self.different(of)}"
            return self.number_known(of)
        adjective = _ADJECTIVES.get(expr.function) or EXTREMES[self.nature(of)][expr.function == "max"]
        operand = f"{'different ' if expr.distinct else ''}{self.operand(of)}"
        # "The total total price" would read badly.
        if adjective == "total" and "total" in operand.split():
            return f"the sum of {operand}"
        return f"the {adjective} {operand}"

    def different(self, of: Expr) -> str:
        """Different keys are different things: riders, not rider ids."""
        if not isinstance(of, ColumnRef):
            return f"values of {self.enclosed(of)}"
        table = self.scope.tables[of.table]
        return self.names.many(table) if table.primary_key == (of.column,) else plural(self.column(of))

    def number_known(self, of: Expr) -> str:
        """Counting a key counts the rows of its table."""
        if isinstance(of, ColumnRef) and self.scope.tables[of.table].primary_key == (of.column,):
            # The count of a key is the number of rows only if no other join repeats them.
            fans = [link.alias for link in self.rows.links if not link.to_one]
            if fans == ([] if of.table == self.rows.root else [of.table]):
                return f"the number of {self.names.many(self.scope.tables[of.table])}"
        return f"the number of {self.counted()} with a known {self.enclosed(of)}"

    def nature(self, expr: Expr) -> Literal["number", "time", "text"]:
        kind = type_of(expr, self.scope)
        if kind in TEMPORAL or kind == "time":
            return "time"
        return "number" if kind in ("integer", "number", None) else "text"

    def arithmetic(self, expr: Arithmetic) -> str:
        match expr:
            # Both ways to write a percentage: part / whole * 100, and 100 * part / whole.
            case Arithmetic(op="*", left=Arithmetic(op="/", left=part, right=whole), right=Constant(value=100)) | (
                Arithmetic(op="/", left=Arithmetic(op="*", left=Constant(value=100), right=part), right=whole)
            ):
                growth = self.growth(part, whole)
                if growth is not None:
                    return f"{growth} in percent"
                return f"{self.enclosed(part)} as a percentage of {self.enclosed(whole)}"
            case Arithmetic(op="/", left=part, right=whole):
                growth = self.growth(part, whole)
                if growth is not None:
                    return f"{growth} as a fraction"
        return f"{self.enclosed(expr.left)} {_OPERATORS[expr.op]} {self.enclosed(expr.right)}"

    def growth(self, change: Expr, whole: Expr) -> str | None:
        if isinstance(change, Arithmetic) and change.op == "-" and change.right == whole:
            return f"the growth from {self.enclosed(change.right)} to {self.enclosed(change.left)}"
        return None

    # Conditions.

    def whose(self, condition: Filter) -> str:
        """A clause that follows the noun it limits."""
        if isinstance(condition, And):
            return listed_clauses([self.relative(part) for part in self.merged_periods(condition)], "and")
        if isinstance(condition, Or):
            return listed_clauses([self.relative(part) for part in condition.parts], "or")
        return self.relative(condition)

    def relative(self, part: Filter | str) -> str:
        part = self.as_period(part)
        if isinstance(part, str):
            return f"whose {part}"
        if isinstance(part, InQuery) and (having := self.having_rows(part)):
            return having
        pronoun = "for which" if isinstance(part, And | Or | Not) else "whose"
        return f"{pronoun} {self.clause(part, inner=True)}"

    def having_rows(self, condition: InQuery) -> str | None:
        """ "that have no orders": membership of the key in the one reference to it."""
        left, inner = condition.left, condition.plan
        root, other = self.scope.tables[self.rows.root], self.scope.catalog.table(inner.entity)
        if not isinstance(left, ColumnRef) or left.table != self.rows.root or other is None or other == root:
            return None
        selected = [item.expr for item in inner.select]
        ways = list(relationships_between(self.scope.catalog, root, other))
        if len(selected) != 1 or not isinstance(selected[0], ColumnRef) or root.primary_key != (left.column,):
            return None
        plain = inner == QueryPlan(entity=inner.entity, select=inner.select, where=inner.where)
        if not plain or ways != [frozenset({(left.column, selected[0].column)})]:
            return None
        only = self.nested_filter(inner)
        return f"that have {'no ' if condition.negated else ''}{self.names.many(other)}{only}"

    def merged_periods(self, condition: And) -> list[Filter | str]:
        """The parts of a conjunction, with the two ends of a period merged into one phrase."""
        parts: list[Filter | str] = []
        rest = list(_flat(condition))
        while rest:
            part = rest.pop(0)
            period, other = self.period(part, rest)
            if other is not None:
                rest.remove(other)
            parts.append(part if period is None else period)
        return parts

    def as_period(self, part: Filter | str) -> Filter | str:
        """Two ends of one period as one phrase ("ordered on is in 2024"); anything else as it is."""
        parts = self.merged_periods(part) if isinstance(part, And) else []
        return parts[0] if len(parts) == 1 and isinstance(parts[0], str) else part

    def period(self, part: Filter, rest: Iterable[Filter]) -> tuple[str | None, Filter | None]:
        if not isinstance(part, Compare) or part.op not in (">=", "<"):
            return None, None
        wanted = "<" if part.op == ">=" else ">="
        for other in rest:
            if isinstance(other, Compare) and other.op == wanted and other.left == part.left:
                first, last = (part, other) if part.op == ">=" else (other, part)
                start, end = _day(first.right), _day(last.right)
                name = period_name(Period(start, end)) if start and end else None
                return (f"{self.expression(part.left)} is {name}", other) if name else (None, None)
        return None, None

    def clause(self, condition: Filter, inner: bool = False) -> str:
        """A condition as a clause of its own; within another one it is put into brackets where it has parts."""
        match condition:
            case And() | Or():
                text = self.joined(condition)
                return f"({text})" if inner else text
            case Not():
                return f"not ({self.clause(condition.part)})"
            case Compare():
                return self.compare(condition)
            case TextMatch():
                verb = _MATCHES[condition.how][condition.negated]
                return f"{self.agreeing(condition.left, verb)} {quoted(condition.pattern)}"
            case InList():
                return self.in_list(condition)
            case InQuery():
                verb = "is not among" if condition.negated else "is among"
                return f"{self.agreeing(condition.left, verb)} {self.nested(condition.plan, True)}"
            case Between():
                verb = "is not between" if condition.negated else "is between"
                bounds = f"{self.operand(condition.low)} and {self.operand(condition.high)}"
                return f"{self.agreeing(condition.left, verb)} {bounds}"
            case IsNull():
                return self.agreeing(condition.left, "is known" if condition.negated else "is missing")

    def joined(self, condition: And | Or) -> str:
        if not condition.parts:
            return "anything is true" if isinstance(condition, And) else "nothing is true"
        alternatives = [self.as_period(part) for part in condition.parts]
        parts = self.merged_periods(condition) if isinstance(condition, And) else alternatives
        texts = [part if isinstance(part, str) else self.clause(part, inner=True) for part in parts]
        return (" and " if isinstance(condition, And) else " or ").join(texts)

    def compare(self, condition: Compare) -> str:
        left, right = condition.left, condition.right
        dated = type_of(right, self.scope) in TEMPORAL
        verb = (_DATE_COMPARISONS if dated else _COMPARISONS)[condition.op]
        if isinstance(left, DatePart) and isinstance(right, Constant) and condition.op in ("=", "!="):
            return f"{self.expression(left)} {verb} {_part_value(left, right)}"
        return f"{self.agreeing(left, verb)} {self.operand(right)}"

    def agreeing(self, subject: Expr, verb: str) -> str:
        """The verb in the plural after a column such as "hours"."""
        said = self.expression(subject)
        first, _, rest = verb.partition(" ")
        if isinstance(subject, ColumnRef) and is_plural(said):
            first = _PLURAL_VERBS[first.removesuffix(",")] + ("," if first.endswith(",") else "")
        return f"{said} {first} {rest}".rstrip()

    def operand(self, expr: Expr) -> str:
        """Where a phrase may be long, but not a calculation."""
        return self.enclosed(expr) if isinstance(expr, Arithmetic) else self.expression(expr)

    def in_list(self, condition: InList) -> str:
        left = condition.left
        values = [_part_value(left, v) if isinstance(left, DatePart) else _constant(v) for v in condition.values]
        verb = "is none of" if condition.negated else "is" if len(values) > 1 else "is one of"
        return f"{self.agreeing(left, verb)} {listed(values, 'or') or 'nothing'}"


def listed_clauses(clauses: Sequence[str], word: Literal["and", "or"]) -> str:
    if not clauses:
        return "for which anything is true" if word == "and" else "for which nothing is true"
    return f" {word} ".join(clauses)


def quoted(text: str) -> str:
    if "'" in text and '"' not in text:
        return f'"{text}"'
    return "'" + text.replace("'", "''") + "'"


def _constant(constant: Constant) -> str:
    value = constant.value
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _moment(value, constant.type) if constant.type else quoted(value)
    return str(value)


def _moment(text: str, kind: str) -> str:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return quoted(text)
    if kind == "date":
        return day_name(moment.date())
    return f"{day_name(moment.date())} at {moment.timetz().isoformat()}"


def _day(expr: Expr) -> date | None:
    """The day that a constant begins. None for another time of day and for other expressions."""
    if not isinstance(expr, Constant) or expr.type is None or not isinstance(expr.value, str):
        return None
    try:
        moment = datetime.fromisoformat(expr.value)
    except ValueError:
        return None
    return moment.date() if moment == datetime(moment.year, moment.month, moment.day) else None


def _part_value(of: DatePart, constant: Constant) -> str:
    names = {"month": MONTHS, "weekday": WEEKDAYS}.get(of.part, ())
    value = constant.value
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= len(names):
        return names[value - 1]
    return _constant(constant)


def _flat(condition: And) -> Iterable[Filter]:
    for part in condition.parts:
        if isinstance(part, And) and part.parts:
            yield from _flat(part)
        else:
            yield part
