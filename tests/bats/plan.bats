# Laps of several kinds: dp-loop --plan and --on.
load helper

prepare() { dp-synth classification --rows 300 --cols 5 --seed 3 -o a.dp -q; }

# filter NAME CODE: a stage of one's own that runs CODE on every frame
filter() {
    cat > "$1" << END
#!/usr/bin/python3
import msgpack, os, sys
packer, out = msgpack.Packer(), sys.stdout.buffer
unpacker = msgpack.Unpacker(raw=False)
while data := sys.stdin.buffer.read1(65536):
    unpacker.feed(data)
    for frame in unpacker:
$(sed 's/^/        /' <<< "$2")
        out.write(packer.pack(frame))
        out.flush()
END
    chmod +x "$1"
}

CHECK="dp-account --non-private --allow-seeded"

# what two kinds of laps do without privacy: the second one moves ten times as far
walk() { echo "dp-sample --data a.dp --rate 0.1 --mode shuffle | dp-grad --data a.dp --loss logistic --non-private | $CHECK | dp-step --on small --step 0.1 | dp-step --on large --step 1"; }

@test "a plan that is wrong, or has no place, is refused" {
    complains 2 "dp-loop: --laps is required" dp-loop -o m -- "$(walk)"
    complains 2 "dp-loop: --laps and --plan exclude each other" dp-loop --laps 2 --plan 'small 2' -o m -- "$(walk)"
    complains 2 "dp-loop: --plan: the plan ends where a kind of lap is expected" dp-loop --plan '' -o m -- "$(walk)"
    complains 2 "dp-loop: --plan: character 7 of the plan: expected a count from 1 to 1099511627775" \
        dp-loop --plan 'small 0' -o m -- "$(walk)"
    complains 2 "dp-loop: --plan: character 6 of the plan: expected ',', got ';'" dp-loop --plan 'small; large' -o m -- "$(walk)"
    complains 2 "dp-step: --on: the run has no laps of a kind 'large'" dp-loop --plan 'small 3' -o m -- "$(walk)"
    complains 2 "dp-step: --on: the run has no laps of a kind 'small'" dp-loop --laps 3 -o m -- "$(walk)"
    complains 2 "dp-account: --on: every lap has to be paid for, of whichever kind" dp-account --on small --epsilon 1 --delta 1e-5
    [ ! -e m ]
}

@test "each stage takes part in the laps that it is for" {
    dp-loop --plan 'small 2, (large, small 2) 3' --seed 1 -o m -- "$(walk)" > stream
    dp-cat --kind hello stream > hello
    grep -qF '"kinds":"small 2, (large, small 2) 3"' hello
    grep -qF '"laps":11' hello
    dp-cat --kind lap stream | jq -r '[.lap, .lap_kind, .turn] | join(" ")' > kinds
    run cat kinds
    assert_output "1 small 1
2 small 2
3 large 1
4 small 3
5 small 4
6 large 2
7 small 5
8 small 6
9 large 3
10 small 7
11 small 8"
    # as one run of each kind after the other, from each other's model, but for the rows that are drawn
    dp-cat --kind lap stream | jq -c 'select(.lap_kind == "large") | .model' | sort -u | wc -l > moved
    [ "$(cat moved)" -eq 3 ]
    # no stage: nobody applies the sum
    complains 1 "dp-loop: the child pipeline gave back a sum that no stage applied: put dp-step after dp-account" \
        dp-loop --plan 'small, other' --seed 1 -o n -- "$(walk | sed 's/ | dp-step --on large.*//')"
}

@test "processes = fused = ports, with laps of several kinds" {
    plan='small 2, (large, small 3) 4'
    for exec in fused processes; do
        dp-loop --plan "$plan" --seed 4 --exec $exec -o $exec -- "$(walk)" > $exec.stream
    done
    cmp fused processes
    cmp fused.stream processes.stream
    mkfifo there back
    (sh -c "$(walk)" > back < there) &
    dp-loop --plan "$plan" --seed 4 --send there --receive back -o ports > ports.stream
    wait
    cmp fused ports
    cmp fused.stream ports.stream
}

@test "a schedule and an average count the laps of their kind" {
    # all laps of a kind in one run, and that kind alone in another
    step() { echo "dp-sample --data a.dp --mode full | dp-grad --data a.dp --loss logistic --non-private | $CHECK | dp-step $1 --step 1 --schedule sqrt:1:3 --average tail --tail 0.4 $2"; }
    dp-loop --laps 5 --seed 1 -o alone -- "$(step '' '')" > /dev/null
    dp-loop --plan '(a, idle 2) 5' --seed 1 -o turns -- "$(step '--on a' '| dp-step --on idle --step 1e-300')" > /dev/null
    dp-cat alone | jq -c '[.model, .average]' | head -1 > alone.json
    dp-cat turns | jq -c '[.model, .average]' | head -1 > turns.json
    cmp alone.json turns.json
}

@test "the words of a plan come back as they went" {
    filter meddle '
if frame["kind"] == "hello":
    frame["kinds"] = "small 2, secret 1"'
    complains 5 "dp-loop: the child pipeline gave back another plan" \
        dp-loop --plan 'small 2, large' --seed 1 -o m -- "dp-sample --data a.dp | ./meddle | dp-grad --data a.dp --loss logistic --non-private | $CHECK | dp-step --step 1"
}

@test "an unknown kind is not obeyed" {
    filter ask '
if frame["kind"] == "lap":
    frame["next"] = sys.argv[1]'
    dp-loop --plan 'small 2, large 2' --seed 1 -o m -- "$(walk) | ./ask large" > stream
    run jq -r 'select(.lap != null) | .lap_kind + " " + (.turn | tostring)' <(dp-cat --kind lap stream)
    assert_output "small 1
large 1
large 2
large 3"
    complains 1 "dp-loop: the child pipeline asks for a lap of a kind 'huge' that the plan does not have" \
        dp-loop --plan 'small 2, large 2' --seed 1 -o m -- "$(walk) | ./ask huge"
}

@test "a run of several kinds goes on from any lap" {
    filter stop '
if frame["kind"] == "lap" and frame["lap"] > int(open("last").read()) and not os.path.exists("stopped"):
    open("stopped", "w").close()
    sys.exit(1)'
    plan='small 3, (large, small 2) 4'
    dp-loop --plan "$plan" --seed 4 -o whole -- "$(walk)" > whole.stream
    for lap in 1 3 4 5 6 9 14; do
        rm -f stopped
        echo "$lap" > last
        run dp-loop --plan "$plan" --seed 4 --checkpoint kept --checkpoint-every 1 -o part -- "$(walk) | ./stop"
        assert_failure 1
        complains 1 "dp-loop: the checkpoint kept is of another plan: resume it with the same text" \
            dp-loop --plan 'small 3, (large 2, small) 4' --seed 4 --resume kept -o part -- "$(walk) | ./stop"
        dp-loop --plan "$plan" --seed 4 --resume kept --checkpoint-every 1 -o part -- "$(walk) | ./stop" > stream
        cmp part whole
        assert_equal "$(dp-cat --kind lap stream | head -1)" "$(dp-cat --kind lap whole.stream | sed -n "$((lap + 1))p")"
    done
}
