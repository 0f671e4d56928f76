"""seccomp: from here on this process starts no program, makes no process, and, unless it must, opens no socket.

The filter is a short program for the kernel: look at the number of the system call, refuse those that are listed.
"""

import ctypes
import errno
import platform
import struct

from answerable.isolation.kernel import Unavailable, prctl

_PR_SET_SECCOMP, _MODE_FILTER = 22, 2
_LOAD, _JUMP_IF_EQUAL, _JUMP_IF_GREATER_OR_EQUAL, _JUMP_IF_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_ALLOW, _KILL, _REFUSE = 0x7FFF0000, 0x80000000, 0x00050000
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
_CLONE_THREAD = 0x00010000

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
    "network": {
        "socket": (41, 198),
        "connect": (42, 203),
        "bind": (49, 200),
        "listen": (50, 201),
        "accept": (43, 202),
        "accept4": (288, 242),
    },
}
"""Numbers on x86_64 and aarch64; nothing where one has no such call."""
_CLONE = (56, 220)
_CLONE3 = (435, 435)
_FOREIGN_NUMBERS = 0x40000000
"""From here on x86_64 counts the calls of its 32-bit variant."""


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))


def restrict(*, network: bool) -> None:
    code = _filter(network)
    program = _Program(len(code) // 8, code)
    prctl(_PR_SET_SECCOMP, _MODE_FILTER, ctypes.byref(program))


def _filter(network: bool) -> bytes:
    machine = platform.machine()
    if machine not in _ARCHITECTURES:
        raise Unavailable(f"no filter is written for {machine}")
    which = list(_ARCHITECTURES).index(machine)
    denied = [
        number
        for group, calls in _SYSTEM_CALLS.items()
        if not (network and group == "network")
        for numbers in calls.values()
        if (number := numbers[which]) is not None
    ]
    refuse = _instruction(_RETURN, _REFUSE | errno.EPERM)
    code = [
        _instruction(_LOAD, _ARCHITECTURE),
        _instruction(_JUMP_IF_EQUAL, _ARCHITECTURES[machine], 1, 0),
        _instruction(_RETURN, _KILL),
        _instruction(_LOAD, _NUMBER),
        _instruction(_JUMP_IF_GREATER_OR_EQUAL, _FOREIGN_NUMBERS, 0, 1),
        refuse,
        # glibc falls back to clone, whose flags a filter can see
        _instruction(_JUMP_IF_EQUAL, _CLONE3[which], 0, 1),
        _instruction(_RETURN, _REFUSE | errno.ENOSYS),
    ]
    for number in denied:
        code += [_instruction(_JUMP_IF_EQUAL, number, 0, 1), refuse]
    code += [
        _instruction(_JUMP_IF_EQUAL, _CLONE[which], 0, 3),
        _instruction(_LOAD, _FIRST_ARGUMENT),
        _instruction(_JUMP_IF_ANY_BIT, _CLONE_THREAD, 1, 0),
        refuse,
        _instruction(_RETURN, _ALLOW),
    ]
    return b"".join(code)


def _instruction(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)
