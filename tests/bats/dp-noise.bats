# Noise in shares, as dp-noise adds one share; unit/test_shares tests all shares together, gate.bats how the gate treats them.
load helper

prepare() {
    small_data 400 6 2
    dp-loop --laps 3 --seed 1 --exec processes -- "dp-sample --data small.dp --rate 0.2 |
        dp-scd-step --data small.dp --loss hinge --lambda 1e-3 --clip 0.1 | tee bounded.frames | dp-noise -z 2 |
        dp-account --epsilon 1e6 --delta 1e-5 --allow-seeded | dp-step" > /dev/null
}

# worker K SHARDS [PYTHON]: worker.frames, the frames that a worker of shard K has left of its noise, after `frame` was edited
worker() {
    recode bounded.frames worker.frames '
for frame in frames:
    if frame["kind"] == "hello":
        frame.update(shard=int(sys.argv[1]), shards=int(sys.argv[2]))
    exec(sys.argv[3] if len(sys.argv) > 3 else "")' "$@"
}

@test "a share is recorded as one of so many, in the hello frame and in each lap" {
    worker 2 4
    dp-noise -z 2 --share --colluding 1 --allow-seeded < worker.frames > out.frames
    dp-cat out.frames > out
    assert_equal "$(dp-cat --kind lap out.frames | grep -c '"scale":0.2,"shares":4,"colluding":1,"gathered":0,')" 3
    grep '"kind":"hello"' out | grep -q '"shares":4,"colluding":1,"gathered":0,'
    cp out.frames bounded.frames
    worker 0 0 'frame.pop("shard", 0), frame.pop("shards", 0)'
    mv worker.frames alone.frames
    # and nothing is paid before the other shards are there
    complains 5 "dp-account: a record has 0 of 4 shares of noise, and 1 of them may be known to others" \
        dp-account --epsilon 1e6 --delta 1e-5 --allow-seeded --in alone.frames
}

@test "a share is of Gaussian noise, among shards, and not all of them collude" {
    complains 2 "dp-noise: --share: this run has no shards, so its noise has no shares" dp-noise -z 2 --share --in bounded.frames
    worker 1 3
    complains 2 "dp-noise: --colluding: 3 of 3 shares leave no noise" dp-noise -z 2 --share --colluding 3 --in worker.frames
}

@test "a share whose seed comes from where it goes to is none" {
    worker 2 4
    complains 5 "dp-noise: --share: the run is seeded: anybody who knows the seed knows the noise (--allow-seeded for experiments)" \
        dp-noise -z 2 --share --in worker.frames
    worker 2 4 'frame.pop("seed", 0)'
    dp-noise -z 2 --share < worker.frames > out.frames
}

@test "a share that is too small for sums of shares to be Gaussian noise is refused" {
    worker 1 4
    step=$(dp-cat --kind lap bounded.frames | sed -n 's/.*"grid":\([^,}]*\).*/\1/p' | head -n 1)
    multiplier() { /usr/bin/python3 -c "print($1 * $step / 0.1)"; } # of 4 shares, each has half of it
    complains 5 "dp-noise: --multiplier: a share has noise of 3.99 steps of the grid, and below 4 the shares together are not Gaussian noise" \
        dp-noise -z "$(multiplier 7.98)" --share --allow-seeded --in worker.frames
    complains 5 "dp-noise: --multiplier: a share has noise of 3.99 steps of the grid, and below 4 the shares together are not Gaussian noise" \
        dp-noise -z "$(multiplier 5.6427)" --share --allow-seeded --colluding 2 --in worker.frames
    dp-noise -z "$(multiplier 8.01)" --share --allow-seeded --in worker.frames > out.frames
}

@test "a site's account comes behind the share, where the noise is known" {
    worker 1 4 'for r in frame.get("records", []): r["promised"] = 2.0'
    complains 5 "dp-noise: --share: put dp-site-account after dp-noise, which records the noise, not before it" \
        dp-noise -z 2 --share --allow-seeded --in worker.frames
    dp-noise -z 2 < worker.frames | dp-cat | grep -q '"promised":2'
}
