"""Names of unfinished files and folders that say which process makes them, so that what a dead process left is known
and can be removed at once, while nobody touches what a living one is writing."""

import os
import secrets
import time
from functools import cache
from hashlib import sha256
from pathlib import Path

LONGEST_SECONDS = 86_400.0
"""What has no readable name, or was named on another machine, counts as abandoned when nobody has written to it for
this long."""


def unfinished_name() -> str:
    """A new name that no other process gives."""
    return f"{_place()}-{os.getpid()}-{_began(os.getpid())}-{secrets.token_hex(8)}"


def is_abandoned(path: Path, longest: float = LONGEST_SECONDS) -> bool:
    """`path`: its name ends with an unfinished name. A file that is gone by now is not abandoned."""
    place, _, rest = path.name.rpartition(".")[2].partition("-")
    pid, _, rest = rest.partition("-")
    began = rest.partition("-")[0]
    if place == _place() and pid.isdecimal() and began.isdecimal():
        return _began(int(pid)) != int(began)
    try:
        return time.time() - path.lstat().st_mtime > longest
    except FileNotFoundError:
        return False


@cache
def _place() -> str:
    """Names where process numbers mean what they mean here: this start of this machine, and this namespace. Another
    container may use the same folder, and has processes of its own with the same numbers. A random name if the system
    does not say."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_bytes()
        return sha256(boot + os.readlink("/proc/self/ns/pid").encode()).hexdigest()[:12]
    except OSError:
        return secrets.token_hex(6)


def _began(pid: int) -> int:
    """When a process began, in ticks since the machine did: numbers are given again, to later processes. 0 if there is
    no such process."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
    except (OSError, IndexError):
        return 0
