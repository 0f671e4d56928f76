"""What the columns of a statement's result are called, by its text alone."""

from answerable.core.values import Language
from answerable.query.sql.check import parsed
from answerable.query.sql.dialects import DIALECTS


def result_columns(statement: str, dialect: Language) -> tuple[str, ...] | None:
    """None if the text does not tell: it selects `*`, or is no SQL. What is not one SELECT is an error."""
    if dialect not in DIALECTS:
        return None
    tree = parsed(statement, dialect)
    return None if tree.is_star else tuple(tree.named_selects)
