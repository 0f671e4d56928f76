"""Which tables and columns a syntax tree reads, by the name rules of each dialect.

Names are looked up as the database will do it: common table expressions first, then the tables of the catalog and
nothing else; columns in the tables of their own SELECT, then in its result columns, then in the SELECTs around it.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from answerable.core.catalog import Catalog, Table
from answerable.core.errors import AnswerableError, RefusedError, UserError
from answerable.core.values import Language
from answerable.query.scope import nearest
from answerable.query.sql.dialects import DIALECTS
from answerable.query.sql.names import address, folded, folded_name

MAX_SOURCES = 50
MAX_UNCONNECTED = 2
"""Tables, or groups of joined tables, that one SELECT may multiply with each other. One-row tables do not count."""

_SYSTEM = ("pg_", "sqlite_", "duckdb_", "pragma_", "information_schema", "dbstat", "__")


@dataclass(frozen=True, slots=True)
class Names:
    tables: frozenset[str]
    """By the catalog's names."""
    columns: Mapping[str, frozenset[str]]
    """Of each table, those that are read anywhere in the statement."""
    output_labels: tuple[str | None, ...]
    """Of the result columns; nothing where the database makes up the name."""


@dataclass(frozen=True, slots=True)
class _Relation:
    """Something to select from: a table of the catalog, a common table expression, a derived table."""

    columns: Mapping[str, str | None]
    """Look-up key to the name of the column; a key is made up for columns without a name."""
    table: Table | None = None
    stored: Mapping[str, str] = field(default_factory=dict)
    """Look-up key to the name in the catalog, for columns of a table."""
    schema: str | None = None
    one_row: bool = False


@dataclass(slots=True)
class _Level:
    """The names that are visible within one SELECT."""

    sources: dict[str, _Relation]
    outer: "_Level | None"
    aliases: frozenset[str] = frozenset()


@dataclass(slots=True)
class _Reads:
    columns: dict[str, set[str]] = field(default_factory=dict)
    sources: int = 0


def resolved(tree: exp.Query, catalog: Catalog, dialect: Language) -> Names:
    """The names of a statement whose nodes have been checked. A name that does not exist is a `UserError`.

    Text that SQLite lets one write in double quotes is put right in the tree."""
    resolver = _Resolver(catalog, dialect)
    relation = resolver.query(tree, {}, None)
    columns = {table: frozenset(read) for table, read in resolver.reads.columns.items()}
    return Names(frozenset(columns), columns, tuple(relation.columns.values()))


class _Resolver:
    def __init__(self, catalog: Catalog, dialect: Language) -> None:
        self.dialect = dialect
        self.reads = _Reads()
        self.tables = {
            (schema and folded_name(schema, dialect), folded_name(name, dialect)): table
            for table in catalog.tables
            for schema, name in [address(table.name, dialect)]
        }

    # Queries.

    def query(self, node: exp.Expr, ctes: Mapping[str, _Relation], outer: _Level | None) -> _Relation:
        ctes = self._with(node, ctes, outer)
        if isinstance(node, exp.Select):
            return self._select(node, ctes, outer)
        if isinstance(node, exp.SetOperation):
            left = self.query(node.this, ctes, outer)
            right = self.query(node.expression, ctes, outer)
            self._same_width(node, left, right)
            self._tail(node, left, ctes, outer)
            return _Relation(left.columns)
        if isinstance(node, exp.Subquery):
            inner = self.query(node.this, ctes, outer)
            self._tail(node, inner, ctes, outer)
            return inner
        raise RefusedError(
            f"{type(node).__name__.upper()} cannot stand where a query is expected.", code="sql_not_allowed"
        )

    def _with(self, node: exp.Expr, ctes: Mapping[str, _Relation], outer: _Level | None) -> Mapping[str, _Relation]:
        clause = node.args.get("with_")
        if clause is None:
            return ctes
        known = dict(ctes)
        for cte in clause.expressions:
            name = folded(cte.args["alias"].this, self.dialect)
            if any(table == name for _, table in self.tables):
                raise RefusedError(
                    f"The common table expression {cte.alias!r} has the name of a table.",
                    code="sql_name_taken",
                    hint="Give it another name.",
                )
            known[name] = self._renamed(self.query(cte.this, known, outer), cte.args["alias"])
        return known

    def _same_width(self, node: exp.Expr, left: _Relation, right: _Relation) -> None:
        if len(left.columns) != len(right.columns):
            raise UserError(
                f"The sides of {node.key.upper()} have {len(left.columns)} and {len(right.columns)} columns.",
                code="sql_columns_differ",
                hint="Select the same number of columns on both sides.",
            )

    def _tail(self, node: exp.Expr, inner: _Relation, ctes: Mapping[str, _Relation], outer: _Level | None) -> None:
        """ORDER BY and LIMIT of combined rows: they see the result columns only."""
        level = _Level({"": inner}, outer)
        for clause in ("order", "limit", "offset"):
            if node.args.get(clause) is not None:
                self._read(node.args[clause], ctes, level)

    def _select(self, node: exp.Select, ctes: Mapping[str, _Relation], outer: _Level | None) -> _Relation:
        if not node.expressions:
            raise UserError("Nothing is selected.", code="sql_unparsable", hint="Name columns after SELECT.")
        level = _Level({}, outer)
        items = self._sources(node)
        for item in items:
            self._add_source(item, level, ctes, outer)
        for join in node.args.get("joins") or ():
            self._join_columns(join, level)
        _refuse_multiplication(node, level, self.dialect)
        level.aliases = frozenset(
            folded(item.args["alias"], self.dialect) for item in node.expressions if isinstance(item, exp.Alias)
        )
        columns = self._outputs(node.expressions, level)
        for key, value in node.args.items():
            if key not in ("with_", "from_"):
                self._read_all(_unstarred(value) if key == "expressions" else _listed(value), ctes, level)
        return _Relation(columns, one_row=_gives_one_row(node))

    # What is selected from.

    def _sources(self, node: exp.Select) -> list[exp.Expr]:
        first = [node.args["from_"].this] if node.args.get("from_") else []
        return first + [join.this for join in node.args.get("joins") or ()]

    def _add_source(self, item: exp.Expr, level: _Level, ctes: Mapping[str, _Relation], outer: _Level | None) -> None:
        self.reads.sources += 1
        if self.reads.sources > MAX_SOURCES:
            raise RefusedError(f"The statement reads from more than {MAX_SOURCES} tables.", code="sql_too_large")
        relation = self._renamed(self._relation(item, ctes, outer), item.args.get("alias"))
        name = self._source_name(item)
        if name in level.sources:
            raise UserError(
                f"Two tables of one FROM are called {name!r}.", code="sql_name_taken", hint="Give each an alias."
            )
        level.sources[name] = relation

    def _source_name(self, item: exp.Expr) -> str:
        alias = item.args.get("alias")
        if alias is not None and alias.this is not None:
            return folded(alias.this, self.dialect)
        if isinstance(item, exp.Table):
            return folded(item.this, self.dialect)
        return f"\0{self.reads.sources}"

    def _relation(self, item: exp.Expr, ctes: Mapping[str, _Relation], outer: _Level | None) -> _Relation:
        if isinstance(item, exp.Table):
            return self._table(item, ctes)
        if isinstance(item, exp.Values):
            self._read_all(item.expressions, ctes, _Level({}, outer))
            width = len(item.expressions[0].expressions) if item.expressions else 0
            return _Relation({f"\0{number}": None for number in range(width)})
        return self.query(item, ctes, outer)

    def _table(self, item: exp.Table, ctes: Mapping[str, _Relation]) -> _Relation:
        if not isinstance(item.this, exp.Identifier):
            raise RefusedError(
                "Functions cannot stand in place of a table.",
                code="sql_function_refused",
                hint="Select from the tables of the source.",
            )
        schema = item.args.get("db")
        name = folded(item.this, self.dialect)
        if schema is None and name in ctes:
            return ctes[name]
        schema_name = None if schema is None else folded(schema, self.dialect)
        table = self.tables.get((schema_name, name))
        if table is None:
            raise self._unknown_table(item)
        self.reads.columns.setdefault(table.name, set())
        stored = {folded_name(column.name, self.dialect): column.name for column in table.columns}
        return _Relation(dict(stored), table, stored, schema_name)

    def _unknown_table(self, item: exp.Table) -> AnswerableError:
        shown = f"{item.db}.{item.name}" if item.db else item.name
        if shown.lower().startswith(_SYSTEM) or item.name.lower().startswith(_SYSTEM):
            return RefusedError(
                f"{shown!r} belongs to the database system.",
                code="sql_system_table_refused",
                hint="Only the tables of the source can be read.",
            )
        if any(letter in item.name for letter in "./\\*:"):
            return RefusedError(
                f"{shown!r} is not a table; files are not read by name.",
                code="sql_file_refused",
                hint="Add the file as a source first.",
            )
        hint = nearest(shown, (table.name for table in self.tables.values()))
        return UserError(f"There is no table {shown!r}.", code="sql_table_unknown", hint=hint, name=shown)

    def _renamed(self, relation: _Relation, alias: exp.Expr | None) -> _Relation:
        """With the column names of `AS t(a, b)`."""
        if alias is None or not alias.args.get("columns"):
            return relation
        names = alias.args["columns"]
        if len(names) > len(relation.columns):
            raise UserError(
                f"{alias.name!r} names {len(names)} columns but has {len(relation.columns)}.",
                code="sql_columns_differ",
            )
        keys = [folded(name, self.dialect) for name in names]
        new_key = dict(zip(relation.columns, keys, strict=False))
        labels = dict(zip(keys, (name.name for name in names), strict=True))
        return replace(
            relation,
            columns={**labels, **{key: name for key, name in relation.columns.items() if key not in new_key}},
            stored={new_key.get(key, key): name for key, name in relation.stored.items()},
        )

    def _join_columns(self, join: exp.Join, level: _Level) -> None:
        """USING names columns of both sides; a natural join uses all that they share."""
        for name in join.args.get("using") or ():
            self._find(exp.Column(this=name.this if isinstance(name, exp.Column) else name), level)
        if join.args.get("method"):
            for relation in level.sources.values():
                self._mark(relation, relation.columns)

    # What is read.

    def _outputs(self, items: Sequence[exp.Expr], level: _Level) -> dict[str, str | None]:
        columns: dict[str, str | None] = {}
        for number, item in enumerate(items):
            if item.is_star:
                for relation in self._starred(item, level):
                    for key, name in self._star_columns(item, relation).items():
                        columns[key if key not in columns else f"\0{number}.{key}"] = name
                continue
            label = item.args["alias"] if isinstance(item, exp.Alias) else item.this
            named = isinstance(item, exp.Alias | exp.Column) and isinstance(label, exp.Identifier)
            key = folded(label, self.dialect) if named else f"\0{number}"
            columns[key if key not in columns else f"\0{number}.{key}"] = label.name if named else None
        return columns

    def _starred(self, item: exp.Expr, level: _Level) -> Iterable[_Relation]:
        table = item.args.get("table")
        if table is None:
            if not level.sources:
                raise UserError("SELECT * needs a FROM.", code="sql_table_unknown")
            return level.sources.values()
        name = folded(table, self.dialect)
        if name not in level.sources:
            raise self._unknown_alias(table, level)
        return [level.sources[name]]

    def _star_columns(self, item: exp.Expr, relation: _Relation) -> Mapping[str, str | None]:
        star = item if isinstance(item, exp.Star) else item.this
        left_out = {folded(_identifier(column), self.dialect) for column in star.args.get("except_") or ()}
        columns = {key: name for key, name in relation.columns.items() if key not in left_out}
        self._mark(relation, columns)
        return columns

    def _read_all(self, nodes: Iterable[object], ctes: Mapping[str, _Relation], level: _Level) -> None:
        for node in nodes:
            self._read(node, ctes, level)

    def _read(self, node: object, ctes: Mapping[str, _Relation], level: _Level) -> None:
        """Looks up every column below a node; queries inside see this level from within."""
        stack = [node]
        while stack:
            current = stack.pop()
            if not isinstance(current, exp.Expr):
                continue
            if isinstance(current, exp.Query):
                self.query(current, ctes, level)
            elif current.is_star:
                self._read_star(current, level)
            elif isinstance(current, exp.Column):
                self._find(current, level)
            elif isinstance(current, exp.Join):
                stack.append(current.args.get("on"))
            else:
                stack.extend(_below(current))

    def _read_star(self, star: exp.Expr, level: _Level) -> None:
        """A star within an expression stands for whole rows, but for that of `count(*)`."""
        if isinstance(star, exp.Star) and isinstance(star.parent, exp.Count):
            return
        for relation in self._starred(star, level):
            self._mark(relation, relation.columns)

    def _find(self, column: exp.Column, level: _Level) -> None:
        key = folded(column.this, self.dialect)
        for scope in _outwards(level):
            sources = self._sources_named(column, scope)
            holders = [source for source in sources if key in source.columns]
            for source in holders:
                self._mark(source, [key])
            if holders or (not column.table and key in scope.aliases):
                return
            if column.table and sources:
                raise self._unknown_column(column, sources)
        if self._is_field(column, level) or self._became_text(column):
            return
        if column.table:
            raise self._unknown_alias(column.args["table"], level)
        raise self._unknown_column(column, [source for scope in _outwards(level) for source in scope.sources.values()])

    def _became_text(self, column: exp.Column) -> bool:
        """In SQLite a name in double quotes that nothing has is text. Only where it is compared: elsewhere a misspelt
        column would become a constant without a word."""
        compared = isinstance(column.parent, exp.Predicate | exp.Binary) and not isinstance(
            column.parent, exp.Connector
        )
        quoted = column.this.args.get("quoted") and not column.table
        if not DIALECTS[self.dialect].unknown_quoted_name_is_text or not (quoted and compared):
            return False
        column.replace(exp.Literal.string(column.name))
        return True

    def _is_field(self, column: exp.Column, level: _Level) -> bool:
        """DuckDB writes the field of a nested value like a column of a table: `address.city`."""
        holder = column.args.get("table")
        if not DIALECTS[self.dialect].dot_reads_fields or holder is None:
            return False
        nested = exp.Column(this=holder, table=column.args.get("db"))
        key = folded(holder, self.dialect)
        for scope in _outwards(level):
            for source in self._sources_named(nested, scope):
                stored = source.table.column(source.stored[key]) if source.table and key in source.stored else None
                if stored is not None and stored.type == "json":
                    self._mark(source, [key])
                    return True
        return False

    def _sources_named(self, column: exp.Column, scope: _Level) -> list[_Relation]:
        qualifier, schema = column.args.get("table"), column.args.get("db")
        if qualifier is None:
            return list(scope.sources.values())
        source = scope.sources.get(folded(qualifier, self.dialect))
        if source is None or (schema is not None and source.schema != folded(schema, self.dialect)):
            return []
        return [source]

    def _mark(self, relation: _Relation, keys: Iterable[str]) -> None:
        if relation.table is not None:
            self.reads.columns[relation.table.name] |= {relation.stored[key] for key in keys}

    def _unknown_alias(self, qualifier: exp.Identifier, level: _Level) -> UserError:
        known = [name for name in level.sources if not name.startswith("\0")]
        hint = nearest(qualifier.name, known)
        return UserError(
            f"{qualifier.name!r} is not a table of this FROM.", code="sql_table_unknown", hint=hint, name=qualifier.name
        )

    def _unknown_column(self, column: exp.Column, sources: Sequence[_Relation]) -> UserError:
        known = [name for source in sources for name in source.columns.values() if name is not None]
        hint = nearest(column.name, known)
        if column.this.args.get("quoted") and not column.table:
            hint = f"{hint or ''} Text is written in single quotes: '{column.name}'.".strip()
        return UserError(
            f"There is no column {column.sql(dialect=self.dialect)}.",
            code="sql_column_unknown",
            hint=hint,
            name=column.name,
        )


def _identifier(node: exp.Expr) -> exp.Identifier:
    return node if isinstance(node, exp.Identifier) else node.this


def _below(node: exp.Expr) -> Iterator[object]:
    for value in node.args.values():
        if isinstance(value, list):
            yield from value
        else:
            yield value


def _listed(value: object) -> Iterable[object]:
    return value if isinstance(value, list) else [value]


def _unstarred(items: Sequence[exp.Expr]) -> Iterator[exp.Expr]:
    """What is selected; of `* REPLACE (…)` the replacements, as the rest is known by name already."""
    for item in items:
        if item.is_star:
            star = item if isinstance(item, exp.Star) else item.this
            yield from star.args.get("replace") or ()
        else:
            yield item


def _outwards(level: _Level | None) -> Iterator[_Level]:
    while level is not None:
        yield level
        level = level.outer


def _gives_one_row(node: exp.Select) -> bool:
    """An aggregate over everything, a select without tables, or the first row only."""
    limit = node.args.get("limit")
    if isinstance(limit, exp.Limit) and limit.expression.name == "1":
        return True
    if node.args.get("group") is not None:
        return False
    return node.args.get("from_") is None or all(_aggregates(item, node) for item in node.expressions)


def _aggregates(item: exp.Expr, select: exp.Select) -> bool:
    """Over the rows of this very select: not as a window and not within a query inside."""
    found = item.find_all(exp.AggFunc)
    return any(aggregate.find_ancestor(exp.Window, exp.Query) is select for aggregate in found)


def _refuse_multiplication(node: exp.Select, level: _Level, dialect: Language) -> None:
    """Tables without a condition between them multiply their rows; more than two such groups is a bomb or a slip."""
    groups = {name: name for name, relation in level.sources.items() if not relation.one_row}

    def root(name: str) -> str:
        while groups[name] != name:
            name = groups[name]
        return name

    if len(groups) <= MAX_UNCONNECTED:
        return
    owners: dict[str, list[str]] = {}
    for name in groups:
        for key in level.sources[name].columns:
            owners.setdefault(key, []).append(name)
    for names in _connections(node, owners, dialect):
        present = [name for name in names if name in groups]
        for name in present[1:]:
            groups[root(name)] = root(present[0])
    if len({root(name) for name in groups}) > MAX_UNCONNECTED:
        raise RefusedError(
            f"{len(groups)} tables are combined without conditions between them.",
            code="sql_cross_join",
            hint="Join each table on columns that belong together.",
        )


def _connections(node: exp.Select, owners: Mapping[str, list[str]], dialect: Language) -> Iterator[list[str]]:
    """The tables whose columns one comparison of FROM or WHERE holds, for every comparison."""
    conditions = [node.args["where"]] if node.args.get("where") else []
    for join in node.args.get("joins") or ():
        if join.args.get("method"):
            yield from owners.values()
        yield from (owners.get(folded(_identifier(name), dialect), []) for name in join.args.get("using") or ())
        if join.args.get("on") is not None:
            conditions.append(join.args["on"])
    for condition in conditions:
        for comparison in condition.find_all(exp.Binary, exp.Between):
            if not isinstance(comparison, exp.Connector):
                yield [name for column in comparison.find_all(exp.Column) for name in _owner(column, owners, dialect)]


def _owner(column: exp.Column, owners: Mapping[str, list[str]], dialect: Language) -> list[str]:
    if column.table:
        return [folded(column.args["table"], dialect)]
    return [] if column.is_star else owners.get(folded(column.this, dialect), [])[:1]
