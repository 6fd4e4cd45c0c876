#!/bin/bash -p
# A run over parts of one data set as an array of jobs of Slurm: task 0 is the gate, tasks 1 to K each have a part of the rows. They find each
# other by files in a directory that all nodes see: public keys, and the address of the gate. Secret keys stay on the node of their task.
set -euo pipefail
here=$(readlink -f "$0") && . "${here%/*}/options.sh"
summary="Train over parts of one data set, as an array of jobs of Slurm."
workers='' data='' model='' shared=. pipeline=federated-scd sbatch='' print='' ledger=own options=()

usage() {
    cat << END
Usage: $name --workers K --data DIR -o FILE [options]
$summary
  --workers K      how many parts of the rows; there is one task more
  --data DIR       data set (see dp-import), where all nodes see it
  -o, --model FILE write the model there
  --shared DIR     where the tasks find each other; all nodes see it (default $shared)
  --pipeline WORD  federated-scd or federated-sgd (default $pipeline)
  --sbatch WORDS   more options of sbatch, as '--partition short --mem 2G'
  --print          print the job instead of running it
  -h, --help       this page
  --version        the version
All other options are those of the pipeline.

The manual: man dpline-pipelines
END
}
while [ $# -gt 0 ]; do
    case $1 in
        -h | --help) usage && exit ;;
        --version) DPLINE_NAME=$name exec "$here/scd.sh" --version ;;
        --print) print=1 && shift && continue ;;
        --*=*) set -- "${1%%=*}" "${1#*=}" "${@:2}" ;;
        -o) set -- --model "${@:2}" ;;
        -o?*) set -- --model "${1#-o}" "${@:2}" ;;
    esac
    case $1 in
        --workers | --data | --model | --shared | --pipeline | --sbatch)
            [ $# -ge 2 ] || fail "${1/#--model/-o}: needs a value"
            printf -v "${1#--}" %s "$2"
            shift 2
            continue ;;
        --shard | --rows | --at | --keys | --server) fail "$1: is not to be said, the tasks agree on it" ;;
        --ledger | --no-ledger | --seed) ledger=no ;; # of a seeded run nothing is written down
    esac
    options+=("$1")
    shift
done
[[ $workers =~ ^[1-9][0-9]*$ ]] || fail "--workers: must be a whole number >= 1, got '$workers'"
[ -n "$data" ] || fail "--data is required"
[ -n "$model" ] || fail "-o is required"
case $pipeline in federated-scd | federated-sgd) ;; *) fail "--pipeline: must be federated-scd or federated-sgd, got '$pipeline'" ;; esac
rows=$(dp-info --get persons "$data")
data=$(readlink -f "$data")
own_ledger=()
[ $ledger = no ] || own_ledger=(--ledger "$data/ledger")

# job RUN: the work of each task in that directory
job() {
    local said
    said=$(printf ' %q' --rows "$rows" "${options[@]}")
    cat << END
#!/bin/bash
set -euo pipefail
PATH=$(printf %q "$here"):$(printf %q "$PATH")
task=\$SLURM_ARRAY_TASK_ID
cd $(printf %q "$1")
keys=\$(mktemp -d)
trap 'status=\$?; rm -rf "\$keys"; echo \$status > status-\$task' EXIT
wait_for() {
    until [ -e "\$1" ]; do
        ! grep -qvx 0 status-* 2> /dev/null || exit 1 # another task has failed
        sleep 0.2
    done
}
dp-key new "\$keys" > /dev/null
dp-key show "\$keys" > .key-\$task
mv .key-\$task key-\$task
if [ \$task = 0 ]; then
    for k in {1..$workers}; do
        wait_for key-\$k
        dp-key trust "\$keys" worker-\$k "\$(cat key-\$k)"
    done
    until port=\$((20000 + RANDOM % 10000)) && ! (: < /dev/tcp/127.0.0.1/\$port) 2> /dev/null; do :; done
    echo "tcp://\$(hostname):\$port" > .gate
    mv .gate gate
    $pipeline.sh --workers $workers --at "@tcp://*:\$port" --keys "\$keys" -o $(printf %q "$(readlink -m "$model")")${own_ledger:+$(printf ' %q' "${own_ledger[@]}")}$said
else
    wait_for gate
    dp-key trust "\$keys" gate "\$(cat key-0)"
    $pipeline.sh --shard \$task/$workers --at ">\$(cat gate)" --keys "\$keys" --data $(printf %q "$data") --parts$said
fi
END
}
[ -z "$print" ] || { job "$(readlink -f "$shared")/dpline.XXXXXX" && exit; }

command -v sbatch > /dev/null || fail "sbatch is not in PATH: this needs Slurm"
run=$(mktemp -d "$(readlink -f "$shared")/dpline.XXXXXX")
job "$run" > "$run/job"
read -ra words <<< "$sbatch"
id=$(sbatch --parsable --array="0-$workers" --job-name=dpline --output="$run/said-%a" "${words[@]}" "$run/job")
trap 'scancel "$id"; exit 1' INT TERM HUP
while [ -n "$(squeue --noheader --jobs="$id" 2> /dev/null)" ]; do
    sleep 1
    [ "$(cat "$run/status-0" 2> /dev/null || echo 0)" = 0 ] || scancel "$id" # without the gate there is nothing to wait for
done
for k in $(seq 0 "$workers"); do sed "s/^/task $k: /" "$run/said-$k" >&2; done
status=$(cat "$run/status-0" 2> /dev/null || echo 1)
[ "$status" != 0 ] || rm -r "$run"
exit "$status"
