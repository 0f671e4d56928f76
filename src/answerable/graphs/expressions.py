"""What a Python expression of a `transform` node names. Pure: it is parsed here, and runs in a sandbox."""

import ast
import builtins
from collections.abc import Collection

from answerable.core.errors import UserError

ALLOWED = frozenset(
    (
        *("abs", "all", "any", "bool", "dict", "divmod", "enumerate", "float", "int", "isinstance", "len"),
        *("list", "max", "min", "range", "repr", "reversed", "round", "set", "sorted", "str"),
        *("sum", "tuple", "zip"),
    )
)


def program_of(expression: str, nodes: Collection[str] = ()) -> tuple[str, dict[str, str]]:
    """The expression as the sandbox runs it, and the template of each of its variables. What is called as a function
    of Python is (`input`, or a node `id`) gets another name there: a sandbox would take it for the function."""
    tree = ast.parse(expression.strip(), mode="eval")
    for name in _of_nodes(tree, {*nodes, "input"}):
        name.id = _variable(name.id)
    return ast.unparse(tree), {_variable(name): f"{{{{ {name} }}}}" for name in sorted(names_in(expression, nodes))}


def _variable(name: str) -> str:
    return f"graph_{name}" if hasattr(builtins, name) else name


def _of_nodes(tree: ast.AST, nodes: Collection[str]) -> list[ast.Name]:
    """The places at which a name stands for a node: one that is called stands for the function."""
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in called]
    bound = _bound(tree)
    return [name for name in names if name.id in nodes and name.id not in bound]


def _bound(tree: ast.AST) -> set[str]:
    """The names that an expression gives itself."""
    bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    return bound | {
        argument.arg for node in ast.walk(tree) if isinstance(node, ast.Lambda) for argument in node.args.args
    }


def names_in(expression: str, nodes: Collection[str] = ()) -> frozenset[str]:
    """The names that an expression takes from outside: nodes and `input`. `nodes`: those that there are; their names
    count before those of functions. Raises a `UserError` if it is no expression, or if it reaches for something
    else."""
    try:
        tree = ast.parse(expression.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = getattr(error, "msg", None) or str(error)
        raise UserError(f"This is no Python expression: {reason}.", code="expression_invalid") from error
    taken = {name.id for name in _of_nodes(tree, nodes)}
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - _bound(tree) - ALLOWED
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            raise UserError(f"An expression cannot reach `{node.attr}`.", code="expression_invalid")
    others = sorted(used - taken - {"input"})
    forbidden = next((name for name in others if hasattr(builtins, name)), None)
    if forbidden is not None:
        raise UserError(
            f"An expression cannot use `{forbidden}`.",
            code="expression_invalid",
            hint=f"It can use {', '.join(sorted(ALLOWED))}.",
        )
    return frozenset(used | taken)
