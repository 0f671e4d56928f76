"""Which tables and columns a syntax tree reads, by the name rules of each dialect.

Names are looked up as the database will do it: common table expressions first, then the tables of the catalog and
nothing else; columns in the tables of their own SELECT, then in its result columns, then in the SELECTs around it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace

from sqlglot import exp

from answerable.core.catalog import Catalog
from answerable.core.errors import RefusedError, UserError, not_visible
from answerable.core.records import dataclass
from answerable.core.values import Language
from answerable.query.sql.dialects import DIALECTS
from answerable.query.sql.multiplication import refuse_multiplication
from answerable.query.sql.names import address, folded, folded_name
from answerable.query.sql.tree_parts import below, gives_one_row, listed, require_end, unstarred
from answerable.query.sql.unknown_names import unknown_alias, unknown_column, unknown_table
from answerable.query.sql.visible_names import NameLevel, VisibleRelation, column_names, outwards

MAX_SOURCES = 50


@dataclass(frozen=True, slots=True)
class Names:
    tables: frozenset[str]
    """By the catalog's names."""
    columns: Mapping[str, frozenset[str]]
    """Of each table, those that are read anywhere in the statement."""
    output_labels: tuple[str | None, ...]
    """Names of the result columns; None where the database chooses the name."""


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
        self.catalog = catalog
        self.reads = _Reads()
        self.tables = {
            (schema and folded_name(schema, dialect), folded_name(name, dialect)): table
            for table in catalog.tables
            for schema, name in [address(table.name, dialect)]
        }

    # Queries.

    def query(self, node: exp.Expr, ctes: Mapping[str, VisibleRelation], outer: NameLevel | None) -> VisibleRelation:
        ctes = self._with(node, ctes, outer)
        if isinstance(node, exp.Select):
            return self._select(node, ctes, outer)
        if isinstance(node, exp.SetOperation):
            left = self.query(node.this, ctes, outer)
            right = self.query(node.expression, ctes, outer)
            if node.args.get("by_name"):
                both = VisibleRelation({**right.columns, **left.columns}, is_open=left.is_open or right.is_open)
            else:
                self._same_width(node, left, right)
                both = VisibleRelation(left.columns, is_open=left.is_open or right.is_open)
            self._tail(node, both, ctes, outer)
            return both
        if isinstance(node, exp.Subquery):
            inner = self.query(node.this, ctes, outer)
            self._tail(node, inner, ctes, outer)
            return inner
        if isinstance(node, exp.Values):
            return self._values(node, ctes, outer)
        if isinstance(node, exp.Pivot):
            of = self._relation(node.this, ctes, NameLevel({}, outer))
            return self._pivoted(of, node, ctes, outer)
        if isinstance(node, exp.Describe | exp.Summarize):
            self._relation(node.this, ctes, NameLevel({}, outer))
            return VisibleRelation({}, is_open=True)
        raise RefusedError(
            f"{type(node).__name__.upper()} cannot stand where a query is expected.", code="sql_not_allowed"
        )

    def _with(
        self, node: exp.Expr, ctes: Mapping[str, VisibleRelation], outer: NameLevel | None
    ) -> Mapping[str, VisibleRelation]:
        clause = node.args.get("with_")
        if clause is None:
            return ctes
        known = dict(ctes)
        for cte in clause.expressions:
            name = folded(cte.args["alias"].this, self.dialect)
            # Else the name would stand for the table in one place and for the expression in another.
            if any(table == name for _, table in self.tables):
                raise RefusedError(
                    f"The common table expression {cte.alias!r} has the name of a table.",
                    code="sql_name_taken",
                    hint="Give it another name.",
                )
            if clause.args.get("recursive") and isinstance(cte.this, exp.SetOperation):
                # The first side says which columns the common table expression has when the second one reads it.
                start = replace(self.query(cte.this.this, known, outer), table=None, stored={}, one_row=False)
                require_end(cte)
                known[name] = self._renamed(start, cte.args["alias"])
            known[name] = self._renamed(self.query(cte.this, known, outer), cte.args["alias"])
        return known

    def _same_width(self, node: exp.Expr, left: VisibleRelation, right: VisibleRelation) -> None:
        if len(left.columns) != len(right.columns) and not (left.is_open or right.is_open):
            raise UserError(
                f"The sides of {node.key.upper()} have {len(left.columns)} and {len(right.columns)} columns.",
                code="sql_columns_differ",
                hint="Select the same number of columns on both sides.",
            )

    def _tail(
        self, node: exp.Expr, inner: VisibleRelation, ctes: Mapping[str, VisibleRelation], outer: NameLevel | None
    ) -> None:
        """ORDER BY and LIMIT of combined rows: they see the result columns only."""
        level = NameLevel({"": inner}, outer)
        for clause in ("order", "limit", "offset"):
            if node.args.get(clause) is not None:
                self._read(node.args[clause], ctes, level)

    def _select(
        self, node: exp.Select, ctes: Mapping[str, VisibleRelation], outer: NameLevel | None
    ) -> VisibleRelation:
        if not node.expressions:
            raise UserError("Nothing is selected.", code="sql_unparsable", hint="Name columns after SELECT.")
        level = NameLevel({}, outer)
        items = self._sources(node)
        for item in items:
            self._add_source(item, level, ctes, outer)
        for join in node.args.get("joins") or ():
            self._join_columns(join, level)
        multiplied = {name: source.columns for name, source in level.sources.items() if not source.one_row}
        refuse_multiplication(node, multiplied, self.dialect)
        level.aliases = frozenset(
            folded(item.args["alias"], self.dialect) for item in node.expressions if isinstance(item, exp.Alias)
        )
        columns = self._outputs(node.expressions, level)
        for key, value in node.args.items():
            if key not in ("with_", "from_"):
                self._read_all(unstarred(value) if key == "expressions" else listed(value), ctes, level)
        is_open = any(self._has_unknown_columns(item, level) for item in node.expressions)
        return VisibleRelation(columns, one_row=gives_one_row(node), is_open=is_open)

    def _has_unknown_columns(self, item: exp.Expr, level: NameLevel) -> bool:
        """Whether only the engine knows how many columns an item of a SELECT becomes."""
        if item.is_star and isinstance(item, exp.Star | exp.Column):
            return any(source.is_open for source in self._starred(item, level))
        return item.find(exp.Columns, exp.Explode) is not None or (isinstance(item, exp.Dot) and item.is_star)

    # What is selected from.

    def _sources(self, node: exp.Select) -> list[exp.Expr]:
        first = [node.args["from_"].this] if node.args.get("from_") else []
        return first + [join.this for join in node.args.get("joins") or ()]

    def _add_source(
        self, item: exp.Expr, level: NameLevel, ctes: Mapping[str, VisibleRelation], outer: NameLevel | None
    ) -> None:
        self.reads.sources += 1
        if self.reads.sources > MAX_SOURCES:
            raise RefusedError(f"The statement reads from more than {MAX_SOURCES} tables.", code="sql_too_large")
        relation = self._renamed(self._relation(item, ctes, level), item.args.get("alias"))
        for pivot in item.args.get("pivots") or ():
            relation = self._renamed(self._pivoted(relation, pivot, ctes, outer), pivot.args.get("alias"))
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
        if isinstance(item, exp.Table) and isinstance(item.this, exp.Identifier):
            return folded(item.this, self.dialect)
        # Nobody can write this name: a text with a zero character is refused before it is parsed.
        return f"\0{self.reads.sources}"

    def _relation(self, item: exp.Expr, ctes: Mapping[str, VisibleRelation], level: NameLevel) -> VisibleRelation:
        """`level` holds the tables that stand before this one in the FROM. Functions and lateral queries see them."""
        if isinstance(item, exp.Table) and isinstance(item.this, exp.Identifier):
            return self._table(item, ctes)
        if isinstance(item, exp.Lateral) and isinstance(item.this, exp.Query):
            return self.query(item.this, ctes, level)
        if isinstance(item, exp.Values):
            return self._values(item, ctes, level.outer)
        if isinstance(item, exp.Table | exp.Lateral | exp.Unnest):
            self._read_all(item.expressions if isinstance(item, exp.Unnest) else [item.this], ctes, level)
            return VisibleRelation({}, is_open=True)
        return self.query(item, ctes, level.outer)

    def _values(
        self, item: exp.Values, ctes: Mapping[str, VisibleRelation], outer: NameLevel | None
    ) -> VisibleRelation:
        self._read_all(item.expressions, ctes, NameLevel({}, outer))
        first = item.expressions[0] if item.expressions else None
        width = len(first.expressions) if isinstance(first, exp.Tuple) else 1
        # SQLite and DuckDB name these columns themselves, each in another way.
        return VisibleRelation({f"\0{number}": None for number in range(width)}, is_open=True)

    def _pivoted(
        self, of: VisibleRelation, pivot: exp.Pivot, ctes: Mapping[str, VisibleRelation], outer: NameLevel | None
    ) -> VisibleRelation:
        """Its columns are named after values, so only the engine knows them."""
        level = NameLevel({"": of}, outer)
        for key in ("expressions", "using", "group", "fields"):
            for part in listed(pivot.args.get(key) or ()):
                new_name = isinstance(part, exp.Identifier)  # UNPIVOT (value FOR name IN …)
                self._read(None if new_name else part, ctes, level)
        self._mark(of, of.columns)
        return VisibleRelation({}, is_open=True)

    def _table(self, item: exp.Table, ctes: Mapping[str, VisibleRelation]) -> VisibleRelation:
        schema = item.args.get("db")
        name = folded(item.this, self.dialect)
        if schema is None and name in ctes:
            return ctes[name]
        schema_name = None if schema is None else folded(schema, self.dialect)
        table = self.tables.get((schema_name, name))
        if table is None:
            self._refuse_hidden_table((schema_name, name), item.name)
            raise unknown_table(item, (table.name for table in self.tables.values()))
        self.reads.columns.setdefault(table.name, set())
        stored = {folded_name(column.name, self.dialect): column.name for column in table.columns}
        return VisibleRelation(dict(stored), table, stored, schema_name)

    def _refuse_hidden_table(self, key: tuple[str | None, str], shown: str) -> None:
        for hidden in self.catalog.hidden:
            schema, name = address(hidden.table, self.dialect)
            known = (schema and folded_name(schema, self.dialect), folded_name(name, self.dialect))
            if hidden.column is None and known == key:
                raise not_visible(f"the table {shown!r}", hidden.rule, self.catalog.contact)

    def _refuse_hidden_column(self, column: exp.Column, relations: Iterable[VisibleRelation]) -> None:
        key = folded(column.this, self.dialect)
        tables = {relation.table.name for relation in relations if relation.table is not None}
        for hidden in self.catalog.hidden:
            if hidden.column is not None and hidden.table in tables and folded_name(hidden.column, self.dialect) == key:
                what = f"the column {column.name!r} of {hidden.table}"
                raise not_visible(what, hidden.rule, self.catalog.contact)

    def _renamed(self, relation: VisibleRelation, alias: exp.Expr | None) -> VisibleRelation:
        """The columns under the names of `AS t(a, b)`."""
        if alias is None or not alias.args.get("columns"):
            return relation
        names = alias.args["columns"]
        if relation.is_open and len(names) > len(relation.columns):
            return replace(relation, columns={folded(_identifier(name), self.dialect): name.name for name in names})
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

    def _join_columns(self, join: exp.Join, level: NameLevel) -> None:
        """USING names columns of both sides; a natural join uses all that they share."""
        for name in join.args.get("using") or ():
            self._find(exp.Column(this=name.this if isinstance(name, exp.Column) else name), level)
        if join.args.get("method") == "NATURAL":
            for relation in level.sources.values():
                self._mark(relation, relation.columns)

    # What is read.

    def _outputs(self, items: Sequence[exp.Expr], level: NameLevel) -> dict[str, str | None]:
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

    def _starred(self, item: exp.Expr, level: NameLevel) -> Iterable[VisibleRelation]:
        table = item.args.get("table")
        if table is None:
            if not level.sources:
                raise UserError("SELECT * needs a FROM.", code="sql_table_unknown")
            return level.sources.values()
        name = folded(table, self.dialect)
        if name not in level.sources:
            raise unknown_alias(table, level.names)
        return [level.sources[name]]

    def _star_columns(self, item: exp.Expr, relation: VisibleRelation) -> Mapping[str, str | None]:
        star = item if isinstance(item, exp.Star) else item.this
        left_out = {folded(_identifier(column), self.dialect) for column in star.args.get("except_") or ()}
        columns = {key: name for key, name in relation.columns.items() if key not in left_out}
        self._mark(relation, columns)
        return columns

    def _read_all(self, nodes: Iterable[object], ctes: Mapping[str, VisibleRelation], level: NameLevel) -> None:
        for node in nodes:
            self._read(node, ctes, level)

    def _read(self, node: object, ctes: Mapping[str, VisibleRelation], level: NameLevel) -> None:
        """Looks up every column below a node; queries inside see this level from within."""
        stack = [node]
        while stack:
            current = stack.pop()
            if not isinstance(current, exp.Expr):
                continue
            if isinstance(current, exp.Query):
                self.query(current, ctes, level)
            elif isinstance(current, exp.Lambda | exp.Comprehension):
                self._read_bound(current, ctes, level)
            elif isinstance(current, exp.Columns):
                for relation in level.sources.values():
                    self._mark(relation, relation.columns)
            elif isinstance(current, exp.Kwarg | exp.PropertyEQ):
                stack.append(current.expression)
            elif current.is_star:
                self._read_star(current, level)
            elif isinstance(current, exp.Column):
                self._find(current, level)
            elif isinstance(current, exp.Join):
                stack.append(current.args.get("on"))
            else:
                stack.extend(below(current))

    def _read_bound(self, node: exp.Expr, ctes: Mapping[str, VisibleRelation], level: NameLevel) -> None:
        """A lambda or a comprehension of a list: the names that it binds are known within it."""
        bound = node.expressions if isinstance(node, exp.Lambda) else [node.expression, node.args.get("position")]
        names = frozenset(folded(_identifier(each), self.dialect) for each in bound if each is not None)
        within = NameLevel({}, level, names)
        self._read(node.args.get("iterator"), ctes, level)
        self._read_all([node.this, node.args.get("condition")], ctes, within)

    def _read_star(self, star: exp.Expr, level: NameLevel) -> None:
        """A star within an expression stands for whole rows, but for that of `count(*)`."""
        if isinstance(star, exp.Star) and isinstance(star.parent, exp.Count):
            return
        for relation in self._starred(star, level):
            self._mark(relation, relation.columns)

    def _find(self, column: exp.Column, level: NameLevel) -> None:
        key = folded(column.this, self.dialect)
        for scope in outwards(level):
            sources = self._sources_named(column, scope)
            holders = [source for source in sources if key in source.columns]
            for source in holders:
                self._mark(source, [key])
            if holders or (not column.table and key in scope.aliases):
                return
            if self._is_row_number(key, sources):
                return
            if column.table and sources and not any(source.is_open for source in sources):
                self._refuse_hidden_column(column, sources)
                raise unknown_column(column, column_names(sources), self.dialect)
        if self._is_field(column, level) or self._is_whole_row(column, level):
            return
        if not column.table:
            self._refuse_hidden_column(column, (s for scope in outwards(level) for s in scope.sources.values()))
        if self._became_text(column):
            return
        if any(source.is_open for scope in outwards(level) for source in self._sources_named(column, scope)):
            return  # the engine will say if there is no such column
        if column.table:
            raise unknown_alias(column.args["table"], level.names)
        visible = [source for scope in outwards(level) for source in scope.sources.values()]
        raise unknown_column(column, column_names(visible), self.dialect)

    def _is_row_number(self, key: str, sources: Sequence[VisibleRelation]) -> bool:
        """Known only where nothing is hidden: it tells how many rows come before one."""
        if key not in DIALECTS[self.dialect].row_numbers or self.catalog.hidden or self.catalog.secrets:
            return False
        return any(source.table is not None for source in sources)

    def _became_text(self, column: exp.Column) -> bool:
        """Whether a name became text: in SQLite, a name in double quotes that nothing has is text. True only where it
        is compared: elsewhere a misspelt column would become a constant without a word."""
        compared = isinstance(column.parent, exp.Predicate | exp.Binary) and not isinstance(
            column.parent, exp.Connector
        )
        quoted = column.this.args.get("quoted") and not column.table
        if not DIALECTS[self.dialect].unknown_quoted_name_is_text or not (quoted and compared):
            return False
        column.replace(exp.Literal.string(column.name))
        return True

    def _is_whole_row(self, column: exp.Column, level: NameLevel) -> bool:
        """The name of a table stands for a whole row; in SQLite for the hidden column that full-text search matches."""
        key = folded(column.this, self.dialect)
        if DIALECTS[self.dialect].has_match_tables and not isinstance(column.parent, exp.Match | exp.Anonymous):
            return False
        for scope in outwards(level):
            if not column.table and key in scope.sources:
                self._mark(scope.sources[key], scope.sources[key].columns)
                return True
        return False

    def _is_field(self, column: exp.Column, level: NameLevel) -> bool:
        """DuckDB writes the field of a nested value like a column of a table: `address.city`."""
        holder = column.args.get("table")
        if not DIALECTS[self.dialect].dot_reads_fields or holder is None:
            return False
        nested = exp.Column(this=holder, table=column.args.get("db"))
        key = folded(holder, self.dialect)
        for scope in outwards(level):
            for source in self._sources_named(nested, scope):
                if key not in source.columns:
                    continue
                stored = source.table.column(source.stored[key]) if source.table and key in source.stored else None
                if stored is None or stored.type == "json":  # what a query computed may be nested
                    self._mark(source, [key] if stored else ())
                    return True
        return False

    def _sources_named(self, column: exp.Column, scope: NameLevel) -> list[VisibleRelation]:
        qualifier, schema = column.args.get("table"), column.args.get("db")
        if qualifier is None:
            return list(scope.sources.values())
        source = scope.sources.get(folded(qualifier, self.dialect))
        if source is None or (schema is not None and source.schema != folded(schema, self.dialect)):
            return []
        return [source]

    def _mark(self, relation: VisibleRelation, keys: Iterable[str]) -> None:
        if relation.table is not None:
            self.reads.columns[relation.table.name] |= {relation.stored[key] for key in keys}


def _identifier(node: exp.Expr) -> exp.Identifier:
    return node if isinstance(node, exp.Identifier) else node.this
