"""`dataclass`, whose methods are written when they are first called.

The decorator of the standard library compiles five or six methods for each class when its module is loaded, which was a
fifth of what a typed question took. Most of them are never called: here a class gets them at their first call. It is
used as the original is, and `dataclasses.fields`, `replace` and `asdict` work as ever.
"""

import dataclasses
from collections.abc import Callable
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:

    def dataclass(cls=None, /, *, frozen=False, slots=False, eq=True):
        """Does what the original does. Its other options and `InitVar` are not known."""
        if cls is None:
            return lambda given: _record(given, frozen, slots, eq)
        return _record(cls, frozen, slots, eq)


_NOT_GIVEN = object()


def _record(cls: type, frozen: bool, slots: bool, eq: bool) -> type:
    if frozen and any(dataclasses.is_dataclass(base) for base in cls.__bases__):
        # The original takes a frozen class as a base of frozen ones only, and it does not see ours as frozen.
        return dataclasses.dataclass(frozen=frozen, slots=slots, eq=eq)(cls)
    if cls.__doc__ is None:
        cls.__doc__ = cls.__name__  # the original would look up the signature for it
    own = set(cls.__dict__)
    record: Any = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots)(cls)
    parameters = record.__dataclass_params__
    parameters.init, parameters.repr, parameters.eq, parameters.frozen = True, True, eq, frozen
    written: dict[str, Callable[[Any], Callable[..., Any]]] = {"__init__": _init}
    if eq:
        written["__eq__"] = _eq
        if frozen:
            written["__hash__"] = _hash
        elif "__hash__" not in own:
            record.__hash__ = None
    for name, write in written.items():
        if name not in own or (name == "__hash__" and record.__dict__.get(name) is None):
            setattr(record, name, _written_at_first_call(record, name, write))
    given = {"__repr__": _repr} | (_FROZEN if frozen else {}) | (_PICKLED if frozen and slots else {})
    for name, method in given.items():
        if name not in own:
            setattr(record, name, method)
    return record  # type: ignore[no-any-return]


def _written_at_first_call(cls: Any, name: str, write: Callable[[Any], Callable[..., Any]]) -> Callable[..., Any]:
    def first(self: object, *args: object, **named: object) -> Any:
        method = write(cls)
        method.__name__, method.__qualname__ = name, f"{cls.__qualname__}.{name}"
        setattr(cls, name, method)
        return method(self, *args, **named)

    return first


def _init(cls: Any) -> Callable[..., Any]:
    """The text consists of the names of fields, which are identifiers of our own modules."""
    frozen = cls.__dataclass_params__.frozen
    names: dict[str, Any] = {"_set": object.__setattr__, "_not_given": _NOT_GIVEN}
    by_place: list[str] = []
    by_name: list[str] = []
    lines: list[str] = []
    for field in dataclasses.fields(cls):
        name, value = field.name, field.name
        if field.default_factory is not dataclasses.MISSING:
            names[f"_make_{name}"] = field.default_factory
            value = f"_make_{name}() if {name} is _not_given else {name}" if field.init else f"_make_{name}()"
            default = "=_not_given"
        elif field.default is not dataclasses.MISSING:
            names[f"_default_{name}"] = field.default
            value = name if field.init else f"_default_{name}"
            default = f"=_default_{name}"
        elif not field.init:
            continue
        else:
            default = ""
        if field.init:
            (by_name if field.kw_only else by_place).append(name + default)
        lines.append(f"_set(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    parameters = ", ".join(["self", *by_place, *(["*", *by_name] if by_name else [])])
    exec(f"def __init__({parameters}):\n " + "\n ".join(lines or ["pass"]), names)  # noqa: S102
    return names["__init__"]  # type: ignore[no-any-return]


def _eq(cls: Any) -> Callable[..., Any]:
    values = _values(field.name for field in dataclasses.fields(cls) if field.compare)

    def __eq__(self: object, other: object) -> Any:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    return __eq__


def _hash(cls: Any) -> Callable[..., Any]:
    compared = (f for f in dataclasses.fields(cls) if (f.compare if f.hash is None else f.hash))
    values = _values(field.name for field in compared)

    def __hash__(self: object) -> int:
        return hash(values(self))

    return __hash__


def _values(names: Any) -> Callable[[object], tuple[object, ...]]:
    """Reads the named fields of an object as a tuple."""
    names = tuple(names)
    if len(names) > 1:
        return attrgetter(*names)
    return lambda item: tuple(getattr(item, name) for name in names)


@recursive_repr()
def _repr(self: Any) -> str:
    shown = ", ".join(f"{field.name}={getattr(self, field.name)!r}" for field in dataclasses.fields(self) if field.repr)
    return f"{self.__class__.__qualname__}({shown})"


def _refuse_set(_self: object, name: str, _value: object) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_delete(_self: object, name: str) -> None:
    raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[object]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _set_state(self: Any, state: list[object]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)


_FROZEN = {"__setattr__": _refuse_set, "__delattr__": _refuse_delete}
_PICKLED = {"__getstate__": _state, "__setstate__": _set_state}
