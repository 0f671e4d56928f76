"""What a Python expression of a `transform` node names. Pure: it is parsed here, and runs in a sandbox."""

import ast
import builtins

from answerable.core.errors import UserError

ALLOWED = frozenset(
    (
        *("abs", "all", "any", "bool", "dict", "divmod", "enumerate", "filter", "float", "int", "isinstance", "len"),
        *("list", "map", "max", "min", "range", "repr", "reversed", "round", "set", "sorted", "str"),
        *("sum", "tuple", "zip"),
    )
)


_INPUT_VARIABLE = "graph_input"


def program_of(expression: str) -> tuple[str, dict[str, str]]:
    """The expression as the sandbox runs it, and the template of each of its variables. `input` gets another name
    there: a sandbox takes it for the function that asks at a terminal, and refuses it."""
    tree = ast.parse(expression.strip(), mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == "input":
            node.id = _INPUT_VARIABLE
    variables = {_INPUT_VARIABLE if name == "input" else name: name for name in sorted(names_in(expression))}
    return ast.unparse(tree), {variable: f"{{{{ {name} }}}}" for variable, name in variables.items()}


def names_in(expression: str) -> frozenset[str]:
    """The names that an expression takes from outside: nodes and `input`. Raises a `UserError` if it is no expression,
    or if it reaches for something else."""
    try:
        tree = ast.parse(expression.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = getattr(error, "msg", None) or str(error)
        raise UserError(f"This is no Python expression: {reason}.", code="expression_invalid") from error
    bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    bound |= {argument.arg for node in ast.walk(tree) if isinstance(node, ast.Lambda) for argument in node.args.args}
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - bound - ALLOWED
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            raise UserError(f"An expression cannot reach `{node.attr}`.", code="expression_invalid")
    forbidden = next((name for name in sorted(used) if hasattr(builtins, name) and name != "input"), None)
    if forbidden is not None:
        raise UserError(
            f"An expression cannot use `{forbidden}`.",
            code="expression_invalid",
            hint=f"It can use {', '.join(sorted(ALLOWED))}.",
        )
    return frozenset(used)
