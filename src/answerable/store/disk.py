"""What a failure of the file system means for whoever runs Answerable."""

import errno

from answerable.core.errors import OperatorError
from answerable.core.file_errors import no_descriptors

_NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}

FULL_HINT = (
    "Nothing was half-written. Make space on the disk (or raise the quota); the store then works again as it is."
)
FOLDER_HINT = "The folder must exist on a local disk and be writable."


def disk_error(error: OSError, what: str) -> OperatorError:
    """`what` names the file or folder."""
    if exhausted := no_descriptors(error):
        return exhausted
    reason = error.strerror or str(error)
    if error.errno in _NO_SPACE:
        return OperatorError(f"{what} could not be written: {reason}.", code="store_full", hint=FULL_HINT)
    return OperatorError(f"{what} cannot be used: {reason}.", code="store_unavailable", hint=FOLDER_HINT)
