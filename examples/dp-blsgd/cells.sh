# shellcheck shell=bash disable=SC2154
# Sourced by run.sh: how one model is trained and measured, and how cells are averaged.

# stream METHOD SET LOSS EPSILON REPETITION FOLD SETTING: the released models of one run
stream() {
    local set=$2 loss=$3 epsilon=$4 data=$out/$2/train-$parts-$5-$6.dp seed=$((1000 * $5 + $6)) d lambda rows published='' laps=''
    read -r d lambda <<< "$(in_rows "$set")"
    rows=$(dp-info --get rows "$data")
    [ "$loss" != svm ] || loss=huberised-hinge
    [[ $1 != *-published ]] || published=1
    case ${1%-published} in
        majority | non-private) erm.sh --data "$data" --loss "$loss" --lambda "$lambda" -q ;;
        sgd) descend "$7" ;;
        sgd-c3) descend "${7% *} $(calculate "3 / $d")" ;; # the clip of section 5.4
        blsgd) ours "$7" ;;
        ac) paper "--clip-decay 0.05 $7" ;;
        paper) paper "$7" ;;
        blgd) full_batch ;;
        agd) noisy_max ;;
        outpert-gd) as_it_comes outpert-gd.sh ;;
        outpert-rsgd) coins ;;
        objpert) regularised && as_it_comes objpert.sh ;;
        privgene) as_it_comes privgene.sh ;;
        *) echo "no method $1" >&2 && return 2 ;;
    esac
}

# search: the pipeline of all methods that search. They set the variables that are in its text. --average polynomial is a mean in which
# late models weigh more, and which need not know how many there will be.
search() {
    local gate="--epsilon $epsilon --delta $delta ${adaptive:+--adaptive}" pairs=${laps:-30000} afforded
    if [ -z "$published" ]; then
        searched
        return
    fi
    # The gate stops no run where the paper would: the run is longer than that, and cut where the calculator says.
    gate="--epsilon 1e6 --delta $delta ${adaptive:+--adaptive}" pairs=${laps:-64}
    until searched > "$run.long" && { [ "$pairs" = "${laps:-30000}" ] || ! affords "$run.long"; }; do
        pairs=$((pairs < 15000 ? 2 * pairs : 30000))
    done
    afforded=$(afforded "$run.long")
    first_laps "$afforded" < "$run.long"
    rm "$run.long"
}

# claim ACCOUNTANT FILE [LAPS]: what it says of the first laps of a run
claim() {
    dp-cat --kind lap "$2" | head -n "${3:-100000}" | dp-account epsilon --delta "$delta" --accountant "$1" 2> /dev/null
}
affords() { [ "$(calculate "$(claim blsgd "$@") <= $epsilon")" = 1 ]; }

# afforded FILE: how many laps of a run hold the budget by the paper's accounting
afforded() {
    local low=0 high middle
    high=$(($(dp-cat --kind lap "$1" | wc -l) + 1))
    while [ $((high - low)) -gt 1 ]; do
        middle=$(((low + high) / 2))
        if affords "$1" "$middle"; then low=$middle; else high=$middle; fi
    done
    echo "$low"
}

# first_laps N: of the stream on standard input
first_laps() {
    /usr/bin/python3 -c 'import msgpack, sys
for frame in msgpack.Unpacker(sys.stdin.buffer, raw=False, max_buffer_size=0):
    if frame["kind"] != "lap" or frame["lap"] <= int(sys.argv[1]): sys.stdout.buffer.write(msgpack.packb(frame))' "$1"
}

searched() {
    local adapt=$adapt clipping="dp-grad --on gradient --data $data --loss $loss --lambda $lambda"
    case $decay in
        0) clipping+=" --clip $clip" ;;
        *) clipping+=" | dp-clip --on gradient --data $data --clip $clip --follow" adapt+=" --clip $clip --clip-decay $decay" ;;
    esac
    local average=polynomial
    [ -n "$adaptive" ] || average='tail'
    dp-loop --plan "(gradient, search) $pairs" --until-spent --seed "$seed" -q -- "
        dp-sample --data $data --rate $rate |
        $clipping |
        dp-noise --on gradient --multiplier $z --follow |
        dp-linesearch --on search --data $data $how --clip $loss_clip --first-step $first --follow |
        dp-account $gate --allow-seeded --no-ledger |
        dp-step --on gradient --hold $hold |
        dp-step --on search --average $average |
        dp-adapt --first-step $first --multiplier $z $adapt"
}

# ours SETTING: DP-BLSGD as blsgd.sh has it, one setting for all epsilons and data. The noise is constant.
ours() {
    local armijo=0.5 beta=0.8 noise=laplace rate=0.1 decay=0 adaptive='' how z clip=0.5 loss_clip=2 first=50 hold='' adapt=''
    options "$1"
    budgets
    search
}

# budgets: of the Rényi divergence that T laps of DP-SGD cost at epsilon, four parts of five are for gradients and one for searches. T
# depends on public numbers.
budgets() {
    local sigma
    laps=$(awk "BEGIN { t = int($epsilon * $rows / 50); if (t < 30) t = 30; if (t > 300) t = 300; print t }")
    sigma=$(multiplier "$epsilon" "$delta" "$rate" "$laps")
    z=$(calculate "$sigma / sqrt(0.8)")
    how=$(search_with "$(calculate "sqrt(0.2) / $sigma")")
}

# search_with E: the options of a search. With Gaussian noise, rho is such that it costs the same by the paper's theorems.
search_with() {
    local budget="--epsilon $1"
    [ "$noise" = laplace ] || budget="--noise gaussian --rho $(calculate "$1 * $1 / 4")"
    echo "--tries 30 --armijo $armijo --beta $beta $budget"
}

# options SETTING: into the variables of their names
options() {
    local word option=''
    for word in $1; do
        case $word in
            --*) option=${word#--} ;;
            *) printf -v "${option#clip-}" %s "$word" ;;
        esac
    done
}

# paper SETTING: DP-BLSGD with the settings of section 5.4, but for the first step and the number of tries, which the paper does not give.
# --policy no|must|adap: as in figure 1, after a failed search budgets never grow, that of gradients always grows, or angles decide
paper() {
    local armijo=0.5 beta=0.8 noise=laplace rate=0.1 decay=0 policy=adap adaptive=1 how z clip loss_clip=1 first=20 hold='' adapt='--policy adaptive --narrow'
    options "$1"
    case $policy in
        no) adapt+=' --growth 0' ;;
        must) adapt+=' --angle-max 0' ;;
    esac
    z=$(calculate "100 / $epsilon")
    clip=$(calculate "3 / $d")
    how=$(search_with "$(calculate "$epsilon / 100")")
    search
}

# full_batch: DP-BLGD, as blgd.sh has it: all rows in each lap. The budget of gradients grows when a search fails, and the next one is
# averaged with the one at hand.
full_batch() {
    local armijo=0.5 beta=0.8 noise=laplace rate=1 decay=0 adaptive=1 how z clip=0.5 loss_clip=2 first=50 hold=--average-gradients \
        adapt='--policy on-failure --average-gradients'
    budgets
    search
}

# noisy_max: DP-AGD, with the settings of its authors' code: 60 splits, 20 steps along a direction of norm 1 up to 2 (D times that here),
# gradients whose budget grows by 0.1
noisy_max() {
    local rate=1 decay=0 adaptive=1 how z e clip loss_clip=3 first hold='--normalise --average-gradients' \
        adapt='--policy on-failure --growth 0.1 --average-gradients --widen 1.1'
    e=$(calculate "$epsilon / 120")
    z=$(calculate "sqrt(2 * log(1.25 / $delta)) / $e")
    clip=$(calculate "3 / $d")
    first=$(calculate "2 * $d")
    how="--method noisy-max --tries 20 --epsilon $e"
    search
}

# descend SETTING: DP-SGD, where SETTING is "rate passes step clip". The last half of the models is averaged.
descend() {
    local rate passes step bound batch
    read -r rate passes step bound <<< "$1"
    batch=$(awk "BEGIN { printf \"%d\", $rate * $rows + .5 }")
    laps=$(((passes * rows + batch - 1) / batch))
    dp-sgd.sh --data "$data" --loss "$loss" --lambda "$lambda" --epsilon "$epsilon" --delta "$delta" --epochs "$passes" --batch "$batch" \
        --clip "$bound" --step "$step" --seed "$seed" \
        --multiplier "$(multiplier "$epsilon" "$delta" "$batch/$rows" "$laps")" --no-ledger -q
}

# as_it_comes PIPELINE OPTION…: with its own defaults
as_it_comes() {
    "$@" --data "$data" --loss "$loss" --lambda "$lambda" --epsilon "$epsilon" --delta "$delta" --seed "$seed" --no-ledger -q
}

# coins: OutPert-RSGD: Poisson batches with a rate of a tenth, steps of 1 / beta, and noise on the last model. There are so many passes
# that the noise of a release on all rows, which is a little less than that of this one, moves a weight by 0.4, but 100 at most, since
# the rounding of many steps cannot be bounded so well.
coins() {
    local beta sigma passes draws batch=$((rows / 10)) kept
    beta=$(calculate "$([ "$loss" = logistic ] && echo 0.25 || echo 1) + $lambda")
    sigma=$(dp-account sigma --mechanism output --epsilon "$epsilon" --delta "$delta")
    passes=$(awk "BEGIN { passes = int(0.4 * $batch * $beta / $sigma + 0.5); print (passes < 1 ? 1 : passes > 100 ? 100 : passes) }")
    draws=$(((passes * rows + batch - 1) / batch))
    kept=$(calculate "1 - $lambda / $beta")
    sigma=$(dp-account sigma --sampler repeated --rate "$batch/$rows" --draws "$draws" --contraction "$kept" --laps 1 --epsilon "$epsilon" --delta "$delta")
    dp-loop --laps 1 --seed "$seed" -q -- "
        dp-sample --data $data --mode full |
        dp-erm --data $data --loss $loss --lambda $lambda --method coins --passes $passes --batch $batch |
        dp-noise --multiplier $(calculate "1.003 * $sigma") |
        dp-account --epsilon $epsilon --delta $delta --allow-seeded --no-ledger |
        dp-step"
}

# regularised: what objective perturbation charges for the change of curvature, ln(1 + beta / (lambda N)), must be below epsilon; with at
# least this lambda it is a tenth of it, and the noise moves the minimum the less
regularised() {
    local beta=0.25
    [ "$loss" = logistic ] || beta=1
    lambda=$(calculate "((l = 10 * $beta / ($epsilon * $rows)) > $lambda ? l : $lambda)")
}

# evaluated FILE METRIC DATA: "value epsilon" of the last model. DATA are rows of the people it was trained on, or of the same table.
evaluated() {
    dp-eval --last --private-data --metrics "$2" --in "$1" --data "$3" | awk -F '\t' -v metric="$2" '
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
        END { print $column[metric], $column["epsilon"] }'
}

# counts FILE: how many gradients and how many values of the objective a run has asked for. A search that backtracks and chooses step k has
# looked at k + 1 of them, one that finds none at all there are; a noisy maximum looks at all.
counts() {
    dp-cat --kind lap "$1" | awk '!/"lap_kind":"search"/ { gradients++; next }
        {
            k = after("\"choice\":{\"dtype\":\"i8\",\"shape\":[1,1],\"values\":[")
            steps = after("\"steps\":{\"dtype\":\"f8\",\"shape\":[")
            values += /"noise":"pure"/ ? steps : k < steps - 1 ? k + 1 : k
        }
        function after(words) { return substr($0, index($0, words) + length(words)) + 0 }
        END { print gradients + 0, values + 0 }'
}

# of_mu FILE OBJECTIVE "D LAMBDA": the objective of a model that was trained with another lambda, with the LAMBDA of the others
of_mu() {
    dp-info --get model "$1" | awk -v objective="$2" -v trained="$(dp-info --get lambda "$1")" -v lambda="${3#* }" '
        { square += $1 * $1 }
        END { printf "%.17g", objective - (trained - lambda) / 2 * square }'
}

# cell METHOD SET LOSS EPSILON REPETITION FOLD SETTING: leaves one line in the file of the cell:
#   test accuracy, objective on the training rows, gradients, evaluations of the objective, epsilon, sound epsilon
# Done cells are not done again, so that an interrupted run continues where it stopped.
cell() {
    local file run metric=accuracy accuracy objective epsilon sound
    file=$(file_of "$@")
    [ ! -s "$file" ] || return 0
    run=$file.$BASHPID
    [ "$1" != majority ] || metric=majority
    stream "$@" > "$run.stream"
    read -r accuracy epsilon < <(evaluated "$run.stream" "$metric" "$out/$2/test-$parts-$5-$6.dp")
    sound=$epsilon
    read -r objective _ < <(evaluated "$run.stream" objective "$out/$2/train-$parts-$5-$6.dp")
    case $1 in
        *-published) epsilon=$(claim blsgd "$run.stream") sound=$(claim rdp "$run.stream") ;;
        majority) objective=nan ;;
        objpert) objective=$(of_mu "$run.stream" "$objective" "$(in_rows "$2")") ;;
    esac
    echo "$accuracy $objective $(counts "$run.stream") $epsilon $sound" > "$run"
    rm "$run.stream"
    mv "$run" "$file"
}
file_of() {
    local name="$*"
    echo "$results/cells/${name//[ \/]/_}"
}
export -f in_rows stream search searched claim affords afforded first_laps ours budgets search_with options paper full_batch noisy_max descend as_it_comes coins regularised evaluated counts of_mu cell file_of

# mean METHOD SET LOSS EPSILON SETTING: over the folds that were measured:
#   how many, accuracy, its deviation, objective, its deviation, gradients, evaluations, epsilon, sound epsilon
mean() {
    local r k file
    for r in $(seq "$repetitions"); do
        for k in $(seq 0 $((folds - 1))); do
            file=$(file_of "$1" "$2" "$3" "$4" "$r" "$k" "$5")
            [ ! -s "$file" ] || cat "$file"
        done
    done | awk 'function deviation(i,    v) {
            v = NR > 1 ? (square[i] - sum[i] * sum[i] / NR) / (NR - 1) : 0
            return v > 0 ? sqrt(v) : 0
        }
        { for (i = 1; i <= 6; i++) { sum[i] += $i; square[i] += $i * $i } }
        END { if (NR) printf "%d\t%.5f\t%.5f\t%.5f\t%.5f\t%.1f\t%.1f\t%.4g\t%.4g\n", NR, sum[1] / NR, deviation(1), sum[2] / NR, deviation(2),
            sum[3] / NR, sum[4] / NR, sum[5] / NR, sum[6] / NR }'
}

# against METHOD SETTING METHOD SETTING SET LOSS EPSILON [LOSS]: "difference error", how much more accurate the first is than the second, with
# the same folds and the same coins, and the standard error of that; the second with another loss
against() {
    local r k one other
    for r in $(seq "$repetitions"); do
        for k in $(seq 0 $((folds - 1))); do
            one=$(file_of "$1" "$5" "$6" "$7" "$r" "$k" "$2") other=$(file_of "$3" "$5" "${8:-$6}" "$7" "$r" "$k" "$4")
            [ ! -s "$one" ] || [ ! -s "$other" ] || paste -d ' ' "$one" "$other"
        done
    done | awk '{ d = $1 - $7; s += d; q += d * d }
        END { if (NR) printf "%.5f\t%.5f\n", s / NR, error(q - s * s / NR, NR) }
        function error(square, n) { return n < 2 || square < 0 ? 0 : sqrt(square / (n - 1) / n) }'
}
