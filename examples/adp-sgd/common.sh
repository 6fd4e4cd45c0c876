# shellcheck shell=bash
# Sourced by the scripts here: the numbers that all runs share, and how one model is trained and measured.
. "$(dirname "${BASH_SOURCE[0]}")/../common/common.sh"
export seeds=${SEEDS:-1}
export rows=60000 batch=1024 paper_batch=256 delta=1e-5
export network='28x28x1 * 28; conv 16 8x8/2 pad 2 tanh; pool 2/1; conv 32 4x4/2 tanh; pool 2/1; fc 32 tanh; fc 10' # 26,010 parameters
export cifar_network='32x32x3 * 221.7 - 1.89; conv 16 5x5/2 pad 2 tanh; mean-pool 2; conv 32 3x3 pad 1 tanh; mean-pool 2; fc 10' # 10,986

# laps EPOCHS [ROWS]
laps() { echo $((($1 * ${2-$rows} + batch - 1) / batch)); }

# rows_of SET: of the training rows
rows_of() { case $1 in cifar*) echo 25000 ;; *) echo 60000 ;; esac; }

# sigma EPSILON LAPS SCHEDULE [option…]: the multiplier, that of lap 1, with which a run keeps to epsilon
sigma() { multiplier "$1" $delta "$batch/$rows" "$2" --schedule "$3" "${@:4}"; }

# batch_of EPSILON: as below
batch_of() { case $1 in *:*) echo "$paper_batch" ;; *) echo "$batch" ;; esac; }

# train METHOD SET LOSS EPSILON EPOCHS CLIP STEP SCHEDULE SEED [options of dp-step]: the stream of models.
# METHOD dp has constant noise. With adp the square of the noise follows the b_t of SCHEDULE. The steps are the same, eta / b_t;
# with adaptive ones (--optimizer adagrad-norm) SCHEDULE is that of the noise alone. No averages, as in the paper. LOSS network is the
# softmax loss of a network; on the set cifar it starts from the public one. EPSILON bar:E is the noise of the paper, by its equation (6) for an epsilon of 16 E, and noise:Z is the
# multiplier of each lap, both in the paper's batches.
train() {
    local method=$1 set=$2 loss=$3 epsilon=$4 t clip=$6 step=$7 schedule=$8 seed=$9 noise=constant z gradients rows network=$network batch start=
    batch=$(batch_of "$epsilon") rows=$(rows_of "$set")
    [ "$set" != cifar ] || network=$cifar_network start="--init $results/cifar-start-$5"
    t=$(laps "$5")
    shift 9
    [ "$method" = dp ] || noise=$schedule
    [[ $* != *adagrad* ]] || schedule=constant
    gradients="dp-grad --loss $loss"
    [ "$loss" != network ] || gradients="dp-net-grad --network '$network' --loss softmax"
    case $epsilon in
        bar:*) epsilon=$(calculate "16 * ${epsilon#*:}") && z=$(sigma "$epsilon" "$t" "$noise" --accountant adp-sgd) ;;
        noise:*) z=${epsilon#*:} epsilon=99 ;;
        *) z=$(sigma "$epsilon" "$t" "$noise") ;;
    esac
    # shellcheck disable=SC2086 # no word or two
    dp-loop --laps "$t" --seed "$seed" -q $start "
        dp-sample  --data $out/$set.dp --rate $batch/$rows |
        $gradients --data $out/$set.dp --clip $clip |
        dp-noise   --multiplier $z --schedule $noise |
        dp-account --epsilon $epsilon --delta $delta --allow-seeded |
        dp-step    --step $step --schedule $schedule $*"
}

# cell METHOD SET …: trains as above and leaves lap, epsilon and test accuracy of every epoch in a file
cell() {
    local file batch
    file=$(file_of "$@") batch=$(batch_of "$4")
    [ ! -s "$file" ] || return 0
    train "$@" | dp-eval --metrics accuracy --every "$(laps 1 "$(rows_of "$2")")" --data "$out/$2-test.dp" > "$file.part.$$"
    mv "$file.part.$$" "$file"
}
file_of() {
    echo "$results/cells/$(echo "$*" | tr ' :' '__')"
}
export -f laps rows_of sigma batch_of train cell file_of

# accuracies METHOD SET LOSS EPSILON EPOCHS CLIP STEP SCHEDULE [options]: of each seed that was run the best accuracy, the last one, and the
# epsilon by the accountant
accuracies() {
    local seed file
    for seed in $(seq "$seeds"); do
        file=$(file_of "${@:1:8}" "$seed" "${@:9}")
        [ ! -s "$file" ] || awk -F '\t' -v seed="$seed" 'NR > 1 { best = $3 > best ? $3 : best; last = $3; cost = $2 } END { print seed, best + 0, last, cost }' "$file"
    done
}

# accuracy METHOD SET LOSS EPSILON EPOCHS CLIP STEP SCHEDULE [options]: the median over seeds of the last accuracy, "–" if not run
accuracy() {
    local seed file
    for seed in $(seq "$seeds"); do
        file=$(file_of "${@:1:8}" "$seed" "${@:9}")
        [ ! -s "$file" ] || tail -n 1 "$file" | cut -f 3
    done | median | sed 's/^-$/–/'
}
