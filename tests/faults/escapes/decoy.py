"""A process of the host that minds its own business. It writes down each signal that it gets.

Arguments: a secret, where to write, and a file to hold open. Prints the address of the secret, and the descriptor.
"""

import ctypes
import os
import signal
import sys

secret, record, held_file = sys.argv[1:]
held = os.open(held_file, os.O_RDONLY)
buffer = ctypes.create_string_buffer(secret.encode())


def write_down(number: int, _frame: object) -> None:
    with open(record, "a") as file:
        file.write(f"{number}\n")


for number in (signal.SIGWINCH, signal.SIGURG, signal.SIGCONT, signal.SIGUSR1, signal.SIGHUP, signal.SIGTERM):
    signal.signal(number, write_down)
print(ctypes.addressof(buffer), held, flush=True)
sys.stdin.read()  # until the suite closes it
