"""Takes memory in one of many ways, without any wall around it: `memory_process.py NAME`. Each takes a gigabyte."""

import ctypes
import mmap
import os
import sys
import threading
import time

MB = 1 << 20
TOTAL = 1024
GROWS_DOWN, PRIVATE, ANONYMOUS, POPULATE = 0x100, 2, 0x20, 0x8000


def touch(memory: "mmap.mmap | memoryview", size: int) -> None:
    for start in range(0, size, 4096):
        memory[start] = 1


def private() -> None:
    kept = [bytearray(b"x") * (32 * MB) for _ in range(TOTAL // 32)]
    time.sleep(60)
    del kept


def shared() -> None:
    memory = mmap.mmap(-1, TOTAL * MB)
    touch(memory, TOTAL * MB)
    time.sleep(60)


def shared_by_children() -> None:
    """Each process holds a little; together it is too much."""
    for _ in range(TOTAL // 32):
        if os.fork() == 0:
            touch(mmap.mmap(-1, 32 * MB), 32 * MB)
            time.sleep(60)
            os._exit(0)
    time.sleep(60)


def children_of_threads() -> None:
    def make() -> None:
        for _ in range(TOTAL // 64):
            if os.fork() == 0:
                kept = bytearray(b"x") * (64 * MB)
                time.sleep(60)
                os._exit(len(kept) > 0)

    thread = threading.Thread(target=make)
    thread.start()
    time.sleep(60)


def mapped_file_in_memory() -> None:
    file = os.memfd_create("x")
    os.ftruncate(file, TOTAL * MB)
    touch(mmap.mmap(file, TOTAL * MB), TOTAL * MB)
    time.sleep(60)


def a_stack_that_grows() -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mmap.restype = ctypes.c_void_p
    size = TOTAL * MB
    at = libc.mmap(None, ctypes.c_size_t(size), 3, PRIVATE | ANONYMOUS | GROWS_DOWN, -1, ctypes.c_long(0))
    touch(memoryview((ctypes.c_char * size).from_address(at)).cast("B"), size)
    time.sleep(60)


def all_at_once() -> None:
    """One call that takes everything."""
    mmap.mmap(-1, TOTAL * MB, flags=mmap.MAP_SHARED | ANONYMOUS | POPULATE)
    time.sleep(60)


def threads() -> None:
    kept = []
    for _ in range(8):
        threading.Thread(target=lambda: kept.append(bytearray(b"x") * (TOTAL // 8 * MB))).start()
    time.sleep(60)


if __name__ == "__main__":
    print("ready", flush=True)
    sys.stdin.readline()
    globals()[sys.argv[1]]()
