#!/usr/bin/python3
"""gather-view.py [--mask] SITES MULTIPLIER RATE LAPS PERSONS: an audit of what a gather receives, from dp-workers that it really asks.

Half of the persons have a row at the first site, each in a column of its own, of which the gradient is as long as the clip bound. The
gather guesses who: by the likelihood of the numbers in a person's column in all frames, of the first site (a share of the noise) and of
the total (all of it). Prints a line for each: the view, how many of those who are there it finds at 5 % false alarms, the standard
error of that, and the probability that it ranks somebody who is there above somebody who is not."""
import importlib.util
import os
import subprocess
import sys

import numpy

spec = importlib.util.spec_from_file_location("gather", os.path.join(os.path.dirname(__file__), "bad-gather.py"))
bad = importlib.util.module_from_spec(spec)
spec.loader.exec_module(bad)

masked = sys.argv[1] == "--mask"
sites, z, rate, laps, persons = (float(word) for word in sys.argv[1 + masked :])
sites, laps, persons = int(sites), int(laps), int(persons)
bad.LAPS = laps
there = numpy.random.default_rng(7).permutation(persons) < persons // 2


def data(k):
    """The first site has a row for each person who is there, another one a row in the last column, which is nobody's."""
    columns = numpy.flatnonzero(there) if k == 0 else numpy.array([persons])
    with open(f"site-{k}.svm", "w") as f:
        f.writelines(f"1 {column + 1}:1\n" for column in columns)
    subprocess.run(["dp-import", "libsvm", "-q", "-d", str(persons + 1), "-k", "-1,1", "--no-bias", "--storage", "csr", "--no-registry",
                    "-o", f"site-{k}.dp", f"site-{k}.svm"], check=True)


def worker(k):
    stages = (f"dp-sample --data site-{k}.dp --rate {rate} | dp-grad --data site-{k}.dp --loss logistic --clip .5 --intercept 0 | "
              f"dp-noise --multiplier {z} --share")
    masks = ["--mask", "roster", "--keys", f"keys-{k}"] if masked else []
    return subprocess.Popen(["dp-worker", "--at", f"ipc://run/gate-{k}", "--shard", f"{k + 1}/{sites}", "--exec", "fused", "--timeout", "600", *masks, "--", stages])


def likelihood(seen, noise):
    """Sum over laps of the log-likelihood ratio of q N(1, noise²) + (1 − q) N(0, noise²) to N(0, noise²)."""
    with numpy.errstate(divide="ignore"):  # a rate of 1
        return numpy.logaddexp(numpy.log(1 - rate), numpy.log(rate) + (seen - 0.5) / noise**2)


def report(view, score):
    inside, outside = score[there], numpy.sort(score[~there])
    found = (inside > outside[int(0.95 * len(outside))]).mean()
    above = (numpy.searchsorted(outside, inside) / len(outside)).mean()
    # the threshold is a quantile of those who are not there, which has an error, too
    error = (found * (1 - found) / len(inside) + (found / 0.05) ** 2 * 0.05 * 0.95 / len(outside)) ** 0.5
    print(f"{view}\t{found:.4f}\t{error:.4f}\t{above:.4f}")


os.makedirs("run", mode=0o700, exist_ok=True)
if masked:
    with open("roster", "w") as roster:
        for k in range(sites):
            key = subprocess.run(["dp-key", "new", f"keys-{k}"], check=True, capture_output=True, text=True).stdout
            roster.write(f"site-{k} {key}")
for k in range(sites):
    data(k)
workers = [worker(k) for k in range(sites)]
gathers = [bad.Gather(f"run/gate-{k}", k + 1, sites) for k in range(sites)]
for gather in gathers:
    gather.name, gather.own = gathers[0].name, gathers[0].own
fresh = [gather.hello()["fresh"] for gather in gathers]
one, all_ = numpy.zeros(persons), numpy.zeros(persons)
for lap in range(1, laps + 1):
    if masked and lap == 1:
        for gather in gathers:
            gather.roster(fresh)
    total = numpy.zeros(persons, numpy.int64)
    for k, gather in enumerate(gathers):
        answer = gather.lap(lap, n=persons + sites, first_row=0)
        sums = numpy.frombuffer(answer["sum"].data, "<i8", offset=18)[:persons]
        total += sums  # modulo 2^64
        if k == 0:
            one += likelihood(sums * (answer["grid"] / 0.5), z / sites**0.5)
    all_ += likelihood(total * (answer["grid"] / 0.5), z)
for gather in gathers:
    gather.end()
for process in workers:
    process.wait()
report("the first site's frames", one)
report("the total", all_)
