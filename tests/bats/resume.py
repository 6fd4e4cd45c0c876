#!/usr/bin/python3
"""resume.py SEED KILLS DIRECTORY MODEL EVERY -- DP-LOOP...: starts the command with --checkpoint DIRECTORY -o MODEL, kills it
and everything below it with SIGKILL after a random number of bytes of its stream, a fifth to four fifths of whole.stream, and resumes
it, until it was killed KILLS times; then lets it end. Prints how often it was resumed. The run cannot get ahead: it writes to a small
pipe."""
import fcntl
import os
import random
import signal
import subprocess
import sys
import time


def main():
    seed, kills, directory, model, every = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4], sys.argv[5]
    command = sys.argv[7:]
    chance = random.Random(seed)
    resumed = 0
    for turn in range(kills + 1):
        go_on = os.path.exists(f"{directory}/loop")
        resumed += go_on
        options = ["--resume" if go_on else "--checkpoint", directory, "--checkpoint-every", every, "-o", model]
        if turn == kills:
            with open("stream", "wb") as stream:
                run = subprocess.run(command[:1] + options + command[1:], stdout=stream, timeout=60)
            assert run.returncode == 0, f"it ends with {run.returncode}"
            break
        reader, writer = os.pipe()
        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)
        run = subprocess.Popen(command[:1] + options + command[1:], stdout=writer, start_new_session=True)
        os.close(writer)
        enough, deadline = chance.uniform(0.2, 0.8) * os.path.getsize("whole.stream"), time.monotonic() + 20
        until, stream = None, open("stream", "wb", buffering=0)
        while until is None or time.monotonic() < until:  # a few milliseconds more, so that it is killed anywhere in a lap
            data = os.read(reader, 4096)
            enough -= stream.write(data)
            if data == b"":
                assert run.wait(20) == 0, f"it ends with {run.returncode}"
                return print(resumed)  # the last part was shorter than that
            if enough <= 0 and until is None:
                until = time.monotonic() + chance.uniform(0, 0.004)
            assert time.monotonic() < deadline, "too slow"
        os.kill(run.pid, signal.SIGKILL)  # stages in processes of their own end by themselves
        run.wait()
        os.close(reader)
        # those that have ended and that nobody has waited for yet do no more
        while subprocess.run(["pgrep", "-r", "R,S,D,T", "-s", str(run.pid)], stdout=subprocess.DEVNULL).returncode == 0:
            assert time.monotonic() < deadline, "orphans"
            time.sleep(0.002)
    print(resumed)


main()
