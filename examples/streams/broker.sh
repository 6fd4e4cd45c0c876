#!/bin/bash -p
# Trains on rows that come from a broker: broker.sh [ROWS [EPSILON]] starts mosquitto on the loopback of this machine, publishes a table of
# made-up patients line by line, trains on the lines as they come, and prints the accuracy on 2,000 other patients. It ends its broker.
# With SEED the same run is made again; it is not private.
# Delivery is exactly once (QoS 2): the person of a row in two windows would not have the epsilon that the model states.
set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
PATH=$(realpath "${BUILD:-$top/build}")/bin:$top/pipelines:$PATH:/usr/sbin
rows=${1:-10000} epsilon=${2:-1} seconds=120 started=()
for need in mosquitto mosquitto_pub mosquitto_sub; do
    command -v $need > /dev/null || { echo "broker.sh: $need is not there (Debian packages mosquitto and mosquitto-clients)" >&2 && exit 1; }
done
work=$(mktemp -d)
# ended: what this script started, and its files
ended() {
    [ ${#started[@]} = 0 ] || kill "${started[@]}" 2> /dev/null || true
    wait
    rm -rf "$work"
}
trap ended EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
cd "$work"
at=(-h 127.0.0.1 -q 2 -t patients) trainer=(-c -i trainer)

# begin PORT: a broker that keeps each message until the trainer has it. -E makes the session of the trainer, so the trainer may come later.
begin() {
    printf '%s\n' "listener $1 127.0.0.1" 'allow_anonymous true' 'max_queued_messages 0' > mosquitto.conf
    mosquitto -c mosquitto.conf > said 2>&1 &
    started=($!)
    for ((try = 0; try < 100; try++)); do
        kill -0 "${started[0]}" 2> /dev/null || return 1
        ! mosquitto_sub "${at[@]}" "${trainer[@]}" -p "$1" -E 2> /dev/null || return 0
        sleep 0.1
    done
    return 1
}
for port in $(shuf -n 5 -i 20000-32000) none; do
    [ "$port" != none ] || { echo "broker.sh: mosquitto does not begin: $(tail -n 1 said)" >&2 && exit 1; }
    ! begin "$port" || break
done
at+=(-p "$port")

echo '{"header": true, "missing": ["", "n/a", "unknown"], "columns": [{"name": "patient_id", "type": "ignore"}, {"name": "admitted", "type": "ignore"},
    {"name": "age", "type": "numeric", "bounds": [0, 100], "indicator": true},
    {"name": "sex", "type": "categorical", "categories": [["f", "F"], ["m", "M"]]},
    {"name": "ward", "type": "categorical", "categories": ["cardiology", "emergency", "geriatrics", "surgery"]},
    {"name": "bmi", "type": "numeric", "bounds": [10, 60], "indicator": true}, {"name": "drugs", "type": "numeric", "bounds": [0, 20]},
    {"name": "smoker", "type": "categorical", "categories": ["no", "yes"], "indicator": true}, {"name": "note", "type": "ignore"},
    {"name": "readmitted", "type": "label", "classes": [["no", "No"], ["yes", "Yes"]]}]}' > patients.json
dp-synth patients --rows "$rows" --output patients.csv -q
dp-synth patients --rows 2000 --seed 2 --output others.csv -q
dp-import csv --schema patients.json --basis bins --row-norm unit --no-registry -q -o others.dp others.csv

mkfifo arriving
timeout $seconds mosquitto_pub "${at[@]}" -l < patients.csv &
started+=($!)
timeout $seconds mosquitto_sub "${at[@]}" "${trainer[@]}" -C "$(wc -l < patients.csv)" > arriving &
started+=($!)
dpline stream --schema patients.json --rows "$rows" --epsilon "$epsilon" --no-ledger --no-registry ${SEED:+--seed "$SEED"} -o model < arriving &
started+=($!)
wait $! # not in the foreground, so that a signal ends all of them at once
dp-eval --data others.dp --metrics accuracy,auc --last --in model 2> /dev/null | awk 'END { printf "accuracy %.4f, AUC %.4f\n", $(NF - 1), $NF }'
