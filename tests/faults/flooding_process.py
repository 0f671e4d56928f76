"""The process that should hold a session of Monty, taken over: it says that it is ready, and then sends without end.

Started as `flooding_process.py FILE … DESCRIPTOR PARENT`; what it repeats is in the file.
"""

import socket
import struct
import sys
from pathlib import Path

READY = b'{"ready": "walls"}'

connection = socket.socket(fileno=int(sys.argv[-2]))
connection.sendall(struct.pack("!I", len(READY)) + READY)
connection.recv(1)
repeated = Path(sys.argv[1]).read_bytes()
repeated *= max(1, 1_000_000 // len(repeated))
while True:
    connection.sendall(repeated)
