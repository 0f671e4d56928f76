"""Namespaces: a process that has a machine to itself: own mounts, own processes, own ids, no network."""

import ctypes
import os
from typing import Any

from answerable.isolation.kernel import Unavailable, libc, prctl

NEW_MOUNTS = 0x00020000
NEW_CGROUPS = 0x02000000
NEW_NAMES = 0x04000000
NEW_MESSAGES = 0x08000000
NEW_IDS = 0x10000000
NEW_PROCESSES = 0x20000000
NEW_NETWORK = 0x40000000

READ_ONLY, NO_SETUID, NO_DEVICES, NO_PROGRAMS = 1, 2, 4, 8
_REMOUNT, _BIND, _RECURSIVE, _PRIVATE = 32, 4096, 16384, 1 << 18
_DETACH = 2
_LOCKED_BY_STATVFS = ((os.ST_NOSUID, NO_SETUID), (os.ST_NODEV, NO_DEVICES), (os.ST_NOEXEC, NO_PROGRAMS))
_LOCKED_TIMES = ((os.ST_NOATIME, 1 << 10), (os.ST_NODIRATIME, 1 << 11), (os.ST_RELATIME, 1 << 21))

_PR_DROP_FROM_BOUNDS, _PR_AMBIENT, _CLEAR_AMBIENT = 24, 47, 4
_CAPABILITIES_VERSION = 0x20080522

NOBODY = 65534


def unshare(kinds: int) -> None:
    _called("unshare", ctypes.c_int(kinds))


def show_as(user: int, group: int, *, inside: int = NOBODY) -> None:
    """Maps the ids of this process in the user namespace that it has just created: one id, by default nobody's."""
    for file, line in (("setgroups", "deny"), ("uid_map", f"{inside} {user} 1"), ("gid_map", f"{inside} {group} 1")):
        try:
            with open(f"/proc/self/{file}", "w") as opened:
                opened.write(line)
        except OSError as error:
            raise Unavailable(f"{file}: {error.strerror}") from error


def keep_mounts_private() -> None:
    _mounted(None, "/", None, _RECURSIVE | _PRIVATE)


def mount_memory(target: str, flags: int, *, megabytes: int, files: int, mode: str = "700") -> None:
    """A file system in memory, of a bounded size."""
    _mounted("tmpfs", target, "tmpfs", flags, f"size={megabytes}m,nr_inodes={files},mode={mode}")


def bind(source: str, target: str, *, read_only: bool = True) -> None:
    """Makes `source` visible at `target`, with what is mounted below it."""
    _mounted(source, target, None, _BIND | _RECURSIVE)
    if read_only:
        remount_read_only(target)


def remount_read_only(target: str) -> None:
    """What the original mount forbids must stay forbidden, or the kernel refuses."""
    found = os.statvfs(target).f_flag
    locked = sum(flag for seen, flag in (*_LOCKED_BY_STATVFS, *_LOCKED_TIMES) if found & seen)
    _mounted(None, target, None, _REMOUNT | _BIND | READ_ONLY | NO_SETUID | locked)


def change_root(new: str) -> None:
    """`new` must be a mount point; nothing of the old root stays reachable."""
    os.chdir(new)
    if libc().syscall(ctypes.c_long(_PIVOT_ROOT[os.uname().machine]), b".", b".") != 0:
        raise Unavailable(f"pivot_root: {os.strerror(ctypes.get_errno())}")
    _called("umount2", b".", ctypes.c_int(_DETACH))
    os.chdir("/")


_PIVOT_ROOT = {"x86_64": 155, "aarch64": 41}


def become_nobody() -> None:
    """Gives up the ids of root in the whole system, for good."""
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)


def drop_capabilities() -> None:
    """All of them, and the way to ever get one again."""
    for number in range(64):
        try:
            prctl(_PR_DROP_FROM_BOUNDS, number)
        except Unavailable:
            break  # the kernel knows no more, or there is nothing left to drop
    prctl(_PR_AMBIENT, _CLEAR_AMBIENT)
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_VERSION, 0)
    nothing = (ctypes.c_uint32 * 6)()
    _called("capset", ctypes.byref(header), ctypes.byref(nothing))


def _mounted(source: str | None, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    def encoded(text: str | None) -> bytes | None:
        return None if text is None else os.fsencode(text)

    _called("mount", encoded(source), encoded(target), encoded(kind), ctypes.c_ulong(flags), encoded(data))


def _called(name: str, *arguments: Any) -> None:
    if getattr(libc(), name)(*arguments) != 0:
        raise Unavailable(f"{name}: {os.strerror(ctypes.get_errno())}")
