"""A worker of a source that was taken over: `bad_worker.py MODE -I -m MODULE DESCRIPTOR PARENT`.

Opens as a good one does, and misbehaves when it is asked. Ends with its parent, whose end of the line then closes.
"""

import json
import mmap
import os
import socket
import struct
import sys
import time

MODE, DESCRIPTOR = sys.argv[1], int(sys.argv[-2])
line = socket.socket(fileno=DESCRIPTOR)


def framed(message: object) -> bytes:
    body = message if isinstance(message, bytes) else json.dumps(message).encode()
    return struct.pack("!I", len(body)) + body


def read() -> bytes:
    return exactly(struct.unpack("!I", exactly(4))[0])


def exactly(size: int) -> bytes:
    """A descriptor that comes along ends what is received at once."""
    data = b""
    while len(data) < size:
        data += line.recv(size - len(data))
    return data


def without_end(data: bytes) -> None:
    data *= max(1, 1_000_000 // len(data))
    while True:
        line.sendall(data)


def stay() -> None:
    while os.getppid() == int(sys.argv[-1]):
        time.sleep(0.05)


read()
if MODE == "never opens":
    stay()
if MODE == "opens with a flood":
    without_end(framed({"id": 0, "part": []}))
if MODE == "opens with nonsense":
    line.sendall(framed([1, 2]))
line.sendall(framed({"id": 0, "ready": {}}))
if MODE == "never reads":
    stay()
read()
match MODE:
    case "never answers":
        stay()
    case "empty parts":
        without_end(framed({"id": 1, "part": []}))
    case "large parts":
        without_end(framed({"id": 1, "part": ["x" * 1_000_000]}))
    case "answers to others":
        without_end(framed({"id": 2, "done": 1}))
    case "no frames at all":
        without_end(b"\0" * 1_000_000)
    case "many values":
        line.sendall(framed(b'{"id":1,"done":[' + b"[]," * 5_000_000 + b"[]]}"))
    case "deep":
        line.sendall(framed(b'{"id":1,"done":' + b"[" * 200_000 + b"]" * 200_000 + b"}"))
    case "a long promise":
        line.sendall(struct.pack("!I", 0xFFFFFFFF) + b"x")
    case "a promise that is not held":
        line.sendall(struct.pack("!I", 1_000_000) + b"x")
    case "a trickle":
        line.sendall(struct.pack("!I", 1_000_000))
        while True:
            line.sendall(b" ")
            time.sleep(0.02)
    case "shared memory":
        shared = mmap.mmap(-1, 4 << 30)
        for place in range(0, len(shared), 4096):
            shared[place] = 1
    case "children":
        for _ in range(8):
            if os.fork() == 0:
                held = b"x" * (200 << 20)
                time.sleep(60)
                os._exit(0)
        stay()
    case "not JSON":
        line.sendall(framed(b"\xff\xfe{"))
    case "a wrong date":
        line.sendall(framed({"id": 1, "done": {"$date": "tomorrow"}}))
    case "an unknown error":
        line.sendall(framed({"id": 1, "error": {"kind": ["x"], "code": 1}}))
    case "describes what it has not written":
        told = {"columns": [["a", "integer"]], "rows": 5, "bytes": 12345, "milliseconds": 1, "plain_rows": None}
        line.sendall(framed({"id": 1, "done": told}))
    case "describes nothing known":
        line.sendall(framed({"id": 1, "done": {"columns": [["a", "no type"]], "rows": "many", "bytes": 0}}))
    case "hangs up":
        line.close()
    case "answers twice":
        line.sendall(framed({"id": 1, "done": [1]}) + framed({"id": 1, "done": [2]}))
        read()
        line.sendall(framed({"id": 2, "done": [3]}))
stay()
