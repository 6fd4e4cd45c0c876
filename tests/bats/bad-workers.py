#!/usr/bin/python3
"""bad-workers.py forward FROM TO FILE: passes on what comes to port FROM of this host to port TO and back, and keeps in FILE what
went there first.
bad-workers.py attack PORT MESSAGES [FILE]: peers of a dp-gather without keys that are nobody it waits for: 200 that say nothing,
half of a greeting or half of a handshake, as long as this runs; connections of other protocols; and so many messages of several
kinds: random bytes, well-formed headers that mean nothing, and, with FILE, what a worker has sent, from somebody else: as it
was, as answers to other laps, cut short; and from that very worker's id, as if it had come once more."""
import random
import socket
import struct
import sys
import threading

GREETING = b"\xff" + bytes(8) + b"\x7f" + b"\x03\x01" + b"NULL".ljust(20, b"\0") + bytes(32)
OTHERS = [b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"SSH-2.0-x\r\n",
          GREETING[:12] + b"CURVE".ljust(20, b"\0") + bytes(32) + b"\x04\xc8\x05HELLO" + bytes(194),
          GREETING[:12] + b"PLAIN".ljust(20, b"\0") + bytes(32) + b"\x04\x0e\x05HELLO\x03foo\x03bar"]
KEPT = 1 << 18  # bytes of a worker that are enough
SESSION = slice(24, 40)  # of a header
random.seed(1)


def connect(port):
    return socket.create_connection(("127.0.0.1", port), 30)


def forward(listen, port, path):
    server = socket.create_server(("127.0.0.1", listen))
    kept = open(path, "wb")

    def pump(source, target, keep):
        try:
            while data := source.recv(65536):
                if keep and kept.tell() < KEPT:
                    kept.write(data)
                    kept.flush()
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            source.close()
            target.close()

    first = True
    while True:
        here, _ = server.accept()
        there = socket.create_connection(("127.0.0.1", port))
        threading.Thread(target=pump, args=(here, there, first), daemon=True).start()
        threading.Thread(target=pump, args=(there, here, False), daemon=True).start()
        first = False


def frame(body, flags=0):
    if len(body) < 256:
        return bytes([flags, len(body)]) + body
    return bytes([flags | 2]) + struct.pack(">Q", len(body)) + body


def message(*parts):
    return b"".join(frame(part, 1 if i + 1 < len(parts) else 0) for i, part in enumerate(parts))


def ready(name):
    return frame(b"\x05READY\x0bSocket-Type" + struct.pack(">I", 6) + b"DEALER\x08Identity" + struct.pack(">I", len(name)) + name, 4)


def header(kind, run, session, sequence, lap, shard, shards):
    return struct.pack("<4sB3x16s16sQqiiq", b"dpl\1", kind, run, session, sequence, lap, shard, shards, 0)


def send(port, bytes_, hello=b"", answer=0):
    """All of it, after so many bytes of an answer to hello; until the other end has read that and hangs up, as it may at any
    time."""
    try:
        with connect(port) as s:
            s.sendall(hello)
            while answer > 0 and (data := s.recv(answer)):
                answer -= len(data)
            s.sendall(bytes_)
            s.shutdown(socket.SHUT_WR)
            while s.recv(65536):
                pass
    except TimeoutError:
        raise
    except OSError:
        pass


def send_messages(port, name, messages):
    send(port, b"".join(messages), GREETING + ready(name), len(GREETING + ready(b"")))


def fresh():
    return b"\1" + random.randbytes(15)


def recorded(path):
    """The messages of the worker, each a list of parts; and all it sent, from its first byte."""
    with open(path, "rb") as f:
        whole = f.read()
    found, parts, at, end = [], [], 64, 64
    while at + 9 < len(whole):
        long = whole[at] & 2
        size = struct.unpack(">Q", whole[at + 1:at + 9])[0] if long else whole[at + 1]
        begin = at + (9 if long else 2)
        if begin + size > len(whole):
            break
        if not whole[at] & 4:
            parts.append(whole[begin:begin + size])
            if not whole[at] & 1:
                found.append(parts)
                parts = []
        flags, at = whole[at], begin + size
        if not flags & 1:
            end = at
    return found, whole[:end]


def idle(port):
    part = [b"", GREETING[:5], GREETING, GREETING + ready(fresh())[:9]]
    held = [connect(port) for _ in range(200)]
    for i, s in enumerate(held):
        s.sendall(part[i % len(part)])
    return held


def garbage(port, count):
    for name in (b"", b"n", fresh(), random.randbytes(200)):
        send_messages(port, name, [message(*[random.randbytes(random.randrange(100)) for _ in range(random.randrange(1, 5))])
                                   for _ in range(count // 4)])


def headers(port, count, run):
    for _ in range(4):
        name = fresh()
        send_messages(port, name, [message(header(random.choice([0, 1, 2, 16, 17, 18, 19, 99]), run if i % 2 else fresh(),
                                                  name if i % 8 else fresh(), random.getrandbits(64), random.getrandbits(20) - 1,
                                                  random.randrange(4), 3), *[random.randbytes(60)] * random.randrange(3))
                                   for i in range(count // 4)])


def packed(number):
    return bytes([number]) if number < 128 else b"\xcc" + bytes([number]) if number < 256 else struct.pack(">BH", 0xcd, number)


def answer_to(lap, found):
    """What the worker has answered to some lap, made into an answer to another one."""
    head, body = found[2 + lap % (len(found) - 2)]
    sequence, before = struct.unpack_from("<Qq", head, 40)
    head = bytearray(head)
    struct.pack_into("<Qq", head, 40, sequence - before + lap, lap)
    return head, body.replace(b"\xa3lap" + packed(before), b"\xa3lap" + packed(lap))


def replay(port, count, found):
    for turn in range(4):
        name, said = fresh(), []
        for i in range(count // 4):
            head, *body = found[i % len(found)]
            if turn == 1:  # one of them answers what is asked now
                head, *body = answer_to(1 + i % 3999, found)
            head = bytearray(head)
            head[SESSION] = name
            if turn == 2:
                body = [part[:random.randrange(len(part) + 1)] for part in body]
            said.append(message(bytes(head), *body))
        send_messages(port, name, said)


def attack(port, count, path=None):
    found, whole = recorded(path) if path else ([], b"")
    held = idle(port)
    for i in range(200):
        send(port, OTHERS[i % 8] if i % 8 < len(OTHERS) else random.randbytes(random.randrange(1, 400)))
    garbage(port, count // 4)
    headers(port, count // 4, found[-1][0][8:24] if found else fresh())
    if found:
        replay(port, count // 2, found)
        for _ in range(3):
            send(port, whole)
    for s in held:
        s.close()
    print(f"{len(held)} idle, {len(found)} messages recorded")


if sys.argv[1] == "forward":
    forward(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
else:
    attack(int(sys.argv[2]), int(sys.argv[3]), *sys.argv[4:])
