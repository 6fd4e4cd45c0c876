#!/usr/bin/python3
"""Runs a command again and again, with another allocation failing each time, and says what was wrong.

sweep.py [--restore FROM TO]… [--output PATH]… [--model FILE]… [--ledger FILE]… [--check SHELL] [--any] [--runs N] -- COMMAND…

Each allocation of the first 60 fails once, and of those that follow as many, evenly, as make N runs (default 200; all when
FULL is set in the environment); in every other run all after it fail too. Each run has to end with status 0 or 1, by no
signal; with status 1 and one sentence that speaks of memory (libgomp, which may run out before main begins, puts an empty line before its own), or with status 0 and the standard output of a run with memory
enough (unless --any). A ledger's lines follow one another. A model, if there is one, can be read. An output is not there when the status is 1, nor anything whose name begins with
its name; when it is 0, SHELL has to succeed."""
import argparse
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys

FIRST = 60
MOST_SHOWN = 20
MEMORY = re.compile(r"memory|Cannot allocate")


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--restore", nargs=2, action="append", default=[])
    parser.add_argument("--output", action="append", default=[])
    parser.add_argument("--model", action="append", default=[])
    parser.add_argument("--any", action="store_true")
    parser.add_argument("--ledger", action="append", default=[])
    parser.add_argument("--check")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("command", nargs="+")
    return parser.parse_args()


def remove(path):
    for name in glob.glob(glob.escape(path) + "*"):
        shutil.rmtree(name) if os.path.isdir(name) else os.unlink(name)


def run(options, at, on):
    for path in options.output + options.model:
        remove(path)
    for source, target in options.restore:
        remove(target)
        if os.path.isdir(source):
            shutil.copytree(source, target)
        else:
            shutil.copy(source, target)
    read, write = os.pipe()
    environment = dict(os.environ, LD_PRELOAD=os.environ["BUILD"] + "/memory/fail.so", FAIL_AT=str(at), FAIL_FD=str(write))
    if on:
        environment["FAIL_ON"] = "1"
    done = subprocess.run(options.command, env=environment, pass_fds=[write], stdin=subprocess.DEVNULL, capture_output=True,
                          timeout=60)
    os.close(write)
    report = os.read(read, 100).split()
    os.close(read)
    return done, int(report[0]) if report else None


def intact(path):
    previous = "0" * 64
    with open(path, "rb") as file:
        lines = file.read().split(b"\n")[:-1]
    for number, line in enumerate(lines, 1):
        body, _, tail = line.rpartition(b',"hash":"')
        digest = hashlib.blake2b(body, digest_size=32).hexdigest()
        entry = json.loads(line)
        if tail != digest.encode() + b'"}' or (entry["seq"], entry["prev"]) != (number, previous):
            return False
        previous = digest
    return True


def wrong(options, done, stdout):
    said = done.stderr.decode(errors="replace")
    if done.returncode not in (0, 1):
        return f"status {done.returncode}"
    if any(not intact(path) for path in options.ledger if os.path.exists(path)):
        return "a ledger is not intact"
    for path in options.model:
        left = glob.glob(glob.escape(path) + "*")
        if left not in ([], [path]) or left and subprocess.run(["dp-info", path], stdout=subprocess.DEVNULL).returncode != 0:
            return f"it left {left}"
    if done.returncode == 1:
        if said.strip().count("\n") != 0 or not MEMORY.search(said):
            return "it does not say, in one sentence, that memory was short"
        for path in options.output:
            left = glob.glob(glob.escape(path) + "*")
            if left:
                return f"it left {left}"
        return None
    if done.stdout != stdout and not options.any:
        return "its output is another one"
    if options.check and subprocess.run(options.check, shell=True, stdout=subprocess.DEVNULL).returncode != 0:
        return f"status 0, but not: {options.check}"
    return None


def main():
    options = parse()
    good, total = run(options, 0, False)
    if good.returncode != 0:
        sys.exit(f"the command fails by itself: {good.stderr.decode()}")
    places = list(range(1, min(total, FIRST) + 1))
    step = 1 if "FULL" in os.environ else max(1, -(-(total - FIRST) // max(1, options.runs - FIRST)))
    places += range(FIRST + 1, total + 1, step)
    faults = failed = 0
    for index, at in enumerate(places):
        done, _ = run(options, at, index % 2 == 1)
        failed += done.returncode == 1
        fault = wrong(options, done, good.stdout)
        if fault is not None:
            faults += 1
            if faults <= MOST_SHOWN:
                print(f"allocation {at}{' and after' if index % 2 else ''}: {fault}; it said: {done.stderr.decode(errors='replace')!r}")
    print(f"{len(places)} of {total} allocations failed, {failed} runs ended with status 1, {faults} faults")
    sys.exit(1 if faults or not failed else 0)


main()
