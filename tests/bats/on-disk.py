#!/usr/bin/python3
"""on-disk.py CALLS FILE…: reads the calls of a run (strace -f -y) and checks what is on disk before anything else happens.

A process that has written to one of the FILEs (regular expressions of whole paths) syncs it before it writes anything else, gives
a name to a file, or makes one. A file or directory gets its name only after the last write to it was synced. Prints how often
each FILE was synced."""
import os
import re
import sys
from collections import Counter

guarded = [re.compile(pattern) for pattern in sys.argv[2:]]
waits, synced, last = {}, Counter(), {}
for line in open(sys.argv[1], errors="replace"):
    found = re.match(r"(\d+) +(\w+)\((.*)", line)
    if not found:
        continue
    pid, call, rest = found.groups()
    path = re.match(r"\d+<([^>]*)>", rest)
    path = path.group(1).removesuffix(" (deleted)") if path else ""
    if path.startswith("anon_inode:") or re.search(r"\) += -1 E", line):
        continue
    guard = next((g.pattern for g in guarded if g.fullmatch(path)), None)
    if call in ("fsync", "fdatasync"):
        if guard and waits.get(pid) == path:
            synced[guard] += 1
        last[path] = "synced"
        if waits.get(pid) == path:
            del waits[pid]
        continue
    if waits.get(pid) not in (None, path):
        sys.exit(f"{waits[pid]} is not on disk before: {line[:200]}")
    if call in ("write", "pwrite64", "ftruncate"):
        last[path] = "written"
        if guard:
            waits[pid] = path
            last[os.path.dirname(path)] = "written" # perhaps a new directory, which gets its name later
    elif call in ("linkat", "rename", "renameat2"):
        source = re.findall(r'"([^"]*)"', rest)[0]
        source = next((p for p in reversed(last) if "/#" in p), "") if source.startswith("/proc/self/fd/") else os.path.abspath(source)
        if last.get(source) == "written":
            sys.exit(f"{source} is not on disk before: {line[:200]}")
if waits:
    sys.exit(f"{waits} are not on disk at the end")
for guard in guarded:
    print(guard.pattern, synced[guard.pattern])
