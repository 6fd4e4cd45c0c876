#!/usr/bin/python3
"""Edits a frame stream, to make the frames that no honest stage makes: edit-frames.py KEY=JSON … < in > out.

KEY is a key of the lap frames, or record.KEY for the last record; KEY= without a value removes it.
kind=… edits nothing but drops the frames of that kind; twice=N repeats lap N."""
import json
import sys

import msgpack

edits = [word.split("=", 1) for word in sys.argv[1:]]
for frame in msgpack.Unpacker(sys.stdin.buffer, raw=False, strict_map_key=False):
    out = [frame]
    for key, text in edits:
        if key == "kind":
            if frame["kind"] == text:
                out = []
        elif frame["kind"] != "lap":
            continue
        elif key == "twice":
            if frame["lap"] == int(text):
                out = [frame, frame]
        else:
            target, name = frame, key
            if key.startswith("record."):
                target, name = frame["records"][-1], key.split(".", 1)[1]
            if text == "":
                target.pop(name, None)
            else:
                target[name] = json.loads(text)
    for one in out:
        sys.stdout.buffer.write(msgpack.packb(one))
