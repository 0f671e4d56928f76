"""What polars offers, as declarations for a checker of types: derived from the polars that is installed.

A function is declared with the names of its parameters, and with its return type if that is a class of polars; all else
is `Any`. The module is declared as a class named `polars`, whose functions are reached through the class itself.
"""

import functools
import inspect
import sys
from collections.abc import Iterator, Mapping
from types import FunctionType, ModuleType
from typing import Any

_ROOTS = ("DataFrame", "LazyFrame", "Series", "Expr")
_NOT_DECLARED = frozenset(("__getattr__", "__bool__", "__new__", "__class_getitem__", "__init_subclass__", "Any"))
"""The first only says what has become of names that are gone; what raises for its truth would end a program there."""
_COL = """class _Col:
    def __call__(self, name: Any, *more: Any) -> Expr: ...
    def __getattr__(self, name: str) -> Expr: ..."""


@functools.cache
def polars_stub() -> str:
    import polars

    classes = polars_classes()
    declared = [_class(name, of, classes) for name, of in classes.items()]
    aliases = [f"_{name} = {name}" for name in classes]
    return "\n".join(["from typing import Any", *declared, _COL, *aliases, _module(polars, classes)])


@functools.cache
def polars_classes() -> Mapping[str, type]:
    """The classes of frames and expressions, and all that their methods return, by name."""
    import polars

    known = {name: each for module in _modules() for name, each in vars(module).items() if _is_own_class(each)}
    found: dict[str, type] = {}
    waiting = [*_ROOTS, *(_return_type(each) for each in vars(polars).values() if isinstance(each, FunctionType))]
    while waiting:
        name = waiting.pop()
        if name not in found and name in known:
            found[name] = known[name]
            waiting += [_return_type(each) for _, each in _functions(known[name])]
    return found


def _modules() -> list[ModuleType]:
    return [module for name, module in list(sys.modules.items()) if name.partition(".")[0] == "polars"]


def _is_own_class(value: Any) -> bool:
    return inspect.isclass(value) and value.__module__.partition(".")[0] == "polars"


def _functions(of: type) -> Iterator[tuple[str, FunctionType]]:
    """Methods, and properties by the function behind them."""
    for name in dir(of):
        member = inspect.getattr_static(of, name)
        function = member.fget if isinstance(member, property) else member
        if isinstance(function, FunctionType) and _is_declared(name):
            yield name, function


def _is_declared(name: str) -> bool:
    return name not in _NOT_DECLARED and (not name.startswith("_") or name.endswith("__"))


def _class(name: str, of: type, classes: Mapping[str, type]) -> str:
    lines = [f"class {name}:"]
    functions = dict(_functions(of))
    for member, function in functions.items():
        returned = name if _return_type(function) == "Self" else _return_type(function)
        annotation = f'"{returned}"' if returned in classes else "Any"
        is_property = isinstance(inspect.getattr_static(of, member), property)
        lines.append(
            f"    {member}: {annotation}" if is_property else f"    def {member}{_taken(function)} -> {annotation}: ..."
        )
    others = [each for each in dir(of) if not each.startswith("_") and each not in functions]
    return "\n".join([*lines, *(f"    {each}: Any" for each in others)])


def _module(polars: ModuleType, classes: Mapping[str, type]) -> str:
    lines = ["class polars:", "    col: _Col"]
    for name, value in vars(polars).items():
        if name == "col" or not _is_declared(name):
            continue
        if isinstance(value, FunctionType):
            returned = _return_type(value)
            annotation = f"_{returned}" if returned in classes else "Any"
            lines.append(f"    def {name}{_taken(value)} -> {annotation}: ...")
        else:
            lines.append(f"    {name} = _{name}" if value is classes.get(name) else f"    {name}: Any")
    return "\n".join(lines)


def _taken(function: FunctionType) -> str:
    """The parameters by name; anything where names that are going out of use are still taken."""
    if any("deprecation" in each.__code__.co_filename for each in _wrappers(function)):
        return "(*args: Any, **kwargs: Any)"
    parameters = [
        each.replace(annotation=Any, default=each.empty if each.default is each.empty else ...)
        for each in inspect.signature(function).parameters.values()
    ]
    return str(inspect.Signature(parameters)).replace("typing.Any", "Any").replace("Ellipsis", "...")


def _wrappers(function: Any) -> Iterator[Any]:
    while hasattr(function, "__wrapped__"):
        yield function
        function = function.__wrapped__


def _return_type(function: FunctionType) -> str:
    return str(inspect.signature(function).return_annotation).removeprefix("pl.")
