"""Drafts straight to SQLite text, for labelling many candidates. The product compiles plans instead."""

from answerable.reader.linking.schema import Schema
from answerable.reader.plans.draft import Draft, DraftCondition, DraftRange, Term
from answerable.reader.plans.draft_to_plan import tables_of
from answerable.reader.plans.joins import join_tree


def quick_sql(draft: Draft, schema: Schema) -> str:
    """Raises `NoPath` as `to_plan` does."""
    body = _select(draft, schema)
    if draft.combination is not None:
        body += f" {draft.combination.operator.upper()} {_select(draft.combination.right, schema)}"
    return body


def _select(draft: Draft, schema: Schema) -> str:
    return _Level(draft, schema).text()


class _Level:
    def __init__(self, draft: Draft, schema: Schema) -> None:
        self.draft = draft
        self.schema = schema

    def text(self) -> str:
        draft = self.draft
        table = f'"{self.schema.tables[draft.entity].name}"'
        shown = ", ".join(map(self.term, draft.select)) or f"{table}.*"
        text = f"SELECT {'DISTINCT ' if draft.distinct else ''}{shown} FROM {table}{self.joins()}"
        if draft.where:
            text += " WHERE " + " AND ".join("(" + " OR ".join(map(self.test, clause)) + ")" for clause in draft.where)
        if draft.group:
            plain = [t for t in draft.select if t.function is None]
            text += " GROUP BY " + ", ".join(dict.fromkeys(map(self.term, (*draft.group, *plain))))
        if draft.having:
            text += " HAVING " + " AND ".join(map(self.test, draft.having))
        if draft.order:
            text += " ORDER BY " + ", ".join(self.term(o.term) + (" DESC" if o.descending else "") for o in draft.order)
        return text if draft.limit is None else f"{text} LIMIT {draft.limit}"

    def joins(self) -> str:
        draft, schema = self.draft, self.schema
        text = ""
        for edge in join_tree(schema, draft.entity, tables_of(draft, schema), draft.avoid):
            on = " AND ".join(f"{self.column(a)} = {self.column(b)}" for a, b in edge.pairs)
            text += f' JOIN "{schema.tables[edge.end].name}" ON {on}'
        return text

    def column(self, number: int) -> str:
        view = self.schema.columns[number]
        return f'"{self.schema.tables[view.table].name}"."{view.name}"'

    def term(self, t: Term) -> str:
        inner = "*" if t.column is None else self.column(t.column)
        if t.minus is not None:
            inner += f" - {self.column(t.minus)}"
        return f"{t.function}({'DISTINCT ' if t.distinct else ''}{inner})" if t.function else inner

    def test(self, c: DraftCondition) -> str:
        left, right = self.term(c.left), c.right
        if isinstance(right, Draft):
            return self.nested(c, left, right)
        if c.operator in ("null", "not_null"):
            return f"{left} IS {'NOT ' if c.operator == 'not_null' else ''}NULL"
        if c.operator == "between" and isinstance(right, DraftRange):
            return f"{left} BETWEEN {_literal(right.low)} AND {_literal(right.high)}"
        if c.operator in ("contains", "starts_with", "ends_with"):
            return f"{left} LIKE {_literal(_pattern(c.operator, str(right)))}"
        return f"{left} {c.operator} {self.term(right) if isinstance(right, Term) else _literal(right)}"

    def nested(self, c: DraftCondition, left: str, right: Draft) -> str:
        inner = quick_sql(right, self.schema)
        if c.operator == "not_in":
            known = f"{inner} {'AND' if right.where else 'WHERE'} {self.term(right.select[0])} IS NOT NULL"
            return f"({left} NOT IN ({inner if right.group or right.order else known}) OR {left} IS NULL)"
        return f"{left} {c.operator.upper()} ({inner})"


def _pattern(operator: str, text: str) -> str:
    return {"contains": f"%{text}%", "starts_with": f"{text}%", "ends_with": f"%{text}"}[operator]


def _literal(value: object) -> str:
    if isinstance(value, int | float):
        return str(value)
    if value is None:
        return "NULL"
    return "'" + str(getattr(value, "value", value)).replace("'", "''") + "'"
