"""Gives this process a root of its own with nothing in it but what is named, then becomes the zygote.

Where bubblewrap is not installed this does its work: without rights through a user namespace, or as root.
"""

import json
import os
import stat
import sys
from typing import Any

from answerable.isolation import namespaces
from answerable.isolation.kernel import Unavailable

_NEW_ROOT = "/tmp"  # noqa: S108 - any folder that is there: what is mounted over it is seen by nobody else
_APART = (
    namespaces.NEW_MOUNTS
    | namespaces.NEW_NETWORK
    | namespaces.NEW_MESSAGES
    | namespaces.NEW_NAMES
    | namespaces.NEW_CGROUPS
)
_PLAIN = namespaces.NO_SETUID | namespaces.NO_DEVICES


def main(described: str) -> None:
    """`described` is JSON: `binds` (source, target, writable), `links`, `folders`, `hidden`, and what to start."""
    root = json.loads(described)
    try:
        _go_apart()
        _build(root)
        os.execve(root["command"][0], root["command"], root["environment"])  # noqa: S606 - our own interpreter
    except (Unavailable, OSError) as error:
        sys.exit(f"no root of its own: {error}")


def _go_apart() -> None:
    user, group = os.getuid(), os.getgid()
    if user == 0:
        namespaces.unshare(_APART)
    else:
        namespaces.unshare(_APART | namespaces.NEW_IDS)
        namespaces.show_as(user, group)
    namespaces.keep_mounts_private()


def _build(root: dict[str, Any]) -> None:
    # Held before anything is mounted: what is to be shown may itself lie below the new root.
    sources = [os.open(source, os.O_PATH | os.O_CLOEXEC) for source, _target, _writable in root["binds"]]
    namespaces.mount_memory(_NEW_ROOT, _PLAIN, megabytes=1, files=2_000, mode="755")
    os.umask(0o022)
    for held, (_source, target, writable) in zip(sources, root["binds"], strict=True):
        _make_place(held, _NEW_ROOT + target)
        namespaces.bind(f"/proc/self/fd/{held}", _NEW_ROOT + target, read_only=not writable)
    for target, place in root["links"]:
        os.symlink(target, _NEW_ROOT + place)
    for folder in root["folders"]:
        os.makedirs(_NEW_ROOT + folder, exist_ok=True)
    for folder in root["hidden"]:
        namespaces.mount_memory(_NEW_ROOT + folder, _PLAIN | namespaces.READ_ONLY, megabytes=1, files=2, mode="755")
    namespaces.change_root(_NEW_ROOT)
    namespaces.remount_read_only("/")


def _make_place(held: int, target: str) -> None:
    """Something to mount over."""
    if stat.S_ISDIR(os.fstat(held).st_mode):
        os.makedirs(target, exist_ok=True)
        return
    os.makedirs(os.path.dirname(target), exist_ok=True)
    os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
