"""What the system's refusal to open a file means, and who must act."""

import errno
import re

from answerable.core.errors import AnswerableError, OperatorError, SourceError

_NO_DESCRIPTORS = (errno.EMFILE, errno.ENFILE)
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT)


def no_descriptors(error: OSError) -> OperatorError | None:
    """The error to raise if nothing is wrong with the file, but too many are open; else None."""
    if error.errno not in _NO_DESCRIPTORS:
        return None
    return OperatorError(
        f"No file descriptors are left: {error.strerror}.",
        code="descriptors_exhausted",
        hint="Raise the limit on open files (`ulimit -n`), or ask fewer things at once.",
    )


def cannot_read(place: object, error: OSError) -> AnswerableError:
    """The error for data at `place` that could not be opened."""
    if exhausted := no_descriptors(error):
        return exhausted
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return SourceError(
            f"{place} is no longer there.", code="source_missing", hint="Put it back, or name another source."
        )
    hint = "Check that you may read it." if error.errno in (errno.EACCES, errno.EPERM) else None
    return SourceError(f"{place} cannot be read: {error.strerror}.", code="source_unreadable", hint=hint)


def cannot_write(error: OSError) -> OperatorError:
    """The error for a result that could not be written."""
    if exhausted := no_descriptors(error):
        return exhausted
    if is_full(error):
        return OperatorError(
            "The disk is full; the result could not be written.", code="disk_full", hint="Make space on the disk."
        )
    return OperatorError(f"The result could not be written: {error.strerror or error}.", code="result_unwritable")


def is_full(error: OSError) -> bool:
    """Whether there is no space left. Polars names the number only in its text: `No space left (os error 28)`."""
    number = error.errno
    if number is None and (named := re.search(r"\(os error (\d+)\)", str(error))):
        number = int(named[1])
    return number in _NO_SPACE
