"""What masks make of a property in Cypher. This engine joins NULL to a text as if it were empty, so each asks first."""

from answerable.access.policy import Mask
from answerable.access.shape import HASH_LENGTH
from answerable.query.cypher import tree


def keeps_type(mask: Mask, kind: str) -> bool:
    if mask.kind in ("hash", "partial"):
        return kind == "text"
    if mask.kind == "bucket":
        return kind == ("integer" if mask.size is not None else "date")
    return True


def masked(value: tree.Expression, mask: Mask, secret: str) -> tree.Expression:
    if mask.kind == "null":
        never = tree.Binary("=", tree.Given(1), tree.Given(0))
        return tree.CaseExpression(None, ((never, value),), None)
    return tree.CaseExpression(None, ((tree.NullTest(value, negated=True), _form(value, mask, secret)),), None)


def _form(value: tree.Expression, mask: Mask, secret: str) -> tree.Expression:
    text = tree.Cast(value, "STRING")
    if mask.kind == "hash":
        code = tree.FunctionCall("sha256", (tree.Binary("+", tree.Given(secret), text),))
        return tree.FunctionCall("left", (code, tree.Given(HASH_LENGTH)))
    if mask.kind == "partial":
        return tree.Binary("+", tree.FunctionCall("left", (text, tree.Given(1))), tree.Given("***"))
    if mask.unit is not None:
        return tree.FunctionCall("date_trunc", (tree.Given(mask.unit), tree.Cast(value, "DATE")))
    whole, size = tree.Cast(value, "INT64"), tree.Given(mask.size)
    # Two remainders, because that of a negative number is negative.
    rest = tree.Binary("%", tree.Binary("+", tree.Binary("%", whole, size), size), size)
    return tree.Binary("-", whole, rest)
