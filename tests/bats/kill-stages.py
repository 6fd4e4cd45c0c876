#!/usr/bin/python3
"""kill-stages.py TIMES SEED LEDGER -- DP-LOOP...: for KILL and SEGV (a crash) and each stage of the child pipeline, first to
last, starts dp-loop TIMES times and sends the stage that signal at a random moment. The run then ends within seconds, with
status 1 and a sentence that names a command; no process is left, no file but the stream and, where laps were released, the last
model, and the ledger has paid for every lap that was released. Prints how many stages were killed, and in how many runs laps had been released by then."""
import importlib.machinery
import importlib.util
import os
import random
import resource
import signal
import subprocess
import sys
import time


def load(name):
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name)
    loader = importlib.machinery.SourceFileLoader("helper", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("helper", loader))
    loader.exec_module(module)
    return module


def family(pid):
    """The processes below pid, by number."""
    below, todo = [], [pid]
    while todo:
        try:
            with open(f"/proc/{todo[0]}/task/{todo[0]}/children") as children:
                new = [int(word) for word in children.read().split()]
        except (FileNotFoundError, ProcessLookupError):
            new = []
        below += new
        todo = todo[1:] + new
    return below


def name_of(pid):
    try:
        with open(f"/proc/{pid}/comm") as comm:
            return comm.read().strip()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def alive(pid):
    try:
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until(condition, seconds, what):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.002)


def kill_one(command, stage, which, number, delay, late, before):
    """Kills the stage of that name; where there are several, number `which` of them."""
    with open("stream", "wb") as stream, open("said", "wb") as said:
        loop = subprocess.Popen(command, stdout=stream, stderr=said)
    try:
        wait_until(lambda: sum(name_of(p) == stage for p in family(loop.pid)) > which, 10, f"no {stage}")
        if late:
            wait_until(lambda: os.path.getsize("stream") > 2000, 10, "no laps")
        time.sleep(delay)
        all_of_them = family(loop.pid)
        victim = sorted(p for p in all_of_them if name_of(p) == stage)[which]
        os.kill(victim, number)
        try:
            status = loop.wait(10)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{stage} killed: dp-loop hangs")
    finally:
        loop.kill()
    said = open("said").read()
    assert status == 1, f"{stage} killed: status {status}: {said}"
    wait_until(lambda: not any(alive(p) for p in all_of_them), 5, f"{stage} killed: orphans")
    left = sorted(set(os.listdir(".")) - before)
    assert not left, f"{stage} killed: {left} left"
    lines = [line for line in said.splitlines() if line.startswith("dp-")]
    assert len(lines) == 1, f"{stage} killed: {said}"


def main():
    times, seed, ledger, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[5:]
    stages = [part.split()[0] for part in command[-1].split("|")]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # A sanitizer that catches the crash may wait for ever for a lock that the stage held, in its own start too.
    os.environ["ASAN_OPTIONS"] = ":".join(filter(None, [os.environ.get("ASAN_OPTIONS"), "handle_segv=0"]))
    runs = load("kill-runs.py")
    chance = random.Random(seed)
    for name in ("stream", "said", ledger):
        open(name, "ab").close()
    os.chmod(ledger, 0o600)
    before = set(os.listdir(".")) | {"model", ledger + ".mark", ledger + ".mark.new"}
    killed = some = 0
    for number in (signal.SIGKILL, signal.SIGSEGV):
        for at, stage in enumerate(stages):
            for i in range(times):
                kill_one(command, stage, stages[:at].count(stage), number, chance.uniform(0, 0.03), i % 2 == 1, before)
                killed += 1
                frames, names = runs.released("stream")
                assert os.path.exists("model") == (frames > 0), f"{frames} laps released, model: {os.path.exists('model')}"
                if frames > 0:
                    os.remove("model")
                spent = runs.laps_of(ledger)
                for name in names:
                    assert frames <= spent[name], f"{frames} laps released, {spent[name]} paid for"
                some += frames > 0
    print(killed, some)


main()
