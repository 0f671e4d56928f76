"""Landlock: from here on this process and its threads see only the files that are named, and no TCP port but one."""

import ctypes
import os
import stat
from collections.abc import Sequence

from answerable.isolation.kernel import system_call

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG = 1
_RULE_PATH, _RULE_PORT = 1, 2

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE = 1 << 14
_MAKE_FILE, _REMOVE_FILE = 1 << 8, 1 << 5
_READ = _READ_FILE | _READ_DIR
_WRITE = _READ | _WRITE_FILE | _MAKE_FILE | _REMOVE_FILE | _TRUNCATE
_MAKE_DIR, _REMOVE_DIR, _MOVE = 1 << 7, 1 << 4, 1 << 13
_SCRATCH = _WRITE | _MAKE_DIR | _REMOVE_DIR | _MOVE
_ON_A_FILE = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE

_KNOWN_BY_VERSION = ((1, (1 << 13) - 1), (2, 1 << 13), (3, 1 << 14), (5, 1 << 15))
"""Rights on files, by the version of Landlock that brought them."""
_CONNECT_TCP, _BIND_TCP = 1 << 1, 1
_ABSTRACT_SOCKETS, _SIGNALS = 1, 1 << 1


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathRule(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


class _PortRule(ctypes.Structure):
    _fields_ = (("allowed", ctypes.c_uint64), ("port", ctypes.c_uint64))


def version() -> int:
    return system_call(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION_FLAG))


def restrict(
    read: Sequence[str],
    write: Sequence[str],
    port: int | None,
    scratch: Sequence[str] = (),
    run: Sequence[str] = (),
) -> int:
    """Returns the version of Landlock in force. In `scratch` there may be folders too; `run` are programs."""
    known = version()
    files = 0
    for since, rights in _KNOWN_BY_VERSION:
        files |= rights if known >= since else 0
    ruleset = _new_ruleset(known, files)
    try:
        for path in read:
            _allow_path(ruleset, path, _READ & files)
        for path in write:
            _allow_path(ruleset, path, _WRITE & files)
        for path in scratch:
            _allow_path(ruleset, path, _SCRATCH & files)
        for path in run:
            _allow_path(ruleset, path, (_READ | _EXECUTE) & files)
        if port is not None and known >= 4:
            rule = _PortRule(_CONNECT_TCP, port)
            _add(ruleset, _RULE_PORT, rule)
        system_call(_RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint32(0))
    finally:
        os.close(ruleset)
    return known


def _new_ruleset(known: int, files: int) -> int:
    network = _CONNECT_TCP | _BIND_TCP if known >= 4 else 0
    scoped = _ABSTRACT_SOCKETS | _SIGNALS if known >= 6 else 0
    attributes = _Ruleset(files, network, scoped)
    size = 24 if known >= 6 else 16 if known >= 4 else 8
    return system_call(_CREATE_RULESET, ctypes.byref(attributes), ctypes.c_size_t(size), ctypes.c_uint32(0))


def _allow_path(ruleset: int, path: str, rights: int) -> None:
    try:
        parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what cannot be reached needs no permission
    try:
        allowed = rights if stat.S_ISDIR(os.fstat(parent).st_mode) else rights & _ON_A_FILE
        _add(ruleset, _RULE_PATH, _PathRule(allowed, parent))
    finally:
        os.close(parent)


def _add(ruleset: int, kind: int, rule: ctypes.Structure) -> None:
    system_call(_ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(kind), ctypes.byref(rule), ctypes.c_uint32(0))
