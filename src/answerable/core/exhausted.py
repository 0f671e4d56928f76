"""What it means that the system refuses to open anything: nothing is wrong with the file, but too many are open."""

import errno

from answerable.core.errors import OperatorError

_NO_DESCRIPTORS = (errno.EMFILE, errno.ENFILE)


def no_descriptors(error: OSError) -> OperatorError | None:
    """The error to raise if nothing is wrong with the file, but too many are open; else None."""
    if error.errno not in _NO_DESCRIPTORS:
        return None
    return OperatorError(
        f"No file descriptors are left: {error.strerror}.",
        code="descriptors_exhausted",
        hint="Raise the limit on open files (`ulimit -n`), or ask fewer things at once.",
    )
