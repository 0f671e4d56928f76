"""Our `dataclass` does what the original does, and writes no method before it is called."""

import copy
import dataclasses
import pickle
from collections.abc import Callable
from typing import Any

import pytest

from answerable.core import records


def _classes(dataclass: Callable[..., Any]) -> dict[str, Any]:
    """The same classes, made by either."""

    @dataclass(frozen=True, slots=True)
    class Frozen:
        name: str
        size: int = 3
        tags: list[str] = dataclasses.field(default_factory=list)
        note: str = dataclasses.field(default="", compare=False, repr=False)

        def doubled(self) -> int:
            return self.size * 2

    @dataclass(slots=True)
    class Changing:
        name: str
        size: int = 1
        seen: int = dataclasses.field(default=0, init=False)
        parts: dict[str, int] = dataclasses.field(default_factory=dict, init=False)

        def __post_init__(self) -> None:
            self.seen = self.size + 1

    @dataclass
    class Derived(Changing):
        extra: str = dataclasses.field(default="e", kw_only=True)

    @dataclass(frozen=True, slots=True)
    class DerivedFrozen(Frozen):
        more: int = 0

    @dataclass(frozen=True, slots=True, eq=False)
    class ByIdentity:
        name: str

    @dataclass(frozen=True)
    class Empty:
        pass

    @dataclass(frozen=True, slots=True)
    class OwnMethods:
        a: float

        def __eq__(self, other: object) -> bool:
            return isinstance(other, OwnMethods) and round(self.a) == round(other.a)

        def __repr__(self) -> str:
            return f"<{self.a}>"

    found = {name: made for name, made in locals().items() if isinstance(made, type)}
    for made in found.values():
        made.__qualname__ = made.__name__
    return found


ORIGINAL, OURS = _classes(dataclasses.dataclass), _classes(records.dataclass)
CALLS: tuple[Callable[[dict[str, Any]], object], ...] = (
    lambda c: c["Frozen"]("a"),
    lambda c: c["Frozen"]("a", 5, ["x"], note="n"),
    lambda c: c["Frozen"](name="a", tags=["x"]).tags,
    lambda c: c["Frozen"]("a").tags is c["Frozen"]("a").tags,
    lambda c: c["Frozen"]("a", 4).doubled(),
    lambda c: c["Frozen"]("a", note="1") == c["Frozen"]("a", note="2"),
    lambda c: c["Frozen"]("a") == c["Frozen"]("b"),
    lambda c: c["Frozen"]("a") == c["Changing"]("a"),
    lambda c: c["Frozen"]("a", 1, ()) in {c["Frozen"]("a", 1, ())},
    lambda c: hash(c["Frozen"]("a")),  # a list has none
    lambda c: c["Frozen"](),
    lambda c: c["Frozen"]("a", 1, [], "", "too many"),
    lambda c: c["Frozen"]("a", unknown=1),
    lambda c: setattr(c["Frozen"]("a"), "name", "b"),
    lambda c: delattr(c["Frozen"]("a"), "name"),
    lambda c: setattr(c["Empty"](), "other", "b"),
    lambda c: dataclasses.replace(c["Frozen"]("a"), size=9),
    lambda c: dataclasses.asdict(c["Frozen"]("a", tags=["t"])),
    lambda c: [(f.name, f.compare, f.repr) for f in dataclasses.fields(c["Frozen"])],
    lambda c: c["Frozen"].__match_args__,
    lambda c: c["Frozen"].__dataclass_params__.frozen,
    lambda c: copy.copy(c["Frozen"]("a", 2)),
    lambda c: copy.deepcopy(c["Frozen"]("a", 2, ["x"])),
    lambda c: hasattr(c["Frozen"]("a"), "__dict__"),
    lambda c: c["Changing"]("a", 4),
    lambda c: c["Changing"]("a", 4).seen,
    lambda c: c["Changing"]("a") == c["Changing"]("a"),
    lambda c: hash(c["Changing"]("a")),
    lambda c: c["Derived"]("a", 2, extra="x"),
    lambda c: c["Derived"]("a", 2, "x"),
    lambda c: c["Derived"]("a") == c["Changing"]("a"),
    lambda c: c["DerivedFrozen"]("a", more=2),
    lambda c: setattr(c["DerivedFrozen"]("a"), "name", "b"),
    lambda c: c["ByIdentity"]("a") == c["ByIdentity"]("a"),
    lambda c: isinstance(hash(c["ByIdentity"]("a")), int),
    lambda c: c["Empty"]() == c["Empty"](),
    lambda c: hash(c["Empty"]()) == hash(c["Empty"]()),
    lambda c: c["Empty"](1),
    lambda c: c["OwnMethods"](1.2) == c["OwnMethods"](1.1),
    lambda c: c["OwnMethods"](1.2),
    lambda c: float("nan") == c["OwnMethods"](1.0),
)


def _told(call: Callable[[dict[str, Any]], object], classes: dict[str, Any]) -> str:
    try:
        return repr(call(classes))
    except (TypeError, AttributeError, dataclasses.FrozenInstanceError) as error:
        return f"{type(error).__name__}: {error}".replace("_classes.<locals>.", "")


@pytest.mark.parametrize("call", CALLS)
def test_it_does_what_the_original_does(call: Callable[[dict[str, Any]], object]) -> None:
    assert _told(call, OURS) == _told(call, ORIGINAL)


@records.dataclass(frozen=True, slots=True)
class Sent:
    name: str
    sizes: tuple[int, ...] = ()


def test_it_crosses_processes() -> None:
    assert pickle.loads(pickle.dumps(Sent("a", (1, 2)))) == Sent("a", (1, 2))


def test_methods_are_written_when_they_are_first_called() -> None:
    classes = _classes(records.dataclass)
    frozen = classes["Frozen"]
    assert frozen.__init__.__name__ == "first"
    frozen("a")
    assert (frozen.__init__.__name__, frozen.__eq__.__name__) == ("__init__", "first")
