# shellcheck shell=bash disable=SC2034,SC2154
# Sourced by the pipelines: their common options. A pipeline sets its own defaults first, then calls `options "$@"`.

usage() {
    cat << EOF
Usage: $(basename "$0") --data DIR [options]
$summary
  --data DIR       data set (see dp-import)
  --loss LOSS      ${losses} (default $loss)
  --lambda L       L2 regularisation (default $lambda)
  --epsilon E      privacy budget (default $epsilon)
  --delta D        (default $delta)
  --epochs E       passes over the data (default $epochs)
  --batch B        expected rows per lap (default $batch)
  --clip C         bound on one person's update (default $clip)
  --multiplier Z   noise multiplier (default: the smallest that keeps to the budget)
EOF
    [ -z "$sigma_prime_scale" ] || echo "  --sigma-prime-scale S   less cautious subproblems (default $sigma_prime_scale)"
    [ -z "$step" ] || cat << EOF
  --step ETA       step size (default $step)
  --schedule B     divide it by b_t: $schedules (default $schedule)
  --intercept V    value of a constant column to append, 0 for none (default $intercept)
EOF
    cat << EOF
  --exec HOW       auto|processes|fused (default auto)
  --threads N      (default 1)
  --seed S         reproducible, not private
  -o FILE          write the model there; without it every lap's model goes to standard output
  -q               no progress
EOF
}

fail() {
    echo "$(basename "$0"): $*" >&2
    exit 2
}

options() {
    while [ $# -gt 0 ]; do
        case $1 in
            --help | -h) usage && exit 0 ;;
            -q | --quiet) quiet=-q && shift && continue ;;
            --*=*) set -- "${1%%=*}" "${1#*=}" "${@:2}" && continue ;;
        esac
        case $1 in
            --sigma-prime-scale) [ -n "$sigma_prime_scale" ] || fail "unknown option '$1' (try --help)" ;;
            --step | --schedule | --intercept) [ -n "$step" ] || fail "unknown option '$1' (try --help)" ;;
        esac
        [ $# -ge 2 ] || fail "$1: needs a value"
        case $1 in
            --data) data=$2 ;;
            --loss) loss=$2 ;;
            --lambda) lambda=$2 ;;
            --epsilon) epsilon=$2 ;;
            --delta) delta=$2 ;;
            --epochs) epochs=$2 ;;
            --batch) batch=$2 ;;
            --clip) clip=$2 ;;
            --multiplier) multiplier=$2 ;;
            --sigma-prime-scale) sigma_prime_scale=$2 ;;
            --step) step=$2 ;;
            --schedule) schedule=$(printf %q "$2") ;;
            --intercept) intercept=$2 ;;
            --exec) exec=$2 ;;
            --threads) threads=$2 ;;
            --seed) seed=$2 ;;
            -o | --model) model=$2 ;;
            *) fail "unknown option '$1' (try --help)" ;;
        esac
        shift 2
    done
    [ -n "$data" ] || fail "--data is required"
    [[ $epochs =~ ^[1-9][0-9]*$ ]] || fail "--epochs: must be a whole number >= 1, got '$epochs'"
    [[ $batch =~ ^[1-9][0-9]*$ ]] || fail "--batch: must be a whole number >= 1, got '$batch'"
    rows=$(dp-info --get rows "$data") || exit
    [ "$batch" -le "$rows" ] || batch=$rows
    rate=$batch/$rows
    laps=$(((epochs * rows + batch - 1) / batch))
    dir=$(printf %q "$data")
    seeded=${seed:+--allow-seeded}
}

# loop [dp-loop options] PIPELINE: with -o only the model is written, without it the stream of models.
loop() {
    set -- --laps "$laps" --exec "$exec" ${seed:+--seed "$seed"} ${quiet:+-q} "$@"
    if [ -n "$model" ]; then
        dp-loop --model "$model" "$@" > /dev/null
    else
        dp-loop "$@"
    fi
}

losses='squared|hinge|logistic|smooth-hinge|huber'
# gradients have a step size, coordinate descent has sigma'; the pipeline sets what it has
sigma_prime_scale='' step='' schedule=constant intercept=0
schedules='constant, sqrt:A:C, linear[:E], cosine[:E] or a file'
data='' model='' seed='' quiet='' exec=auto threads=1 multiplier=''
