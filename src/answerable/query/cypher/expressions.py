"""Parses the expressions of Cypher by recursive descent, each level of precedence a method."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import contextmanager
from typing import TYPE_CHECKING, get_args

from answerable.core.errors import RefusedError, UserError
from answerable.query.cypher import tree
from answerable.query.cypher.tokens import CypherToken, invalid
from answerable.query.cypher.words import AGGREGATES, FUNCTIONS, REFUSED_CLAUSES, SYNONYMS, TAKES_LAMBDA, TYPES
from answerable.query.scope import nearest

if TYPE_CHECKING:
    from collections.abc import Iterator

MOST_NESTED = 40
_COMPARISONS = ("=", "<>", "<", "<=", ">", ">=", "=~")
_LARGEST = 2**63 - 1


class ExpressionParser(ABC):
    def __init__(self, tokens: list[CypherToken]) -> None:
        self._tokens = tokens
        self._next = 0
        self._depth = 0

    # Tokens.

    @property
    def token(self) -> CypherToken:
        return self._tokens[self._next]

    def ahead(self, count: int) -> CypherToken:
        return self._tokens[min(self._next + count, len(self._tokens) - 1)]

    def take(self) -> CypherToken:
        token = self.token
        self._next += token.kind != "end"
        return token

    def take_word(self, *words: str) -> bool:
        found = self.token.is_word(*words)
        self._next += found
        return found

    def take_symbol(self, *symbols: str) -> str | None:
        return self.take().value if self.token.is_symbol(*symbols) else None

    def expect_word(self, word: str) -> None:
        if not self.take_word(word):
            raise self.unexpected(word)

    def expect_symbol(self, symbol: str) -> None:
        if self.take_symbol(symbol) is None:
            raise self.unexpected(repr(symbol))

    def unexpected(self, wanted: str) -> UserError | RefusedError:
        token = self.token
        if token.kind == "name" and token.value.upper() in REFUSED_CLAUSES:
            return refused_clause(token.value.upper())
        found = "the query ends" if token.kind == "end" else f"there is {token.value!r}"
        return invalid(f"At character {token.place + 1} {found}; {wanted} was expected.")

    def name(self, what: str) -> str:
        if self.token.kind not in ("name", "quoted") or not self.token.value:
            raise self.unexpected(what)
        return self.take().value

    @contextmanager
    def nested(self) -> "Iterator[None]":
        self._depth += 1
        if self._depth > MOST_NESTED:
            raise invalid(f"The query is nested more than {MOST_NESTED} levels deep.")
        yield
        self._depth -= 1

    # Levels of precedence, the loosest first.

    def expression(self) -> tree.Expression:
        with self.nested():
            return self._chain(lambda: self._chain(self._and, "XOR"), "OR")

    def _and(self) -> tree.Expression:
        return self._chain(self._not, "AND")

    def _chain(self, operand: Callable[[], tree.Expression], word: str) -> tree.Expression:
        left = operand()
        while self.take_word(word):
            left = tree.Binary(word, left, operand())
        return left

    def _not(self) -> tree.Expression:
        if not self.take_word("NOT"):
            return self._comparison()
        with self.nested():
            return tree.Unary("NOT", self._not())

    def _comparison(self) -> tree.Expression:
        left = self._sum()
        if op := self.take_symbol(*_COMPARISONS):
            return tree.Binary(op, left, self._sum())
        if self.take_word("IN"):
            return tree.Binary("IN", left, self._sum())
        if self.take_word("CONTAINS"):
            return tree.Binary("CONTAINS", left, self._sum())
        if self.token.is_word("STARTS", "ENDS"):
            op = self.take().value.upper()
            self.expect_word("WITH")
            return tree.Binary(f"{op} WITH", left, self._sum())
        while self.take_word("IS"):
            negated = self.take_word("NOT")
            self.expect_word("NULL")
            left = tree.NullTest(left, negated)
        return left

    def _sum(self) -> tree.Expression:
        return self._arithmetic(self._product, "+", "-")

    def _product(self) -> tree.Expression:
        return self._arithmetic(lambda: self._arithmetic(self._negation, "^"), "*", "/", "%")

    def _arithmetic(self, operand: Callable[[], tree.Expression], *symbols: str) -> tree.Expression:
        left = operand()
        while op := self.take_symbol(*symbols):
            left = tree.Binary(op, left, operand())
        return left

    def _negation(self) -> tree.Expression:
        if self.take_symbol("-") is None:
            return self._postfix()
        with self.nested():
            operand = self._negation()
        if isinstance(operand, tree.Given) and type(operand.value) in (int, float):
            return tree.Given(-operand.value)  # type: ignore[operator]
        return tree.Unary("-", operand)

    def _postfix(self) -> tree.Expression:
        found = self._atom()
        while self.token.is_symbol(".", "["):
            if self.take_symbol("."):
                found = tree.Property(found, self.name("the name of a property"))
            else:
                self.take()
                found = tree.ListElement(found, self.expression())
                self.expect_symbol("]")
        return found

    def _atom(self) -> tree.Expression:
        token = self.token
        if token.kind == "text":
            return tree.Given(self.take().value)
        if token.kind in ("integer", "decimal"):
            return tree.Given(_number(self.take()))
        if self.take_symbol("("):
            inner = self.expression()
            self.expect_symbol(")")
            return inner
        if self.take_symbol("["):
            return tree.ListOf(self.listed("]"))
        if token.is_symbol("{"):
            return tree.Record(self.fields())
        return self._named_atom()

    def _named_atom(self) -> tree.Expression:
        if self.take_word("TRUE"):
            return tree.Given(True)
        if self.take_word("FALSE"):
            return tree.Given(False)
        if self.take_word("NULL"):
            return tree.Given(None)
        if self.take_word("CASE"):
            return self._case()
        opens = self.ahead(1)
        if self.token.is_word("EXISTS", "COUNT") and opens.is_symbol("{"):
            return self._matching()
        if opens.is_symbol("(") and self.token.kind in ("name", "quoted"):
            return self._call()
        return tree.Variable(self.name("a value"))

    def listed(self, closing: str) -> tuple[tree.Expression, ...]:
        """Expressions with commas between, up to the closing sign."""
        if self.take_symbol(closing):
            return ()
        items = [self.expression()]
        while self.take_symbol(","):
            items.append(self.expression())
        self.expect_symbol(closing)
        return tuple(items)

    def fields(self) -> tuple[tuple[str, tree.Expression], ...]:
        """`{name: 'Adam', age: 30}`"""
        self.expect_symbol("{")
        found: list[tuple[str, tree.Expression]] = []
        while not self.take_symbol("}"):
            if found:
                self.expect_symbol(",")
            name = self.name("the name of a property")
            self.expect_symbol(":")
            found.append((name, self.expression()))
        return tuple(found)

    def _case(self) -> tree.CaseExpression:
        operand = None if self.token.is_word("WHEN") else self.expression()
        branches: list[tuple[tree.Expression, tree.Expression]] = []
        while self.take_word("WHEN"):
            condition = self.expression()
            self.expect_word("THEN")
            branches.append((condition, self.expression()))
        if not branches:
            raise self.unexpected("WHEN")
        otherwise = self.expression() if self.take_word("ELSE") else None
        self.expect_word("END")
        return tree.CaseExpression(operand, tuple(branches), otherwise)

    def _matching(self) -> tree.Matching:
        kind = "EXISTS" if self.take().is_word("EXISTS") else "COUNT"
        self.expect_symbol("{")
        self.expect_word("MATCH")
        patterns = self.patterns()
        where = self.expression() if self.take_word("WHERE") else None
        self.expect_symbol("}")
        return tree.Matching("EXISTS" if kind == "EXISTS" else "COUNT", patterns, where)

    @abstractmethod
    def patterns(self) -> tuple[tree.Pattern, ...]: ...

    # Calls.

    def _call(self) -> tree.Expression:
        name = self.take().value.lower()
        self.take()
        if name == "cast":
            return self._cast()
        for quantifier in get_args(tree.Quantifier):
            if name == quantifier:
                return self._quantified(quantifier)
        name = SYNONYMS.get(name, name)
        if name not in FUNCTIONS:
            raise _refused_function(name)
        if name == "count" and self.take_symbol("*"):
            self.expect_symbol(")")
            return tree.FunctionCall("count", (), star=True)
        distinct = self.take_word("DISTINCT")
        if distinct and name not in AGGREGATES:
            raise invalid(f"DISTINCT has no meaning in {name}().")
        arguments = self._arguments(takes_lambda=name in TAKES_LAMBDA)
        return tree.FunctionCall(name, arguments, distinct)

    def _arguments(self, *, takes_lambda: bool) -> tuple[tree.Expression, ...]:
        if not takes_lambda:
            return self.listed(")")
        items = self.expression()
        self.expect_symbol(",")
        variable = self.name("a name")
        self.expect_symbol("->")
        body = self.expression()
        self.expect_symbol(")")
        return items, tree.Lambda(variable, body)

    def _cast(self) -> tree.Cast:
        operand = self.expression()
        by_comma = self.take_symbol(",") is not None
        if not by_comma:
            self.expect_word("AS")
        kind = self.take().value.upper()
        if kind not in TYPES:
            raise invalid(f"CAST cannot lead to {kind[:40]!r}.", nearest(kind, TYPES))
        self.expect_symbol(")")
        return tree.Cast(operand, kind)

    def _quantified(self, quantifier: tree.Quantifier) -> tree.Quantified:
        variable = self.name("a name")
        self.expect_word("IN")
        items = self.expression()
        self.expect_word("WHERE")
        where = self.expression()
        self.expect_symbol(")")
        return tree.Quantified(quantifier, variable, items, where)


def refused_clause(word: str) -> RefusedError:
    return RefusedError(
        f"{word} is not allowed: a query may only read.",
        code="cypher_refused",
        hint="Write MATCH, OPTIONAL MATCH, UNWIND, WITH and RETURN.",
    )


def _refused_function(name: str) -> RefusedError:
    return RefusedError(
        f"The function {name[:60]}() is not allowed.", code="cypher_refused", hint=nearest(name, FUNCTIONS)
    )


def _number(token: CypherToken) -> int | float:
    if token.kind == "decimal":
        value = float(token.value)
        if value == float("inf"):
            raise invalid(f"The number {token.value[:40]} is too large.")
        return value
    if len(token.value) > 19 or int(token.value) > _LARGEST:
        raise invalid(f"The number {token.value[:40]} is too large.")
    return int(token.value)
