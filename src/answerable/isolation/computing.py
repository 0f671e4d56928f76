"""seccomp, the other way round: from here on this process may compute, use files that are open to it, and nothing else.

Every system call that is not listed is refused (EPERM): none makes a process or starts a program, opens a socket that
could reach anyone, looks at another process, changes the machine, or makes memory executable that is not a library's.
Memory that could be shared, and stacks beside the process's own, are not given either (ENOMEM): the limit on data does
not count them.
"""

import errno
import os

from answerable.isolation import seccomp
from answerable.isolation.seccomp import instruction

_ALLOWED = """
    # memory
    brk:12:214 munmap:11:215 mremap:25:216 madvise:28:233 mincore:27:232 msync:26:227 membarrier:324:283
    get_mempolicy:239:236
    # files
    read:0:63 write:1:64 readv:19:65 writev:20:66 pread64:17:67 pwrite64:18:68 preadv:295:69 pwritev:296:70
    lseek:8:62 open:2: openat:257:56 creat:85: close:3:57 close_range:436:436 dup:32:23 dup2:33: dup3:292:24 stat:4:
    fstat:5:80 lstat:6: newfstatat:262:79 statx:332:291 access:21: faccessat:269:48 faccessat2:439:439 readlink:89:
    readlinkat:267:78 getdents:78: getdents64:217:61 getcwd:79:17 chdir:80:49 fchdir:81:50 mkdir:83: mkdirat:258:34
    rmdir:84: unlink:87: unlinkat:263:35 rename:82: renameat:264:38 renameat2:316:276 ftruncate:77:46
    fallocate:285:47 fadvise64:221:223 fsync:74:82 fdatasync:75:83 flock:73:32 umask:95:166
    statfs:137:43 fstatfs:138:44 copy_file_range:326:285 sendfile:40:71
    # waiting
    poll:7: ppoll:271:73 select:23: pselect6:270:72 epoll_create:213: epoll_create1:291:20 epoll_ctl:233:21
    epoll_wait:232: epoll_pwait:281:22 eventfd:284: eventfd2:290:19 pipe:22: pipe2:293:59 timerfd_create:283:85
    timerfd_settime:286:86 timerfd_gettime:287:87 nanosleep:35:101 clock_nanosleep:230:115 pause:34:
    recvmsg:47:212 recvfrom:45:207
    # threads
    futex:202:98 futex_waitv:449:449 set_tid_address:218:96 set_robust_list:273:99 rseq:334:293 sched_yield:24:124
    sched_getaffinity:204:123 sched_getparam:143:121 sched_getscheduler:145:120 getcpu:309:168 exit:60:93
    exit_group:231:94 restart_syscall:219:128
    # signals
    rt_sigaction:13:134 rt_sigprocmask:14:135 rt_sigreturn:15:139 rt_sigpending:127:136 rt_sigsuspend:130:133
    rt_sigtimedwait:128:137 sigaltstack:131:132 alarm:37: setitimer:38:103 getitimer:36:102
    # itself
    getpid:39:172 getppid:110:173 gettid:186:178 getuid:102:174 geteuid:107:175 getgid:104:176 getegid:108:177
    getresuid:118:148 getresgid:120:150 getgroups:115:158 getpgrp:111: getpgid:121:155 getsid:124:156
    getrusage:98:165 times:100:153 getrandom:318:278 uname:63:160 sysinfo:99:179 time:201: gettimeofday:96:169
    clock_gettime:228:113 clock_getres:229:114 getrlimit:97:163 getpriority:140:141 capget:125:90
"""
"""By name: the number on x86_64, and on aarch64 if it has one."""
_ALLOWED_ON_OWN_FILES = "chmod:90: fchmod:91:52 fchmodat:268:53 utimensat:280:88 truncate:76:45"
"""Landlock does not cover rights and times: where it is the only wall, the files of the host would be changed."""

_BECOME_ANOTHER = " execve:59:221 arch_prctl:158:"
"""And what its loader needs."""

_CLONE, _CLONE3 = (56, 220), (435, 435)
_MMAP, _MPROTECT, _PKEY_MPROTECT = (9, 222), (10, 226), (329, 288)
_SOCKETPAIR, _SENDTO = (53, 199), (44, 206)
_AF_UNIX, _STREAMS = 1, (1, 0x801, 0x80001, 0x80801)
"""Streams of both ends, also such as do not wait or are closed with a program. Datagrams could be sent elsewhere."""
_NEW_NAMESPACES = 0x7E020080
_EXECUTABLE, _WRITABLE = 4, 2
_SHARED, _ANONYMOUS, _GROWS = 1, 0x20, 0x100
_ONLY_WITH: dict[tuple[int, int], tuple[int, tuple[int, ...]]] = {
    (157, 167): (0, (3, 15, 16, 39, 42, 0x53564D41)),  # prctl: names of threads and of memory
    (16, 29): (1, (0x5401, 0x5413, 0x541B, 0x5421, 0x5451)),  # ioctl: whether it is a terminal; how a file is read
    (72, 25): (1, (0, 1, 2, 3, 4, 5, 6, 7, 1030, 1032)),  # fcntl: copies, flags and locks
    (302, 261): (0, (0,)),  # prlimit64: its own limits
}
"""By numbers: which argument must have which value."""
_ONLY_TO_ITSELF = ((62, 129), (234, 131))
"""kill and tgkill, whose first argument is a process."""

_ALLOW = instruction(seccomp.RETURN, seccomp.ALLOW)
_REFUSE = instruction(seccomp.RETURN, seccomp.REFUSE | errno.EPERM)
_NO_MEMORY = instruction(seccomp.RETURN, seccomp.REFUSE | errno.ENOMEM)


def restrict_to_computing(*, own_files: bool, programs: bool = False, libraries: bool = True) -> None:
    """Restricts this process and every thread that it has or makes. `own_files`: those of the host are not in sight.
    `programs`: it may become another program, in the same process; which ones, Landlock must say. `libraries`: it may
    load more of them; without, nothing that is mapped from now on can be executed."""
    more = (_ALLOWED_ON_OWN_FILES if own_files else "") + (_BECOME_ANOTHER if programs else "")
    seccomp.install(_filter(os.getpid(), _ALLOWED + more, libraries), every_thread=True)


def _filter(itself: int, allowed: str, libraries: bool) -> bytes:
    which, start = seccomp.prologue(wrong_kind=seccomp.KILL)
    code = [*start, *_if_number(_CLONE3[which], [instruction(seccomp.RETURN, seccomp.REFUSE | errno.ENOSYS)])]
    for number in _plain_numbers(allowed, which):
        code += _if_number(number, [_ALLOW])
    for numbers, (argument, values) in _ONLY_WITH.items():
        code += _if_number(numbers[which], _one_of(argument, values))
    for numbers in _ONLY_TO_ITSELF:
        code += _if_number(numbers[which], _one_of(0, (itself,)))
    code += _if_number(_SOCKETPAIR[which], [*_require(_load(0), _AF_UNIX), *_require(_load(1), *_STREAMS), _ALLOW])
    code += _if_number(_SENDTO[which], [*_require(_load(4), 0), *_require(_load(4, upper=True), 0), _ALLOW])
    code += _if_number(_CLONE[which], _a_thread())
    new_code = _from_a_file() if libraries else _without_bits(2, _EXECUTABLE)
    code += _if_number(_MMAP[which], [*_counted(), *new_code])
    for numbers in (_MPROTECT, _PKEY_MPROTECT):
        code += _if_number(numbers[which], _without_bits(2, _EXECUTABLE))
    return b"".join([*code, _REFUSE])


def _plain_numbers(allowed: str, which: int) -> list[int]:
    entries = [word.split(":") for line in allowed.splitlines() if "#" not in line for word in line.split()]
    return [int(entry[1 + which]) for entry in entries if entry[1 + which]]


def _if_number(number: int, then: list[bytes]) -> list[bytes]:
    """`then` must end in a verdict; the number is loaded before and after."""
    return [instruction(seccomp.JUMP_IF_EQUAL, number, 0, len(then)), *then]


def _load(argument: int, *, upper: bool = False) -> bytes:
    """Half of it, which is all that there is of a number."""
    return instruction(seccomp.LOAD, seccomp.FIRST_ARGUMENT + 8 * argument + 4 * upper)


def _one_of(argument: int, values: tuple[int, ...]) -> list[bytes]:
    return [*_require(_load(argument), *values), _ALLOW]


def _require(load: bytes, *values: int) -> list[bytes]:
    """Goes on behind it if what is loaded is one of them."""
    checks = [instruction(seccomp.JUMP_IF_EQUAL, value, len(values) - i) for i, value in enumerate(values)]
    return [load, *checks, _REFUSE]


def _without_bits(argument: int, bits: int) -> list[bytes]:
    return [_load(argument), instruction(seccomp.JUMP_IF_ANY_BIT, bits, 0, 1), _REFUSE, _ALLOW]


def _a_thread() -> list[bytes]:
    return [
        _load(0),
        instruction(seccomp.JUMP_IF_ANY_BIT, _NEW_NAMESPACES, 0, 1),
        _REFUSE,
        instruction(seccomp.JUMP_IF_ANY_BIT, seccomp.CLONE_THREAD, 0, 1),
        _ALLOW,
        _REFUSE,
    ]


def _counted() -> list[bytes]:
    """Goes on behind it with memory that the limit on data counts, and with files."""
    return [
        _load(3),
        instruction(seccomp.JUMP_IF_ANY_BIT, _GROWS, 0, 1),
        _NO_MEMORY,
        instruction(seccomp.JUMP_IF_ANY_BIT, _ANONYMOUS, 0, 2),
        instruction(seccomp.JUMP_IF_ANY_BIT, _SHARED, 0, 1),
        _NO_MEMORY,
    ]


def _from_a_file() -> list[bytes]:
    """Executable memory comes from a file, and is not writable."""
    return [
        _load(2),
        instruction(seccomp.JUMP_IF_ANY_BIT, _EXECUTABLE, 1, 0),
        _ALLOW,
        instruction(seccomp.JUMP_IF_ANY_BIT, _WRITABLE, 0, 1),
        _REFUSE,
        *_without_bits(3, _ANONYMOUS),
    ]
