#!/usr/bin/python3
"""bad-gather.py SOCKET SCRIPT: a gather that says what it likes, for one dp-worker at ipc://SOCKET. SCRIPT is Python, and has

hello(lap=0, **fields)  greets the worker, as the gather of a run that goes on from that lap; returns its answer
lap(number, **fields)   gives it that lap; returns its answer, whose public fields go with the next one
session()               from here on it is another gather of the same run, as one that was killed and started again
run()                   of another run
end(), send(bytes, …)   the end frame; anything else
roster(numbers)         the fresh numbers of the masks of all sites; that of the worker is "fresh" of its answer to hello
numbers(array)          of an answer, as a list; matrix(numbers): one row, for a frame

An answer is a dict, or None if the worker has hung up. It is what the frame holds, with "lap" of its header in "asked"."""
import os
import socket
import struct
import sys

import msgpack

GREETING = b"\xff" + bytes(8) + b"\x7f" + b"\x03\x01" + b"NULL".ljust(20, b"\0") + bytes(32)
JOIN, FRAME, ROSTER = 16, 17, 20
KEPT = ("method", "family", "loss", "loss_width", "lambda", "scale", "classes", "labels", "label_scale", "label_offset", "data", "population",
        "private_preprocessing", "row_norm", "bound", "intercept")
LAPS, SHARD, SHARDS = int(os.environ.get("LAPS", 40)), 1, int(os.environ.get("SHARDS", 2))
SECONDS = float(os.environ.get("SECONDS_TO_WAIT", 20))


def entry(key, value):
    return bytes([len(key)]) + key + struct.pack(">I", len(value)) + value


def part(body, more):
    return bytes([2 | more]) + struct.pack(">Q", len(body)) + body


def matrix(numbers):
    return msgpack.ExtType(1, bytes([2, 2]) + struct.pack("<QQ", 1, len(numbers)) + struct.pack(f"<{len(numbers)}d", *numbers))


def numbers(array):
    code, dimensions = array.data[:2]
    count = 1
    for size in struct.unpack_from(f"<{dimensions}Q", array.data, 2):
        count *= size
    return list(struct.unpack_from(f"<{count}{' fdiq'[code]}", array.data, 2 + 8 * dimensions))


class Gather:
    def __init__(self, path, shard=SHARD, shards=SHARDS):
        self.shard, self.shards = shard, shards
        server = socket.socket(socket.AF_UNIX)
        server.bind(path)
        server.listen()
        server.settimeout(SECONDS)
        self.at, _ = server.accept()
        self.at.settimeout(SECONDS)
        self.at.sendall(GREETING)
        self.take(64)
        self.at.sendall(self.command(b"\x05READY" + entry(b"Socket-Type", b"ROUTER")))
        self.sequence, self.kept = 1, {}
        self.run()
        self.session()

    @staticmethod
    def command(body):
        return bytes([4, len(body)]) + body

    def take(self, count):
        data = b""
        while len(data) < count:
            more = self.at.recv(count - len(data))
            if not more:
                raise ConnectionError("closed")
            data += more
        return data

    def run(self):
        self.name = os.urandom(16)

    def session(self):
        self.own = b"\1" + os.urandom(15)

    def message(self):
        """The parts of the next message; commands are passed over."""
        parts = []
        while True:
            flags = self.take(1)[0]
            size = struct.unpack(">Q", self.take(8))[0] if flags & 2 else self.take(1)[0]
            body = self.take(size)
            if flags & 4:
                continue
            parts.append(body)
            if not flags & 1:
                return parts

    def answer(self):
        """What the worker says next, other than that it joins."""
        try:
            while True:
                parts = self.message()
                head = struct.unpack("<4sB3x16s16sQqiiq", parts[0])
                if head[1] == FRAME:
                    frame = msgpack.unpackb(parts[1], raw=False)
                    frame["asked"], frame["fresh"] = head[5], head[8]
                    return frame
        except (ConnectionError, TimeoutError):
            return None

    def send(self, body, lap=0, credit=0, run=None, kind=FRAME):
        self.sequence += 1
        head = struct.pack("<4sB3x16s16sQqiiq", b"dpl\1", kind, self.name if run is None else run, self.own, self.sequence, lap, self.shard,
                           self.shards, credit)
        try:
            self.at.sendall(part(head, 1) + part(body if isinstance(body, bytes) else msgpack.packb(body), 0))
        except OSError:
            pass

    def hello(self, lap=0, **fields):
        frame = {"kind": "hello", "format": 2, "software": "dpline", "run": self.name.hex(), "shard": self.shard, "shards": self.shards, "stage": 0,
                 "laps": LAPS}
        if "records" in fields:
            frame = {"kind": "hello", "records": fields.pop("records"), **frame}
        self.send({**frame, **fields}, lap)
        return self.answer()

    def lap(self, number, credit=0, **fields):
        frame = {"kind": "lap", "lap": number, "label": "released", "records": [], "laps": LAPS, "n": 1000, "first_row": 0, **self.kept}
        self.send({**frame, **fields}, number, credit)
        answer = self.answer()
        if answer is not None and answer["kind"] == "lap":
            self.kept = {key: answer[key] for key in KEPT if key in answer}
        return answer

    def roster(self, fresh):
        self.send(struct.pack(f"<{len(fresh)}q", *fresh), kind=ROSTER)

    def end(self):
        self.send({"kind": "end"})
        return self.answer()


if __name__ == "__main__":
    gather = Gather(sys.argv[1])
    hello, lap, session, run, end, send, roster = gather.hello, gather.lap, gather.session, gather.run, gather.end, gather.send, gather.roster
    exec(sys.argv[2])
