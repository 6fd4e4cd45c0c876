#!/usr/bin/python3
"""A stage that no library knows, beside dp-noise: what it has noised is taken for staircase noise, of the riser given."""
import os
import sys

import msgpack

unpacker = msgpack.Unpacker(raw=False, max_buffer_size=2**31)
while data := os.read(0, 65536):
    unpacker.feed(data)
    for frame in unpacker:
        for record in frame.get("records", []):
            if record["noise"] == "discrete-laplace":
                record["noise"] = "staircase"
                record["riser"] = float(sys.argv[1])
        sys.stdout.buffer.write(msgpack.packb(frame))
        sys.stdout.buffer.flush()
