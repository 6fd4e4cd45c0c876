#!/usr/bin/python3
"""resume.py SEED KILLS DIRECTORY MODEL EVERY -- DP-LOOP...: starts the command with --checkpoint DIRECTORY -o MODEL, kills it
and everything below it with SIGKILL after a random number of bytes of its stream, and resumes it, until it was killed KILLS times;
then lets it end. Where there is no checkpoint yet it begins anew. Prints how often it was resumed."""
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
        with open("stream", "wb") as stream:
            run = subprocess.Popen(command[:1] + options + command[1:], stdout=stream, start_new_session=True)
        if turn == kills:
            assert run.wait(60) == 0, f"it ends with {run.returncode}"
            break
        enough, deadline = chance.randint(1, 60000), time.monotonic() + 20
        while os.path.getsize("stream") < enough and run.poll() is None:
            assert time.monotonic() < deadline, "no laps"
            time.sleep(0.0005)
        assert run.poll() in (None, 0), f"it ends with {run.returncode}"
        if run.returncode == 0:  # too fast
            return print(resumed)
        os.kill(run.pid, signal.SIGKILL)  # stages in processes of their own end by themselves
        run.wait()
        # those that have ended and that nobody has waited for yet do no more
        while subprocess.run(["pgrep", "-r", "R,S,D,T", "-s", str(run.pid)], stdout=subprocess.DEVNULL).returncode == 0:
            assert time.monotonic() < deadline, "orphans"
            time.sleep(0.002)
    print(resumed)


main()
