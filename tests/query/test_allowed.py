"""The allow-lists hold by construction: what is not listed is refused, also what a later parser or database brings."""

from collections.abc import Iterator

import pytest
from sqlglot import exp

from answerable.core.errors import RefusedError
from answerable.core.values import Language
from answerable.query.sql.allowed import NODES
from answerable.query.sql.check import check_nodes

DIALECTS: tuple[Language, ...] = ("duckdb", "sqlite", "postgres")


def _all_node_types(kind: type[exp.Expr] = exp.Expr) -> Iterator[type[exp.Expr]]:
    for child in kind.__subclasses__():
        yield child
        yield from _all_node_types(child)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_node_type_that_is_not_listed_is_refused(dialect: Language) -> None:
    """Over all that the installed parser knows, so a new one is refused until it is listed."""
    known = {kind for kind in _all_node_types() if issubclass(kind, exp.Expression)}
    unlisted = {kind for kind in known - NODES.keys() if not issubclass(kind, exp.Func)}
    assert len(unlisted) > 200
    for kind in unlisted:
        with pytest.raises(RefusedError):
            check_nodes(kind(), dialect)


def test_a_new_function_or_node_is_refused() -> None:
    class Smuggler(exp.Expression):
        pass

    for node in (Smuggler(), exp.Anonymous(this="read_the_whole_disk"), exp.ReadCSV(this=exp.Null())):
        with pytest.raises(RefusedError):
            check_nodes(exp.Select(expressions=[node]), "duckdb")


def test_a_new_clause_of_a_known_node_is_refused() -> None:
    for node in (
        exp.Select(expressions=[exp.Null()], into=exp.Null()),
        exp.Table(this=exp.to_identifier("orders"), evil=exp.Null()),
        exp.Star(evil=True),
    ):
        with pytest.raises(RefusedError):
            check_nodes(node, "duckdb")
