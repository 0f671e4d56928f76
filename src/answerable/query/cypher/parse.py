"""Parses Cypher: clauses and patterns. `expressions.py` parses what stands in them."""

from answerable.core.errors import RefusedError
from answerable.query.cypher import tree
from answerable.query.cypher.expressions import ExpressionParser, refused_clause
from answerable.query.cypher.tokens import invalid, tokenized
from answerable.query.cypher.words import REFUSED_CLAUSES

LONGEST_PATH = 8
"""Relationships in one path. The number of paths grows with each of them by the number of neighbours."""
MOST_PATTERNS = 12
MOST_CLAUSES = 30
MOST_HOPS = 16
"""Relationships of all paths of variable length together, each at its longest."""


def parsed(text: str) -> tree.CypherQuery:
    """The tree of one query. What cannot be read is a `UserError`, what may not be done a `RefusedError`."""
    return _QueryParser(tokenized(text)).query()


def parsed_condition(text: str) -> tree.Expression:
    """The tree of a condition by itself, such as that of an access rule."""
    parser = _QueryParser(tokenized(text))
    found = parser.expression()
    if parser.token.kind != "end":
        raise parser.unexpected("the end of the condition")
    return found


class _QueryParser(ExpressionParser):
    _patterns = 0
    _hops = 0

    def query(self) -> tree.CypherQuery:
        parts = [self._single()]
        every: set[bool] = set()
        while self.take_word("UNION"):
            every.add(self.take_word("ALL"))
            parts.append(self._single())
        if len(every) > 1:
            raise invalid("UNION and UNION ALL cannot stand in one query.")
        self.take_symbol(";")
        if self.token.kind != "end":
            if self.token.is_word(*REFUSED_CLAUSES):
                raise refused_clause(self.token.value.upper())
            raise self.unexpected("the end of the query")
        return tree.CypherQuery(tuple(parts), every == {True})

    def _single(self) -> tree.SingleQuery:
        clauses: list[tree.Clause] = []
        while not self.take_word("RETURN"):
            clauses.append(self._clause())
            if len(clauses) > MOST_CLAUSES:
                raise invalid(f"The query has more than {MOST_CLAUSES} clauses.")
        return tree.SingleQuery(tuple(clauses), self._projection(returns=True))

    def _clause(self) -> tree.Clause:
        if self.take_word("MATCH"):
            return self._match(optional=False)
        if self.take_word("OPTIONAL"):
            self.expect_word("MATCH")
            return self._match(optional=True)
        if self.take_word("UNWIND"):
            items = self.expression()
            self.expect_word("AS")
            return tree.Unwind(items, self.name("a name"))
        if self.take_word("WITH"):
            return tree.With(self._projection(returns=False))
        raise self.unexpected("MATCH, OPTIONAL MATCH, UNWIND, WITH or RETURN")

    def _match(self, *, optional: bool) -> tree.MatchClause:
        patterns = self.patterns()
        where = self.expression() if self.take_word("WHERE") else None
        return tree.MatchClause(patterns, where, optional)

    # WITH and RETURN.

    def _projection(self, *, returns: bool) -> tree.Projection:
        distinct = self.take_word("DISTINCT")
        items: list[tree.ReturnItem] = []
        star = self.take_symbol("*") is not None
        if not star:
            items.append(self._item())
        while self.take_symbol(","):
            items.append(self._item())
        return self._bounded(items, star=star, distinct=distinct, returns=returns)

    def _item(self) -> tree.ReturnItem:
        expression = self.expression()
        alias = self.name("a name") if self.take_word("AS") else None
        return tree.ReturnItem(expression, alias)

    def _bounded(self, items: list[tree.ReturnItem], *, star: bool, distinct: bool, returns: bool) -> tree.Projection:
        order: list[tree.Sorting] = []
        if self.take_word("ORDER"):
            self.expect_word("BY")
            order.append(self._sorting())
            while self.take_symbol(","):
                order.append(self._sorting())
        skip = self._count() if self.take_word("SKIP") else None
        limit = self._count() if self.take_word("LIMIT") else None
        where = self.expression() if not returns and self.take_word("WHERE") else None
        return tree.Projection(tuple(items), star, distinct, where, tuple(order), skip, limit)

    def _sorting(self) -> tree.Sorting:
        expression = self.expression()
        descending = self.take_word("DESC", "DESCENDING")
        if not descending:
            self.take_word("ASC", "ASCENDING")
        return tree.Sorting(expression, descending)

    def _count(self) -> int:
        if self.token.kind != "integer" or len(self.token.value) > 12:
            raise self.unexpected("a whole number")
        return int(self.take().value)

    # Patterns.

    def patterns(self) -> tuple[tree.Pattern, ...]:
        found = [self._pattern()]
        while self.take_symbol(","):
            found.append(self._pattern())
        return tuple(found)

    def _pattern(self) -> tree.Pattern:
        self._patterns += 1
        if self._patterns > MOST_PATTERNS:
            raise invalid(f"The query has more than {MOST_PATTERNS} patterns.")
        variable = None
        if self.token.kind in ("name", "quoted"):
            variable = self.name("a name")
            self.expect_symbol("=")
        nodes, edges = [self._node()], []
        while self.token.is_symbol("-", "<-"):
            edges.append(self._edge())
            nodes.append(self._node())
            if len(edges) > MOST_HOPS:
                raise invalid(f"A pattern has more than {MOST_HOPS} relationships.")
        return tree.Pattern(tuple(nodes), tuple(edges), variable)

    def _node(self) -> tree.NodePattern:
        self.expect_symbol("(")
        variable = self.name("a name") if self.token.kind in ("name", "quoted") else None
        labels = self._labels("the label of nodes")
        properties = self.fields() if self.token.is_symbol("{") else ()
        self.expect_symbol(")")
        return tree.NodePattern(variable, labels, properties)

    def _labels(self, what: str) -> tuple[str, ...]:
        """`:User`, `:User:City` and `:User|City`; more than one mean any of them."""
        if self.take_symbol(":") is None:
            return ()
        labels = [self.name(what)]
        while self.take_symbol("|", ":"):
            self.take_symbol(":")
            labels.append(self.name(what))
        return tuple(labels)

    def _edge(self) -> tree.EdgePattern:
        to_left = self.take_symbol("<-") is not None
        if not to_left:
            self.expect_symbol("-")
        variable, length = None, None
        types: tuple[str, ...] = ()
        properties: tuple[tuple[str, tree.Expression], ...] = ()
        if self.take_symbol("["):
            variable = self.name("a name") if self.token.kind in ("name", "quoted") else None
            types = self._labels("the name of a relationship")
            length = self._length() if self.take_symbol("*") else None
            properties = self.fields() if self.token.is_symbol("{") else ()
            self.expect_symbol("]")
        to_right = self.take_symbol("->") is not None
        if not to_right:
            self.expect_symbol("-")
        direction: tree.Direction = "both" if to_left == to_right else "left" if to_left else "right"
        return tree.EdgePattern(variable, types, direction, properties, length)

    def _length(self) -> tree.PathLength:
        mode = self._mode()
        low = self._count() if self.token.kind == "integer" else None
        has_range = self.take_symbol("..") is not None
        high = (self._count() if self.token.kind == "integer" else None) if has_range else low
        if high is None:
            raise _too_long("A path needs an upper bound")
        if high > LONGEST_PATH:
            raise _too_long(f"A path of up to {high:,} relationships is too long")
        low = 1 if low is None else low
        if low > high:
            raise invalid(f"No path has at least {low} and at most {high} relationships.")
        self._hops += high
        if self._hops > MOST_HOPS:
            raise _too_long(f"The paths of this query have up to {self._hops} relationships together")
        return tree.PathLength(low, high, mode)

    def _mode(self) -> tree.PathMode:
        if self.take_word("ALL"):
            self.expect_word("SHORTEST")
            return "ALL SHORTEST"
        if self.take_word("SHORTEST"):
            return "SHORTEST"
        if self.take_word("TRAIL"):
            return "TRAIL"
        return "ACYCLIC" if self.take_word("ACYCLIC") else ""


def _too_long(problem: str) -> RefusedError:
    return RefusedError(
        f"{problem}: the number of paths grows with each relationship.",
        code="cypher_path_too_long",
        hint=f"Write, for example, *1..3; at most {LONGEST_PATH} for one path, {MOST_HOPS} for all of a query.",
    )
