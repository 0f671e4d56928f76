"""Rewrites statements so that they reach only what a person may see.

Each reference to a table becomes a selection of the columns and rows that the person's rules show. This happens to
every statement on its way to the database: queries, dry runs, the profile of a table, the index of its values,
previews. So a catalog, a suggestion or an error can hold nothing that a query could not return.

Two rules keep hidden rows from being told by what a statement does with them (an error, a division, the time it takes):
a condition of the statement must never see them. Either the selection ends with a limit, before which the database may
not move conditions, or each value is taken inside of a CASE, so that conditions see NULL where a row is hidden.
"""

from dataclasses import dataclass, field

from sqlglot import exp
from sqlglot.errors import SqlglotError

from answerable.access.predicates import bound_condition
from answerable.access.view import HiddenTable, MaskedColumn, SourceView, VisibleTable
from answerable.core.catalog import Catalog, Column, Table
from answerable.core.errors import RefusedError
from answerable.core.values import Language
from answerable.query.sql.check import parsed
from answerable.query.sql.dialects import DIALECTS
from answerable.query.sql.names import address, folded, folded_name
from answerable.query.sql.syntax import Operand, number
from answerable.query.sql.writing import written

HASH_LENGTH = 16
"""Characters of a hashed value: enough to tell values apart. A longer one would be taken for a secret key."""
REMEMBERED = 512
"""Statements whose rewritten form is remembered."""

_Key = tuple[str | None, str]


@dataclass(slots=True)
class Shaping:
    """Rewrites the statements of one person at one source."""

    view: SourceView
    catalog: Catalog
    """All tables and columns of the source, hidden ones too."""
    secret: str
    """Goes into hashes, so that nobody can compute the hash of a value they guess."""
    _known: dict[str, str] = field(default_factory=dict)
    _tables: dict[_Key, "VisibleTable | HiddenTable"] = field(init=False)
    _selections: dict[tuple[str, str], str] = field(default_factory=dict)
    """Written once for each table, and each way to name it: they are most of a rewritten statement."""

    def __post_init__(self) -> None:
        self._tables = {self._key_of(table.name): self.view.table(table) for table in self.catalog.tables}

    @property
    def dialect(self) -> Language:
        return self.catalog.dialect

    def shaped(self, sql: str) -> str:
        """The statement over what the person may see. Any name that is neither a visible table nor defined by the
        statement itself is refused, whoever wrote the statement."""
        known = self._known.get(sql)
        if known is None:
            if len(self._known) >= REMEMBERED:
                self._known.clear()
            known = self._known[sql] = self._rewritten(sql)
        return known

    def _rewritten(self, sql: str) -> str:
        try:
            tree = parsed(sql, self.dialect)
            self._replace_all(tree)
            return written(tree, self.dialect)
        except (SqlglotError, RecursionError) as error:
            raise _refused("This statement cannot be limited to what you may see.") from error

    def _replace_all(self, tree: exp.Query) -> None:
        replaced: set[_Key] = set()
        # Found first, because the selections that take their places name the tables themselves.
        for node in [*tree.find_all(exp.Table)]:
            if not isinstance(node.this, exp.Identifier) or _is_defined(node, self.dialect):
                continue
            view = self._tables.get(self._key(node))
            if not isinstance(view, VisibleTable):
                raise self.view.refusal(f"the table {node.name!r}", view.rule if view else None)
            if not view.is_whole:
                self._replace(node, view)
                replaced.add(self._key(node))
        _drop_schemas(tree, replaced, self.dialect)

    def _replace(self, node: exp.Table, view: VisibleTable) -> None:
        if not isinstance(node.parent, exp.From | exp.Join):
            raise _refused(f"You see only a part of {view.table}, so it can only be read with SELECT.")
        base = exp.Table(this=node.this.copy(), db=node.args.get("db"), catalog=node.args.get("catalog"))
        alias = node.args.get("alias") or exp.TableAlias(this=node.this.copy())
        replacement = exp.Subquery(this=None, alias=alias)
        for name in ("joins", "pivots", "laterals"):
            if node.args.get(name):
                replacement.set(name, node.args[name])
        if sample := node.args.get("sample"):
            # A sample of so many rows of the whole table would tell how many are hidden; a share of it does not.
            (base if DIALECTS[self.dialect].samples_pages else replacement).set("sample", sample)
        replacement.set("this", exp.Var(this=self._selection(view, base)))
        node.replace(replacement)

    def _selection(self, view: VisibleTable, base: exp.Table) -> str:
        key = (view.table, base.sql(self.dialect))
        if key not in self._selections:
            if len(self._selections) >= REMEMBERED:
                self._selections.clear()
            selection = self._made_selection(view)
            selection.set("from_", exp.From(this=base))
            self._selections[key] = written(selection, self.dialect)
        return self._selections[key]

    def _made_selection(self, view: VisibleTable) -> exp.Select:
        table = self.catalog.table(view.table)
        assert table is not None
        conditions = [bound_condition(rule, table, self.catalog, self.view.attributes) for rule in view.rows]
        condition = exp.and_(*conditions) if conditions else None
        within = condition if condition is not None and not DIALECTS[self.dialect].limit_is_a_barrier else None
        items = [self._item(table, name, view.masks.get(name), within) for name in view.columns]
        selection = exp.Select(expressions=items)
        if condition is not None:
            selection.set("where", exp.Where(this=condition.copy()))
            if within is None:
                selection.set("limit", exp.Limit(expression=number(-1)))
        return selection

    def _item(self, table: Table, name: str, masked: MaskedColumn | None, within: exp.Expr | None) -> exp.Expr:
        column = table.column(name)
        assert column is not None
        bare = exp.column(_quoted(name))
        value = bare if masked is None else self._masked(bare, column, masked)
        if within is not None:
            value = exp.Case(ifs=[exp.If(this=within.copy(), true=value)])
        return bare if value is bare else exp.alias_(value, _quoted(name))

    def _masked(self, value: exp.Expr, column: Column, masked: MaskedColumn) -> exp.Expr:
        dialect, mask = DIALECTS[self.dialect], masked.mask
        if mask.kind == "null":
            # A CASE that never holds: a NULL of the type that the column has.
            return exp.Case(ifs=[exp.If(this=exp.EQ(this=number(1), expression=number(0)), true=value)])
        if mask.kind == "hash":
            code = dialect.digest(exp.cast(value, exp.DType.TEXT), self.secret)
            return exp.Substring(this=code, start=number(1), length=number(HASH_LENGTH))
        if mask.kind == "partial":
            start = exp.Substring(this=exp.cast(value, exp.DType.TEXT), start=number(1), length=number(1))
            return exp.DPipe(this=start, expression=exp.Literal.string("***"))
        if mask.unit is not None:
            return dialect.bucket(mask.unit, Operand(value, column.type))
        assert mask.size is not None
        whole, size = exp.cast(value, exp.DType.BIGINT), number(mask.size)
        # Two remainders, because that of a negative number is negative.
        rest: exp.Expr = exp.Mod(this=whole, expression=size)
        rest = exp.Mod(this=exp.Paren(this=exp.Add(this=rest, expression=size.copy())), expression=size.copy())
        return exp.Paren(this=exp.Sub(this=whole.copy(), expression=rest))

    def _key(self, node: exp.Table) -> _Key:
        schema = node.args.get("db")
        return (None if schema is None else folded(schema, self.dialect)), folded(node.this, self.dialect)

    def _key_of(self, table: str) -> _Key:
        schema, name = address(table, self.dialect)
        return (schema and folded_name(schema, self.dialect)), folded_name(name, self.dialect)


def _is_defined(node: exp.Table, dialect: Language) -> bool:
    """Whether the name is that of a common table expression which is in force here. Strict: a name that some database
    might take for a table is treated as one."""
    if node.args.get("db") is not None:
        return False
    name = folded(node.this, dialect)
    inner: exp.Expr = node
    while (outer := inner.parent) is not None:
        if isinstance(outer, exp.With):
            assert isinstance(inner, exp.CTE)
            place = next(i for i, cte in enumerate(outer.expressions) if cte is inner)
            before = outer.expressions[:place]
            if any(_name_of(cte, dialect) == name for cte in before):
                return True
            if outer.args.get("recursive") and _name_of(inner, dialect) == name:
                return _is_in_second_part(node, inner)
            # Go on from the query that the WITH belongs to: its own expressions are not in force within themselves.
            inner = outer.parent or outer
            continue
        clause = outer.args.get("with_")
        if clause is not None and any(_name_of(cte, dialect) == name for cte in clause.expressions):
            return True
        inner = outer
    return False


def _is_in_second_part(node: exp.Expr, cte: exp.CTE) -> bool:
    """Only there a recursive expression reads itself; in its first part the name is that of a table."""
    union = cte.this
    inner: exp.Expr | None = node
    while inner is not None and inner.parent is not union:
        inner = inner.parent
    return isinstance(union, exp.SetOperation) and inner is union.expression


def _name_of(cte: exp.Expr, dialect: Language) -> str:
    return folded(cte.args["alias"].this, dialect)


def _drop_schemas(tree: exp.Expr, replaced: set[_Key], dialect: Language) -> None:
    """`sales.orders.amount` names a column by the schema of its table; the selection in its place has none."""
    for column in tree.find_all(exp.Column):
        schema, table = column.args.get("db"), column.args.get("table")
        if schema is not None and table is not None and (folded(schema, dialect), folded(table, dialect)) in replaced:
            column.set("db", None)


def _quoted(name: str) -> exp.Identifier:
    return exp.to_identifier(name, quoted=True)


def _refused(message: str) -> RefusedError:
    hint = "Write it as a SELECT with its tables in FROM or JOIN."
    return RefusedError(message, code="access_sql_refused", hint=hint)
