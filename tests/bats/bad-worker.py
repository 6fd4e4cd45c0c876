#!/usr/bin/python3
"""bad-worker.py SOCKET K/N SCRIPT: a worker that says what it likes to the dp-gather at ipc://SOCKET. SCRIPT is Python; of it
answer(frame) gets each frame, a dict, and returns the answer: a dict, bytes, or None for none. It ends when the gather does."""
import os
import socket
import struct
import sys

import msgpack

GREETING = b"\xff" + bytes(8) + b"\x7f" + b"\x03\x01" + b"NULL".ljust(20, b"\0") + bytes(32)
JOIN, FRAME = 16, 17
SESSION = b"\1" + os.urandom(15)


def entry(key, value):
    return bytes([len(key)]) + key + struct.pack(">I", len(value)) + value


def part(body, more=0):
    return bytes([2 | more]) + struct.pack(">Q", len(body)) + body


def take(count):
    data = b""
    while len(data) < count:
        more = at.recv(count - len(data))
        if not more:
            sys.exit(0)
        data += more
    return data


def message():
    parts = []
    while True:
        flags = take(1)[0]
        body = take(struct.unpack(">Q", take(8))[0] if flags & 2 else take(1)[0])
        if not flags & 4:
            parts.append(body)
            if not flags & 1:
                return parts


def send(kind, body=None, run=bytes(16), sequence=0, lap=0):
    head = struct.pack("<4sB3x16s16sQqiiq", b"dpl\1", kind, run, SESSION, sequence, lap, shard, shards, 0)
    at.sendall(part(head) if body is None else part(head, 1) + part(body))


shard, shards = map(int, sys.argv[2].split("/"))
at = socket.socket(socket.AF_UNIX)
at.settimeout(30)
at.connect(sys.argv[1])
at.sendall(GREETING)
take(64)
ready = b"\x05READY" + entry(b"Socket-Type", b"DEALER") + entry(b"Identity", SESSION)
at.sendall(bytes([4, len(ready)]) + ready)
take(take(2)[1])  # what is sent before this command is lost
exec(sys.argv[3])
send(JOIN)
while True:
    parts = message()
    _, kind, run, _, sequence, lap, *_ = struct.unpack("<4sB3x16s16sQqiiq", parts[0])
    if kind == FRAME:
        said = answer(msgpack.unpackb(parts[1], raw=False))
        if said is not None:
            send(FRAME, said if isinstance(said, bytes) else msgpack.packb(said), run, sequence, lap)
