"""Ask your data in plain words and get answers that can be held to account.

from answerable import Answerable

sales = Answerable("./sales/")
print(sales.ask("which region grew fastest last quarter?"))
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from answerable.answers.answer import Answer
    from answerable.core.errors import (
        AnswerableError,
        InternalError,
        LimitError,
        NotFoundError,
        OperatorError,
        RefusedError,
        SourceError,
        TransientError,
        UserError,
    )
    from answerable.library import Answerable, Result

_HOMES = {
    "Answer": "answerable.answers.answer",
    "Answerable": "answerable.library",
    "AnswerableError": "answerable.core.errors",
    "InternalError": "answerable.core.errors",
    "LimitError": "answerable.core.errors",
    "NotFoundError": "answerable.core.errors",
    "OperatorError": "answerable.core.errors",
    "RefusedError": "answerable.core.errors",
    "Result": "answerable.library",
    "SourceError": "answerable.core.errors",
    "TransientError": "answerable.core.errors",
    "UserError": "answerable.core.errors",
}

__all__ = [
    "Answer",
    "Answerable",
    "AnswerableError",
    "InternalError",
    "LimitError",
    "NotFoundError",
    "OperatorError",
    "RefusedError",
    "Result",
    "SourceError",
    "TransientError",
    "UserError",
]


def __getattr__(name: str) -> Any:
    """Public names are imported when they are first used, so that `import answerable` costs next to nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return __all__
