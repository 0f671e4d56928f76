"""Gold SQL becomes a draft: what fitting learns from, and how much of the questions the plan language covers."""

from sqlglot import exp, parse_one

from answerable.reader.linking.schema import Schema
from answerable.reader.plans.draft import Combination, Draft, DraftCondition, DraftOrder, DraftRange, Term

_OPERATORS: dict[type[exp.Expr], str] = {
    exp.EQ: "=",
    exp.NEQ: "!=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
_FLIPPED = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
_FUNCTIONS: dict[type[exp.Expr], str] = {
    exp.Count: "count",
    exp.Sum: "sum",
    exp.Avg: "avg",
    exp.Min: "min",
    exp.Max: "max",
}
_SETS = {exp.Union: "union", exp.Intersect: "intersect", exp.Except: "except"}


class Unsupported(Exception):
    """Something that a draft cannot say."""


def gold_draft(sql: str, schema: Schema) -> Draft:
    return canonical(_Reader(schema).query(parse_one(sql.rstrip(" ;"), dialect="sqlite")))


def canonical(draft: Draft) -> Draft:
    """`x = (select max(x) from t)` is the first row when sorted by x."""
    for number, clause in enumerate(draft.where):
        one = clause[0]
        inner = one.right
        if len(clause) > 1 or one.operator != "=" or not isinstance(inner, Draft) or draft.order or draft.group:
            continue
        if (
            len(inner.select) == 1
            and inner.select[0].column == one.left.column
            and inner.select[0].function in ("max", "min")
        ):
            order = DraftOrder(one.left, inner.select[0].function == "max")
            rest = tuple(c for i, c in enumerate(draft.where) if i != number)
            extra = tuple(c for c in inner.where if c not in rest)
            return canonical(
                draft._replace(where=(*rest, *extra), order=(order,), limit=1, extra=draft.extra | inner.extra)
            )
    where = tuple(
        tuple(c._replace(right=canonical(c.right)) if isinstance(c.right, Draft) else c for c in clause)
        for clause in draft.where
    )
    return draft._replace(where=where)


class _Reader:
    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.table_ids = {name.lower(): number for name, number in schema.table_ids.items()}
        self.column_ids = {(t.lower(), c.lower()): number for (t, c), number in schema.column_ids.items()}

    def table_of(self, name: str) -> int | None:
        """Gold statements call the only table of a file like the file (`seattle-weather`), not as the catalog does."""
        return self.table_ids.get(name.lower(), 0 if len(self.table_ids) == 1 else None)

    def query(self, tree: exp.Expr) -> Draft:
        if isinstance(tree, exp.Subquery):
            return self.query(tree.this)
        if isinstance(tree, exp.Union | exp.Intersect | exp.Except):
            return self.combined(tree)
        if not isinstance(tree, exp.Select):
            raise Unsupported(type(tree).__name__)
        return _Select(self, tree).draft()

    def combined(self, tree: exp.SetOperation) -> Draft:
        left, right = self.query(tree.this), self.query(tree.expression)
        if tree.args.get("order") or tree.args.get("limit"):
            raise Unsupported("order of a combination")
        if left.combination:
            raise Unsupported("three combined")
        return left._replace(combination=Combination(_SETS[type(tree)], right))  # type: ignore[arg-type]


class _Select:
    def __init__(self, reader: _Reader, tree: exp.Select) -> None:
        self.reader = reader
        self.tree = tree
        self.aliases: dict[str, int] = {}
        self.links: list[exp.Expr] = []
        self.tables = self._tables()

    def _tables(self) -> list[int]:
        source = self.tree.args.get("from_") or self.tree.args.get("from")
        parts = [source.this] if source else []
        for join in self.tree.args.get("joins") or ():
            parts.append(join.this)
            if join.args.get("on") is not None:
                self.links.append(join.args["on"])
            if join.args.get("side"):
                raise Unsupported("outer join")
        found = []
        for part in parts:
            if not isinstance(part, exp.Table):
                raise Unsupported("derived table")
            number = self.reader.table_of(part.name)
            if number is None:
                raise Unsupported(f"no table {part.name}")
            self.aliases[(part.alias or part.name).lower()] = number
            self.aliases.setdefault(part.name.lower(), number)
            found.append(number)
        if len(set(found)) < len(found):
            raise Unsupported("self join")
        return found

    def draft(self) -> Draft:
        tree = self.tree
        where = tree.args.get("where")
        having = tree.args.get("having")
        order = tree.args.get("order")
        limit = tree.args.get("limit")
        clauses = self.clauses(where.this) if where else ()
        return Draft(
            entity=self.entity(),
            select=self.select(),
            distinct=tree.args.get("distinct") is not None,
            where=clauses,
            group=tuple(self.term(g) for g in (tree.args["group"].expressions if tree.args.get("group") else ())),
            having=tuple(c for clause in self.clauses(having.this) for c in clause) if having else (),
            order=tuple(
                DraftOrder(self.term(o.this), bool(o.args.get("desc"))) for o in (order.expressions if order else ())
            ),
            limit=int(limit.expression.name) if limit else None,
            extra=frozenset(self.tables),
        )

    def select(self) -> tuple[Term, ...]:
        items = [item.unalias() for item in self.tree.expressions]
        if len(items) == 1 and isinstance(items[0], exp.Star):
            return ()
        return tuple(self.term(item) for item in items)

    def entity(self) -> int:
        if not self.tables:
            raise Unsupported("no table")
        return self.tables[0]

    def term(self, tree: exp.Expr) -> Term:
        tree = tree.unnest() if isinstance(tree, exp.Paren) else tree
        # What is said of the column is the same, however its text becomes a number.
        while isinstance(tree, exp.Cast | exp.Trim):
            tree = tree.this
        if isinstance(tree, exp.Column):
            if isinstance(tree.this, exp.Star):
                raise Unsupported("t.*")
            return Term(self.column(tree))
        function = _FUNCTIONS.get(type(tree))
        if function:
            return self.aggregate(function, tree)
        if isinstance(tree, exp.Sub):
            left, right = self.term(tree.this), self.term(tree.expression)
            if left.function is None and right.function is None and right.column is not None:
                return left._replace(minus=right.column)
        raise Unsupported(f"term {type(tree).__name__}")

    def aggregate(self, function: str, tree: exp.Expr) -> Term:
        inner = tree.this
        if isinstance(inner, exp.Star | exp.Literal):
            return Term(None, "count")
        if isinstance(inner, exp.Distinct):
            return Term(self.column(inner.expressions[0]), function, distinct=True)  # type: ignore[arg-type]
        return self.term(inner)._replace(function=function)  # type: ignore[arg-type]

    def column(self, tree: exp.Expr) -> int:
        if not isinstance(tree, exp.Column):
            raise Unsupported(f"not a column: {tree}")
        name = tree.name.lower()
        tables = [self.aliases[tree.table.lower()]] if tree.table.lower() in self.aliases else self.tables
        for table in tables:
            number = self.reader.column_ids.get((self.reader.schema.tables[table].name.lower(), name))
            if number is not None:
                return number
        raise Unsupported(f"no column {tree.sql()}")

    def clauses(self, tree: exp.Expr) -> tuple[tuple[DraftCondition, ...], ...]:
        tree = tree.unnest()
        if isinstance(tree, exp.And):
            return (*self.clauses(tree.this), *self.clauses(tree.expression))
        if isinstance(tree, exp.Or):
            left, right = self.clauses(tree.this), self.clauses(tree.expression)
            if len(left) == len(right) == 1:
                return ((*left[0], *right[0]),)
            raise Unsupported("or of ands")
        if self.is_link(tree):
            return ()
        if isinstance(tree, exp.In) and tree.expressions:
            column = self.term(tree.this)
            return (tuple(DraftCondition(column, "=", self.value(value)) for value in tree.expressions),)
        return ((self.condition(tree),),)

    def is_link(self, tree: exp.Expr) -> bool:
        """`a.x = b.y` of two tables is a join."""
        if not isinstance(tree, exp.EQ):
            return False
        try:
            left, right = self.column(tree.this), self.column(tree.expression)
        except Unsupported:
            return False
        columns = self.reader.schema.columns
        return columns[left].table != columns[right].table

    def condition(self, tree: exp.Expr) -> DraftCondition:
        if isinstance(tree, exp.Not):
            return self.negated(tree.this.unnest())
        if isinstance(tree, exp.In):
            if tree.args.get("query") is None:
                raise Unsupported("in list")
            return DraftCondition(self.term(tree.this), "in", self.reader.query(tree.args["query"]))
        if isinstance(tree, exp.Between):
            return DraftCondition(
                self.term(tree.this), "between", DraftRange(self.value(tree.args["low"]), self.value(tree.args["high"]))
            )
        if isinstance(tree, exp.Like):
            return self.like(tree)
        if isinstance(tree, exp.Is):
            return DraftCondition(self.term(tree.this), "null")
        operator = _OPERATORS.get(type(tree))
        if operator is None:
            raise Unsupported(f"condition {type(tree).__name__}")
        return self.comparison(tree, operator)

    def comparison(self, tree: exp.Expr, operator: str) -> DraftCondition:
        left, right = tree.this, tree.expression
        if not self.is_term(left) and self.is_term(right):
            left, right, operator = right, left, _FLIPPED[operator]
        return DraftCondition(self.term(left), operator, self.operand(right))  # type: ignore[arg-type]

    def is_term(self, tree: exp.Expr) -> bool:
        try:
            self.term(tree)
        except Unsupported:
            return False
        return True

    def operand(self, tree: exp.Expr) -> object:
        if isinstance(tree, exp.Subquery | exp.Select):
            return self.reader.query(tree)
        if self.is_term(tree):
            return self.term(tree)
        return self.value(tree)

    def negated(self, tree: exp.Expr) -> DraftCondition:
        inner = self.condition(tree)
        if inner.operator == "in":
            return inner._replace(operator="not_in")
        if inner.operator == "null":
            return inner._replace(operator="not_null")
        raise Unsupported("not")

    def like(self, tree: exp.Like) -> DraftCondition:
        pattern = str(self.value(tree.expression))
        core = pattern.strip("%")
        if "%" in core or "_" in core:
            raise Unsupported("pattern")
        starts, ends = pattern.startswith("%"), pattern.endswith("%")
        operator = "contains" if starts and ends else "ends_with" if starts else "starts_with" if ends else "="
        return DraftCondition(self.term(tree.this), operator, core)  # type: ignore[arg-type]

    def value(self, tree: exp.Expr) -> str | int | float:
        if isinstance(tree, exp.Neg):
            number = self.value(tree.this)
            assert not isinstance(number, str)
            return -number
        if isinstance(tree, exp.Literal):
            if tree.is_string:
                return str(tree.this)
            return float(tree.this) if "." in tree.this else int(tree.this)
        if isinstance(tree, exp.Column):
            return tree.name
        raise Unsupported(f"value {type(tree).__name__}")
