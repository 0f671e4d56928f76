"""All errors that users can see, by who must act.

    AnswerableError
    ├── UserError              whoever asked: change the question, the file name, the plan
    │   ├── NotFoundError      the named thing does not exist (or is not yours)
    │   ├── SignInError        whoever asked has not shown who they are
    │   ├── SemanticError      `semantic.yaml` is wrong; names line and field
    │   ├── GraphError         a graph that cannot run; names the node
    │   └── AgentError         an agent that cannot be stored; names the line
    ├── RefusedError           the rules say no: asking again will not help
    ├── SourceError            whoever owns the data: wrong password, database down
    │   └── FileError          a file that cannot be used as it is: damaged, empty, or not what its name says
    ├── LimitError             a limit was reached: narrow the question or raise the limit
    ├── TransientError         nobody: trying again later may help; the engine retries these
    ├── TooManyError           whoever asked too often: after a while they may again
    ├── OperatorError          whoever runs Answerable: settings, disk, damaged or newer store
    └── InternalError          us: a defect

An error is data: a stable code, a sentence, and a hint about what to do. Codes are listed in docs/errors.md.
"""

from collections.abc import Mapping
from typing import Any, ClassVar


class AnswerableError(Exception):
    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, code: str | None = None, hint: str | None = None, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.stable_code = code or type(self).code
        self.hint = hint
        self.details: Mapping[str, Any] = details

    def __str__(self) -> str:
        return self.message


class UserError(AnswerableError):
    code = "bad_request"
    exit_code = 2


class NotFoundError(UserError):
    code = "not_found"


class SignInError(UserError):
    code = "sign_in_required"


class SemanticError(UserError):
    code = "semantic_invalid"


class GraphError(UserError):
    code = "graph_invalid"


class AgentError(UserError):
    code = "agent_text_invalid"


class RefusedError(AnswerableError):
    code = "refused"
    exit_code = 4


def not_visible(what: str, rule: str | None, contact: str | None, reason: str | None = None) -> RefusedError:
    """The error for something that exists and may not be seen. What does not exist has errors of its own: the two never
    look alike. `rule`: the name of the rule that hides it; None if no rule allows it. `contact`: whom to ask for
    access."""
    by = f"by rule {rule!r}" if rule is not None else "as no rule allows it"
    return RefusedError(
        f"You may not see {what}, {by}." + (f" {reason}" if reason else ""),
        code="access_denied",
        hint=f"Ask {contact or 'whoever runs this installation'} for access.",
        rule=rule,
    )


class SourceError(AnswerableError):
    code = "source_failed"


class FileError(SourceError):
    code = "file_unreadable"
    exit_code = 2


class LimitError(AnswerableError):
    code = "limit_reached"


class TransientError(AnswerableError):
    code = "try_again"


class TooManyError(AnswerableError):
    """The detail `retry_after` says after how many seconds."""

    code = "too_many_requests"


class OperatorError(AnswerableError):
    code = "operator"


class InternalError(AnswerableError):
    code = "internal"


KINDS: tuple[type[AnswerableError], ...] = (
    NotFoundError,
    SignInError,
    SemanticError,
    GraphError,
    AgentError,
    UserError,
    RefusedError,
    FileError,
    SourceError,
    LimitError,
    TransientError,
    TooManyError,
    OperatorError,
    InternalError,
)
"""Subclasses before their base classes: `kind_of` takes the first match."""


def kind_of(error: BaseException) -> str:
    """The class name under which an error is stored. Errors of other classes are defects of ours."""
    return next((kind.__name__ for kind in KINDS if isinstance(error, kind)), InternalError.__name__)


def restored(kind: str, code: str, message: str, hint: str | None) -> AnswerableError:
    """The error from its stored fields. `kind` is the result of `kind_of`."""
    by_name = {cls.__name__: cls for cls in KINDS}
    return by_name.get(kind, InternalError)(message, code=code, hint=hint)
