#!/usr/bin/python3
"""zmtp.py HOST:PORT WHAT [COUNT [FILE]]: a bad peer of a ZeroMQ port, with nothing but a socket.

scan      COUNT connections that send random bytes, or what other protocols and older kinds of this one begin with
idle      COUNT connections that say nothing, half of a greeting, or half of a handshake, until standard input ends
lengths   COUNT connections, with messages that state 2^30 and 2^62 bytes and stop
garbage   COUNT messages of random bytes, some of several parts, from peers with and without a name
headers   COUNT messages with headers of all types and random contents
replay    the frames of FILE, COUNT times over, as the run that they are of: in turn, out of turn, and ends and errors
serve     binds instead, greets whoever comes as a ROUTER would, and writes all bytes that come to FILE, until it is killed
"""
import random, socket, struct, sys

GREETING = b"\xff" + bytes(8) + b"\x7f" + b"\x03\x01" + b"NULL".ljust(20, b"\0") + bytes(32)
OFFER, ASK, HERE, DATA, TAKEN, BYE = range(1, 7)
random.seed(1)


def frame(body, flags=0):
    if len(body) < 256:
        return bytes([flags, len(body)]) + body
    return bytes([flags | 2]) + struct.pack(">Q", len(body)) + body


def message(*parts):
    return b"".join(frame(part, 1 if i + 1 < len(parts) else 0) for i, part in enumerate(parts))


def ready(kind, name):
    def entry(key, value):
        return bytes([len(key)]) + key + struct.pack(">I", len(value)) + value

    return frame(b"\x05READY" + entry(b"Socket-Type", kind) + entry(b"Identity", name), 4)


def header(type, run, session, sequence=0, lap=0, shard=0, shards=0, credit=0):
    return struct.pack("<4sB3x16s16sQqiiq", b"dpl\1", type, run, session, sequence, lap, shard, shards, credit)


def connect(address):
    host, port = address.rsplit(":", 1)
    return socket.create_connection((host, int(port)), 10)


def take(s, count):
    data = b""
    while len(data) < count:
        more = s.recv(count - len(data))
        if not more:
            raise ConnectionError("closed")
        data += more
    return data


def greet(address, name):
    """A connection after the handshake: what comes with it would get lost where the other end asks who may come."""
    s = connect(address)
    s.settimeout(5)
    s.sendall(GREETING)
    take(s, 64)
    s.sendall(ready(b"DEALER", name))
    take(s, take(s, 2)[1])
    return s


def talk(address, name, messages):
    """Sends the messages; the other end may hang up on us at any time."""
    try:
        s = greet(address, name)
        s.sendall(b"".join(messages))
        s.shutdown(socket.SHUT_WR)
        while s.recv(65536):
            pass
    except OSError:
        pass


def scan(address, count):
    starts = [b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"\x01\x00\x05\x00hello",
              b"\xff\0\0\0\0\0\0\0\x01\x7f\x01\x00\x00\x05\x00", b"SSH-2.0-x\r\n", GREETING[:10] + b"\x02" + bytes(40)]
    for i in range(count):
        with connect(address) as s:
            s.sendall(starts[i % 8] if i % 8 < len(starts) else random.randbytes(random.randrange(1, 400)))


def idle(address, count):
    part = [b"", GREETING[:5], GREETING, GREETING + ready(b"DEALER", b"x" * 16)[:9]]
    held = [connect(address) for _ in range(count)]
    for i, s in enumerate(held):
        s.sendall(part[i % len(part)])
    print("held", flush=True)
    sys.stdin.read()


def lengths(address, count):
    held = []
    for i in range(count):
        try:
            held.append(greet(address, random.randbytes(16)))
            held[-1].sendall(b"\x02" + struct.pack(">Q", 1 << (30 if i % 2 else 62)) + bytes(1000))
        except OSError:
            pass
    print("held", flush=True)
    sys.stdin.read()


def garbage(address, count):
    for name in (b"", b"n", random.randbytes(16), random.randbytes(16)):
        talk(address, name, [message(*[random.randbytes(random.randrange(100)) for _ in range(random.randrange(1, 5))])
                             for _ in range(count // 4)])


def headers(address, count):
    for _ in range(4):
        name = b"\1" + random.randbytes(15)
        talk(address, name, [message(header(random.randrange(256), random.randbytes(16), name if i % 2 else random.randbytes(16),
                                            random.getrandbits(64), random.getrandbits(40), 0, 3, random.getrandbits(60)),
                                     *[random.randbytes(random.randrange(60))] * random.randrange(3)) for i in range(count // 4)])


def frames_of(path):
    import msgpack
    data = open(path, "rb").read()
    unpacker, begin, found = msgpack.Unpacker(raw=False, strict_map_key=False), 0, []
    unpacker.feed(data)
    for f in unpacker:
        found.append((f, data[begin:unpacker.tell()]))
        begin = unpacker.tell()
    return found


def replay(address, count, path):
    import msgpack
    found = frames_of(path)
    run = bytes.fromhex(found[0][0].get("run", "0" * 32))
    ends = [msgpack.packb({"kind": "end"}), msgpack.packb({"kind": "error", "status": 1, "where": "x", "message": "y"})]
    for i in range(count):
        name = b"\1" + random.randbytes(15)
        said = [message(header(OFFER, run, name))] if i % 2 else []
        for number, (f, body) in enumerate(found, 1):
            said.append(message(header(DATA, run, name, number, f.get("lap", 0)), body))
            said.append(message(header(DATA, run, name, number, f.get("lap", 0)), body[:len(body) // 2]))
        for number in range(len(found) + 2):
            said += [message(header(DATA, run, name, number), end) for end in ends]
            said += [message(header(kind, run, name, number, credit=8)) for kind in (ASK, TAKEN, HERE, BYE)]
        talk(address, name, said)


def serve(address, _, path):
    host, port = address.rsplit(":", 1)
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    s.bind((host, int(port)))
    s.listen(8)
    print("bound", flush=True)
    with open(path, "wb") as out:
        while True:
            one, _ = s.accept()
            one.settimeout(1)
            try:
                one.sendall(GREETING + ready(b"ROUTER", b""))
                one.sendall(message(header(ASK, bytes(16), b"\1" * 16, 1, credit=8)))
                while data := one.recv(65536):
                    out.write(data)
                    out.flush()
            except OSError:
                pass
            one.close()


what = {f.__name__: f for f in (scan, idle, lengths, garbage, headers, replay, serve)}[sys.argv[2]]
what(sys.argv[1], int(sys.argv[3]), *sys.argv[4:])
