"""What a failure of a model means, by who must act. Provider's words are passed on only where somebody can use them,
and never with a key in them."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pydantic_ai import exceptions as theirs

from answerable.core.errors import (
    AnswerableError,
    LimitError,
    OperatorError,
    RefusedError,
    TransientError,
)
from answerable.models.names import Target

RATE_LIMITED, UNAVAILABLE, TIMEOUT = "model_rate_limited", "model_unavailable", "model_timeout"
BAD_REPLY, CUT_OFF, REFUSED, TOO_LONG = "model_bad_reply", "model_cut_off", "model_refused", "model_reply_too_long"

RETRIED = frozenset((RATE_LIMITED, UNAVAILABLE, BAD_REPLY))
"""Worth another attempt at the same model. Time-outs are not: they have cost their time already."""
OF_PROVIDER = frozenset((UNAVAILABLE, TIMEOUT, CUT_OFF))
"""Count against the provider: after some in a row it is left alone for a while."""
UNPAID = frozenset(
    (
        RATE_LIMITED,
        UNAVAILABLE,
        "model_context_full",
        "model_failed",
        "model_not_found",
        "model_quota",
        "model_rejected",
        "model_unauthorised",
    )
)
"""The provider refused or never got the request: nothing was used."""
_STAYS = frozenset(("budget_exhausted", "budget_reserved", REFUSED))
_LONGEST, _LONGEST_REFUSAL = 300, 1_000
_POINTER = re.compile(
    r"\b(?:please )?(?:see|visit|read|check|refer to|for more|learn more)\b[^.!?]*https?://\S+[^.!?]*[.!?]?",
    re.IGNORECASE,
)
"""A sentence that sends the reader somewhere else."""
_ADDRESS = re.compile(r"\bhttps?://\S+", re.IGNORECASE)
_LIBRARY = re.compile(
    r"\b(?:pydantic|httpx|httpcore|aiohttp|urllib3|litellm|langchain)[\w.-]*:?|\b(?:\w+\.)*[A-Z]\w*(?:Error|Exception)\b:?"
)
_EMPTY_BRACKETS = re.compile(r"[(\[][\s,;:.-]*[)\]]")


def is_foreign(error: BaseException) -> bool:
    """Whether it comes from the provider or its client, rather than from whoever reads the reply."""
    kinds = theirs.ModelAPIError | theirs.UnexpectedModelBehavior | TimeoutError
    return isinstance(error, kinds) and not isinstance(error, theirs.IncompleteToolCall)


def falls_back(error: Exception) -> bool:
    """Whether the next model of the chain is tried. Budgets hold for all, and what one may not say the next may not."""
    return isinstance(error, AnswerableError) and error.stable_code not in _STAYS


def typed(error: BaseException, target: Target, *, begun: bool = False) -> AnswerableError:
    """`begun`: a part of the reply had arrived."""
    name = target.name
    if isinstance(error, theirs.ModelAPIError):
        return _of_request(error, target, begun) if not _is_timeout(error) else _timeout(name)
    if isinstance(error, TimeoutError):
        return _timeout(name)
    if isinstance(error, theirs.ContentFilterError):
        return refused(name)
    if isinstance(error, theirs.UnexpectedModelBehavior):
        return TransientError(f"{name} sent a reply that is not what was asked for.", code=BAD_REPLY)
    return OperatorError(
        f"The client for {name} failed: {_without_key(_plain(str(error) or type(error).__name__), target)}",
        code="model_failed",
        hint="Check the settings of its provider.",
    )


def refused(name: str, said: str = "") -> RefusedError:
    """`said`: the model's own words, which tell the user why."""
    reason = f": {_shortened(said, _LONGEST_REFUSAL)}" if said.strip() else "."
    return RefusedError(
        f"{name} declined to answer{reason}", code=REFUSED, hint="Ask in other words, or set another model."
    )


def too_long(name: str, signs: int) -> LimitError:
    return LimitError(
        f"The reply of {name} was longer than {signs:,} signs and was stopped.",
        code=TOO_LONG,
        hint="Ask for less at a time, or raise `models.max_output_tokens` in the settings.",
    )


def all_failed(errors: list[Exception]) -> AnswerableError:
    """The one of a chain's errors that says most: what somebody must put right, else the last."""
    ours = [error for error in errors if isinstance(error, AnswerableError)]
    # An error that is not ours is a defect: hiding it behind a sentence for users would hide its traceback too.
    if len(ours) != len(errors) or not ours:
        raise ExceptionGroup("a chain of models failed in an unforeseen way", errors)
    telling = next((error for error in ours if not isinstance(error, TransientError)), ours[-1])
    tried = "; ".join(f"{error.message} [{error.stable_code}]" for error in ours)
    return type(telling)(
        f"Every model of the role failed: {tried}", code=telling.stable_code, hint=telling.hint, **telling.details
    )


@contextmanager
def explained() -> Iterator[None]:
    """Turns what an agent itself raises about a model into errors of ours."""
    try:
        yield
    except theirs.UsageLimitExceeded as error:
        raise LimitError(
            "The model was asked again and again without coming to an end.",
            code="model_loop",
            hint="Ask something simpler, or set a more capable model.",
        ) from error
    except theirs.ContentFilterError as error:
        raise refused("The model") from error
    except theirs.UnexpectedModelBehavior as error:
        raise TransientError(
            "The model did not give the kind of answer it was asked for.",
            code=BAD_REPLY,
            hint="Try again, or set a more capable model.",
        ) from error


def _of_request(error: theirs.ModelAPIError, target: Target, begun: bool) -> AnswerableError:
    name = target.name
    for kind, build in _KINDS.items():
        if isinstance(error, kind):
            return build(error, target)
    if begun:
        return TransientError(f"The reply of {name} broke off.", code=CUT_OFF, hint="Try again.")
    if isinstance(error, theirs.ModelConnectionError):
        where = target.base_url or target.provider
        return TransientError(
            f"{name} cannot be reached at {where}.",
            code=UNAVAILABLE,
            hint="Check that it runs and the address is right.",
        )
    return TransientError(f"{name} sent a reply that cannot be read.", code=BAD_REPLY)


def _unauthorised(_: theirs.ModelAPIError, target: Target) -> AnswerableError:
    return OperatorError(
        f"{target.provider} does not accept the key for {target.name}.",
        code="model_unauthorised",
        hint="Check the key, and that it is allowed to use this model.",
    )


def _not_found(_: theirs.ModelAPIError, target: Target) -> AnswerableError:
    return OperatorError(
        f"{target.provider} has no model {target.model}.",
        code="model_not_found",
        hint="Check the name, and the address if one is set.",
    )


def _context_full(_: theirs.ModelAPIError, target: Target) -> AnswerableError:
    return LimitError(
        f"The request is longer than {target.name} can read.",
        code="model_context_full",
        hint="Ask of fewer tables, or set a model with a longer context.",
    )


def _rejected(error: theirs.ModelAPIError, target: Target) -> AnswerableError:
    return OperatorError(
        f"{target.name} does not accept the request: {_without_key(_plain(_said(error)), target)}",
        code="model_rejected",
        hint="The model may lack tools or structured output: `answerable models check` tries both.",
    )


def _quota(_: theirs.ModelAPIError, target: Target) -> AnswerableError:
    return OperatorError(
        f"The account at {target.provider} is used up.", code="model_quota", hint="Add credit, or set another model."
    )


def _rate_limited(error: theirs.ModelAPIError, target: Target) -> AnswerableError:
    return TransientError(
        f"{target.provider} takes no more requests for {target.name} at the moment.",
        code=RATE_LIMITED,
        hint="Try again later, or set a second model for the role.",
        **_after(error),
    )


def _unavailable(error: theirs.ModelAPIError, target: Target) -> AnswerableError:
    status = f" ({error.status_code})" if isinstance(error, theirs.ModelHTTPError) else ""
    return TransientError(
        f"{target.provider} failed to serve {target.name}{status}.", code=UNAVAILABLE, **_after(error)
    )


def _after(error: theirs.ModelAPIError) -> dict[str, Any]:
    """When the provider asked to be tried again."""
    return {} if error.retry_after is None else {"retry_after": error.retry_after}


_KINDS = {
    theirs.ModelAuthenticationError: _unauthorised,
    theirs.ModelNotFoundError: _not_found,
    theirs.ModelContextWindowExceededError: _context_full,
    theirs.ModelRequestRejectedError: _rejected,
    theirs.ModelQuotaExceededError: _quota,
    theirs.ModelRateLimitError: _rate_limited,
    theirs.ModelUnavailableError: _unavailable,
    theirs.ModelServerError: _unavailable,
}
"""From the most to the least specific."""


def _is_timeout(error: theirs.ModelAPIError) -> bool:
    return isinstance(error, theirs.ModelTimeoutError | theirs.ModelRequestTimeout)


def _timeout(name: str) -> TransientError:
    return TransientError(
        f"{name} did not answer in time.", code=TIMEOUT, hint="Try again, or raise `models.timeouts` in the settings."
    )


def _said(error: theirs.ModelAPIError) -> str:
    body = error.body
    if isinstance(body, dict):
        body = body.get("message") or body.get("error") or body
    return str(body or error.message)


def _plain(text: str) -> str:
    """The words of a provider or its client without addresses and names of libraries, which say nothing to users, and
    not longer than people read."""
    for pattern in (_LIBRARY, _POINTER, _ADDRESS, _EMPTY_BRACKETS):
        text = pattern.sub("", text)
    return _shortened(text, _LONGEST).strip(" -,;:") or "no reason is given."


def _shortened(text: str, most: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else text[:most] + "…"


def _without_key(text: str, target: Target) -> str:
    # A provider may repeat a rejected key in its message, and messages reach users and logs.
    secret = target.key.get_secret_value() if target.key else ""
    return text.replace(secret, "…") if secret else text
