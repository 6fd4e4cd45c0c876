#!/usr/bin/python3
"""kill-runs.py RUNS SECONDS SEED LEDGER -- COMMAND...: starts the command RUNS times and kills its process group with SIGKILL
after up to SECONDS each; every second time only after a first frame has come. After each kill: the ledger's lines chain as
dp-ledger(5) says, and no run has released more laps than it has spent there. Prints how many runs were killed, how
many runs had released something, and how many laps in all."""
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import time

import msgpack


def laps_of(ledger):
    """Checks the chain and returns {run: laps of its plan, or used if it has ended}; a filter may take any number of laps."""
    data = open(ledger, "rb").read() if os.path.exists(ledger) else b""
    previous, spent = "0" * 64, {}
    for number, line in enumerate(data.split(b"\n")[:-1], 1):  # what follows the last line feed is not a line
        body, mark, tail = line.rpartition(b',"hash":"')
        digest = hashlib.blake2b(body, digest_size=32).hexdigest()
        assert mark and tail == digest.encode() + b'"}', f"line {number}: hash"
        entry = json.loads(line)
        assert entry["seq"] == number and entry["prev"] == previous, f"line {number}: does not follow"
        previous = digest
        if entry["kind"] == "open":
            spent[entry["run"]] = float("inf") if entry.get("order", 0) > 0 else 0
        elif entry["kind"] in ("plan", "close"):
            spent[entry["run"]] = sum(charge["laps"] for charge in entry["charges"])
    return spent


def released(path):
    """Complete released frames, and the runs in their marks."""
    frames, runs = 0, set()
    unpacker = msgpack.Unpacker(ext_hook=lambda code, data: None, max_buffer_size=2**31)
    unpacker.feed(open(path, "rb").read())
    for frame in unpacker:
        if frame["kind"] == "lap" and frame["label"] == "released":
            frames += 1
            runs.add(frame["ledger"].split(":")[0])
    return frames, runs


def main():
    runs, seconds, seed, ledger = int(sys.argv[1]), float(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
    command = sys.argv[6:]
    chance = random.Random(seed)
    killed = some = total = 0
    for i in range(runs):
        with open("stream", "wb") as stream:
            child = subprocess.Popen(command, stdout=stream, stderr=subprocess.DEVNULL, start_new_session=True)
        late = i % 2 == 1
        deadline = time.monotonic() + 20
        while late and os.path.getsize("stream") < 2000 and time.monotonic() < deadline:
            assert child.poll() in (None, 0), "the run failed"
            time.sleep(0.001)
        time.sleep(chance.uniform(0, seconds))
        assert child.poll() in (None, 0), "the run failed"
        if child.returncode is None:
            os.killpg(child.pid, signal.SIGKILL)
            killed += 1
        child.wait()
        frames, names = released("stream")
        spent = laps_of(ledger)
        assert len(names) <= 1
        for name in names:
            assert frames <= spent[name], f"kill {i}: {frames} laps released, {spent[name]} paid for"
        some += frames > 0
        total += frames
    print(killed, some, total)


if __name__ == "__main__":
    main()
