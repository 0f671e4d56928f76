"""seccomp: from here on this process starts no program, makes no process, and, unless it must, opens no socket.

The filter is a short program for the kernel: look at the number of the system call, refuse those that are listed.
"""

import ctypes
import errno
import platform
import struct

from answerable.isolation.kernel import Unavailable, prctl, system_call

_PR_SET_SECCOMP, _MODE_FILTER = 22, 2
_SECCOMP = (317, 277)
_SET_MODE_FILTER, _EVERY_THREAD = 1, 1
LOAD, JUMP_IF_EQUAL, JUMP_IF_GREATER_OR_EQUAL, JUMP_IF_ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, KILL, REFUSE = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER, _ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16
CLONE_THREAD = 0x00010000

_ARCHITECTURES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_SYSTEM_CALLS: dict[str, dict[str, tuple[int | None, int | None]]] = {
    "programs": {
        "fork": (57, None),
        "vfork": (58, None),
        "execve": (59, 221),
        "execveat": (322, 281),
    },
    "other processes": {
        "ptrace": (101, 117),
        "process_vm_readv": (310, 270),
        "process_vm_writev": (311, 271),
        "kcmp": (312, 272),
        "pidfd_getfd": (438, 438),
    },
    "kernel": {
        "mount": (165, 40),
        "umount2": (166, 39),
        "pivot_root": (155, 41),
        "chroot": (161, 51),
        "setns": (308, 268),
        "unshare": (272, 97),
        "bpf": (321, 280),
        "perf_event_open": (298, 241),
        "userfaultfd": (323, 282),
        "keyctl": (250, 219),
        "add_key": (248, 217),
        "request_key": (249, 218),
        "init_module": (175, 105),
        "finit_module": (313, 273),
        "delete_module": (176, 106),
        "kexec_load": (246, 104),
        "io_uring_setup": (425, 425),
    },
    "memory that no limit on a process counts": {
        "memfd_create": (319, 279),
        "memfd_secret": (447, 447),
        "shmget": (29, 194),
    },
    "network": {
        "socket": (41, 198),
        "connect": (42, 203),
        "bind": (49, 200),
        "listen": (50, 201),
        "accept": (43, 202),
        "accept4": (288, 242),
    },
}
"""Numbers on x86_64 and aarch64; None if the machine has no such call."""
_CLONE = (56, 220)
_CLONE3 = (435, 435)
_FOREIGN_NUMBERS = 0x40000000
"""From here on x86_64 counts the calls of its 32-bit variant."""


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def restrict(*, network: bool) -> None:
    install(_filter(network))


def install(code: bytes, *, every_thread: bool = False) -> None:
    """Installs the filter for this thread and those that it starts, or also for all threads that the process has
    already."""
    program = _Program(len(code) // 8, code)
    if not every_thread:
        prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(program))
        return
    number = _SECCOMP[_which_machine()]
    flag = ctypes.c_uint(_EVERY_THREAD)
    if system_call(number, ctypes.c_uint(_SET_MODE_FILTER), flag, ctypes.byref(program)) != 0:
        raise Unavailable("a thread cannot be filtered")


def prologue(*, wrong_kind: int) -> tuple[int, list[bytes]]:
    """Which column of numbers is this machine's, and the start of a filter: the number of the call is loaded.

    `wrong_kind` is the verdict on calls by the numbers of another kind of machine.
    """
    which = _which_machine()
    return which, [
        instruction(LOAD, _ARCHITECTURE),
        instruction(JUMP_IF_EQUAL, list(_ARCHITECTURES.values())[which], 1, 0),
        instruction(RETURN, KILL),
        instruction(LOAD, _NUMBER),
        instruction(JUMP_IF_GREATER_OR_EQUAL, _FOREIGN_NUMBERS, 0, 1),
        instruction(RETURN, wrong_kind),
    ]


def _which_machine() -> int:
    machine = platform.machine()
    if machine not in _ARCHITECTURES:
        raise Unavailable(f"no filter is written for {machine}")
    return list(_ARCHITECTURES).index(machine)


def _filter(network: bool) -> bytes:
    which, start = prologue(wrong_kind=REFUSE | errno.EPERM)
    denied = [
        number
        for group, calls in _SYSTEM_CALLS.items()
        if not (network and group == "network")
        for numbers in calls.values()
        if (number := numbers[which]) is not None
    ]
    refuse = instruction(RETURN, REFUSE | errno.EPERM)
    code = [
        *start,
        # glibc falls back to clone, whose flags a filter can see
        instruction(JUMP_IF_EQUAL, _CLONE3[which], 0, 1),
        instruction(RETURN, REFUSE | errno.ENOSYS),
    ]
    for number in denied:
        code += [instruction(JUMP_IF_EQUAL, number, 0, 1), refuse]
    code += [
        instruction(JUMP_IF_EQUAL, _CLONE[which], 0, 3),
        instruction(LOAD, FIRST_ARGUMENT),
        instruction(JUMP_IF_ANY_BIT, CLONE_THREAD, 1, 0),
        refuse,
        instruction(RETURN, ALLOW),
    ]
    return b"".join(code)


def instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)
