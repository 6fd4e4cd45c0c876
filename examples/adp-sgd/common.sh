# shellcheck shell=bash
# Sourced by the scripts here: where things are, and how one model is trained and measured.
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(realpath "${BUILD:-$top/build}")
export PATH="$build/bin:$top/pipelines:$PATH"
export raw=${DPLINE_DATA:-$top/data}
export fashion=${DPLINE_FASHION:-/usr/share/datasets/fashion-mnist}
export out=${OUT:-$build/examples/adp-sgd}
export DPLINE_REGISTRY=$out/registry # never the registry of the user
export seeds=${SEEDS:-1}
export rows=60000 batch=1024 delta=1e-5
export network='28x28x1 * 28; conv 16 8x8/2 pad 2 tanh; pool 2/1; conv 32 4x4/2 tanh; pool 2/1; fc 32 tanh; fc 10' # 26,010 parameters
mkdir -p "$out"

# laps EPOCHS
laps() { echo $((($1 * rows + batch - 1) / batch)); }

# sigma EPSILON LAPS SCHEDULE: the multiplier, that of lap 1, with which a run keeps to epsilon; computed once
sigma() {
    local file
    file=$out/sigma/$(echo "$*" | tr ' /:' '___')
    mkdir -p "$out/sigma"
    if [ ! -s "$file" ]; then
        set -- "$@" --epsilon "$1" --delta $delta --rate $batch/$rows --laps "$2"
        [ "$3" = constant ] || set -- "$@" --schedule "$3"
        dp-account sigma "${@:4}" > "$file.$$"
        mv "$file.$$" "$file"
    fi
    cat "$file"
}

# train METHOD SET LOSS EPSILON EPOCHS CLIP STEP SCHEDULE SEED [options of dp-step]: the stream of models.
# METHOD dp has constant noise. With adp the square of the noise follows the b_t of SCHEDULE. The steps are the same, eta / b_t;
# with adaptive ones (--optimizer adagrad-norm) SCHEDULE is that of the noise alone. No averages, as in the paper. LOSS network is the
# softmax loss of a network.
train() {
    local method=$1 set=$2 loss=$3 epsilon=$4 t clip=$6 step=$7 schedule=$8 seed=$9 noise=constant z gradients
    t=$(laps "$5")
    shift 9
    [ "$method" = dp ] || noise=$schedule
    [[ $* != *adagrad* ]] || schedule=constant
    gradients="dp-grad --loss $loss"
    [ "$loss" != network ] || gradients="dp-net-grad --network '$network' --loss softmax"
    z=$(sigma "$epsilon" "$t" "$noise")
    dp-loop --laps "$t" --seed "$seed" -q "
        dp-sample  --data $out/$set.dp --rate $batch/$rows |
        $gradients --data $out/$set.dp --clip $clip |
        dp-noise   --multiplier $z --schedule $noise |
        dp-account --epsilon $epsilon --delta $delta --allow-seeded |
        dp-step    --step $step --schedule $schedule $*"
}

# cell METHOD SET …: trains as above and leaves lap, epsilon and test accuracy of every epoch in a file; pipeline NAME SET LOSS EPSILON
# EPOCHS CLIP STEP SCHEDULE SEED the same with a ready pipeline, the last models averaged.
# Done cells are not done again, so that an interrupted run continues where it stopped.
cell() {
    local file
    file=$(file_of "$@")
    [ ! -s "$file" ] || return 0
    train "$@" | dp-eval --metrics accuracy --every 59 --data "$out/$2-test.dp" > "$file.part.$$"
    mv "$file.part.$$" "$file"
}
pipeline() {
    local file private=()
    file=$(file_of "$@")
    [ ! -s "$file" ] || return 0
    [ "$1" = sgd.sh ] || private=(--epsilon "$4" --delta "$delta" --clip "$6")
    "$1" --data "$out/$2.dp" --loss "$3" --lambda 0 "${private[@]}" --epochs "$5" --batch $batch --step "$7" --schedule "$8" --seed "$9" -q |
        dp-eval --metrics accuracy --every 59 --data "$out/$2-test.dp" > "$file.part.$$"
    mv "$file.part.$$" "$file"
}
file_of() {
    mkdir -p "$out/cells"
    echo "$out/cells/$(echo "$*" | tr ' :' '__')"
}
export -f laps sigma train cell pipeline file_of

# Runs the lines "cell …" and "pipeline …" on standard input, JOBS at a time (all processors).
run_cells() { xargs -d '\n' -P "${JOBS:-$(nproc)}" -I LINE bash -c 'set -euo pipefail; LINE'; }

# accuracy METHOD SET LOSS EPSILON EPOCHS CLIP STEP SCHEDULE [options]: the median over seeds of the last accuracy, "–" if not run
accuracy() {
    local seed file
    for seed in $(seq "$seeds"); do
        file=$(file_of "${@:1:8}" "$seed" "${@:9}")
        [ ! -s "$file" ] || tail -n 1 "$file" | cut -f 3
    done | sort -g | awk '{ a[NR] = $1 } END { if (NR == 0) print "–"; else printf "%.4f\n", (a[int((NR + 1) / 2)] + a[int(NR / 2) + 1]) / 2 }'
}
