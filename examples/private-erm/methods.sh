# shellcheck shell=bash disable=SC2154
# Sourced by run.sh: how a cell of the table is measured. A cell is "METHOD SET MU EPSILON"; it has one line of fields for the table:
#   rounds, laps or iterations, mean of F(w), its median, its deviation, CPU seconds of one round,
#   those of what was done once for all rounds, of what was done for each of them, what the gate says that a round costs

# seconds COMMAND…: runs it, and adds the CPU seconds of it and its children to $spent
seconds() {
    local TIMEFORMAT='%3U %3S' log=$work/time
    { time "$@" 2> "$work/messages"; } 2> "$log" || {
        cat "$work/messages" >&2
        return 1
    }
    spent=$(awk -v before="$spent" 'END { printf "%.3f", before + $1 + $2 }' "$log")
}

# objective SET MODEL: of every model of the stream, on the rows that it was trained on; nobody has paid for that
objective() { dp-eval --private-data --metrics objective --data "$out/$1.dp" --in "$2" | awk -F '\t' 'NR > 1 { print $3 }'; }

# --- the minimum -------------------------------------------------------------------------------------------------------------------
# minimum SET MU: leaves "F, bound on the norm of the gradient, |w|, F(0)" in its file. With mu it is found by
# objective perturbation: with next to no noise its record has a certificate for the minimum. Without mu it is the minimum that is not
# private, to a gradient of 1e-10, or as small as there is.
minimum() {
    local file=$results/minimum-$1-$2 data=$out/$1.dp model=$results/model-$1-$2 gradient
    [ ! -s "$file" ] || return 0
    if [ "$2" = 0 ]; then
        for gradient in 1e-10 4e-10 4e-8; do
            dp-loop --laps 1 -q -o "$model" -- "
                dp-sample  --data $data --mode full |
                dp-erm     --data $data --loss $(loss "$1") --tolerance $gradient --most 100000 --non-private |
                dp-account --non-private |
                dp-step" > /dev/null && break
        done
    else
        perturbed "$1" "$2" 1e-9 1e-6 1e30 --seed 1 -q -o "$model" > /dev/null
        gradient=$(calculate "$(sensitivity "$model") * $2 / 2 + 1e-9 / $(dp-info --get rows "$data")")
    fi
    tsv "$(objective "$1" "$model")" "$gradient" "$(dp-info --get model "$model" | awk '{ s += $1 * $1 } END { print sqrt(s) }')" \
        "$(at_zero "$1")" > "$file.part"
    mv "$file.part" "$file"
}
# at_zero SET: F at the model of zeros, of the labels alone
at_zero() {
    [ "$(loss "$1")" != logistic ] || { calculate 'log(2)' && return; }
    od -A n -v -t f8 -w8 -j 128 "$out/$1.dp/y.npy" | awk '{ u = $1 < 0 ? -$1 : $1; s += u < 1 ? u * u / 2 : u - 0.5 } END { printf "%.10g", s / NR }'
}

# --- output perturbation -----------------------------------------------------------------------------------------------------------
# as_printed SET MU EPSILON: "T step scale": iterations, step and noise of Zhang et al. D is the radius, L = 1. $noise says whether epsilon
# holds alone (gamma); the scale of Gaussian noise is its deviation.
as_printed() {
    awk -v n="$(dp-info --get rows "$out/$1.dp")" -v d="$(dp-info --get cols "$out/$1.dp")" -v mu="$2" -v epsilon="$3" -v delta="$delta" \
        -v beta="$(beta "$1")" -v D="$(radius "$1" "$2")" -v noise="$noise" 'BEGIN {
        spread = noise == "gamma" ? d ^ 2 : d * log(1 / delta)
        if (mu > 0) {
            beta += mu
            step = 1 / (mu + beta)
            t = (mu ^ 2 + beta ^ 2) / (mu * beta) * log((mu * n * epsilon * D) ^ 2 / spread)
            moves = 5 * (1 + beta / mu) / (n * beta)
        } else {
            step = 1 / beta
            t = ((beta * n * epsilon * D) ^ 2 / spread) ^ (1 / 3)
        }
        t = t > 1 ? int(t) + (t > int(t)) : 1
        if (mu == 0) moves = 3 * t / (beta * n)
        printf "%d %.10g %.10g\n", t, step, moves * (noise == "gamma" ? 1 : sqrt(2 * log(2 / delta))) / epsilon
    }'
}

# stopped SET MU EPSILON: "T step", fewer iterations where there is more noise, since each adds to the sensitivity. The rule is made of public
# numbers; its two constants were found on ADULT and WINE.
stopped() {
    local c=0.3
    [ "$(loss "$1")" = logistic ] || c=0.12
    awk -v c="$c" -v n="$(dp-info --get rows "$out/$1.dp")" -v mu="$2" -v epsilon="$3" -v beta="$(beta "$1")" 'BEGIN {
        t = int(c * (n * epsilon) ^ (2 / 3))
        printf "%d %.10g\n", (t > 1 ? t : 1), (mu > 0 ? 2 / (2 * mu + beta) : 1 / beta)
    }'
}

# descend SET MU T STEP: gradient descent, once. What leaves dp-erm, the bounded sum, is kept, and noise is drawn on it again and again: that is
# for measuring alone, since each draw would be paid for by itself.
descend() {
    local data=$out/$1.dp
    dp-loop --laps 1 -q -o "$work/first" -- "
        dp-sample  --data $data --mode full |
        dp-erm     --data $data --method descent --loss $(loss "$1") --lambda $2 --iterations $3 --step $4 --adjacency $adjacency |
        tee $work/bounded |
        dp-noise   --multiplier 1 |
        dp-account --epsilon 100 --delta $delta --no-ledger --allow-weak |
        dp-step" > "$work/stream"
}
# draw EPSILON MULTIPLIER: the noise of all rounds, each by programs of its own, with fresh keys
draw() {
    local r
    for r in $(seq "$rounds"); do
        dp-noise --noise "$noise" --multiplier "$2" --in "$work/bounded" | dp-account --epsilon "$1" --delta "$delta" --no-ledger --allow-weak | dp-step > "$work/round-$r"
    done
}
# output SET MU EPSILON T STEP [SCALE]: without a scale, the smallest that the sensitivity of the record allows
output() {
    local descent spent=0 z
    seconds descend "$1" "$2" "$4" "$5"
    descent=$spent
    z=$(multiplier "$3" "$delta" 1 1)
    [ $# -lt 6 ] || z=$(calculate "$6 / $(sensitivity "$work/bounded")")
    spent=0
    seconds draw "$3" "$z"
    dp-cat --frames "$work"/round-* > "$work/models"
    summary "$1" "$4" "$descent" "$spent"
}
# sensitivity FILE: of the record in it
sensitivity() { dp-cat --kind lap "$1" | sed 's/.*"sensitivity":\([^,}]*\).*/\1/'; }

# --- methods whose rounds are runs with a seed of their own ------------------------------------------------------------------------
# runs SET LAPS ROUNDS COMMAND…: with --seed and -o behind it
runs() {
    local r spent=0 set=$1 laps=$2 n=$3
    shift 3
    for r in $(seq "$n"); do seconds "$@" --seed "$r" -q -o "$work/round-$r" > /dev/null; done
    dp-cat --frames "$work"/round-* > "$work/models"
    summary "$set" "$laps" 0 "$spent"
}
# noisy_sgd SET MU EPSILON CONSTANTS: Bassily et al., batches of 50 on average, N steps. theorem is their noise for the N² steps of the theorem,
# of which N are taken.
noisy_sgd() {
    local rows
    rows=$(dp-info --get rows "$out/$1.dp")
    case $4 in
        tight) set -- "$@" --multiplier "$(multiplier "$3" "$delta" "50/$rows" "$rows")" ;;
        theorem) set -- "${@:1:3}" 2014 --multiplier "$(calculate "50 * sqrt(32 * log($rows / $delta) * log(1 / $delta)) / $3")" ;;
    esac
    runs "$1" "$rows" "$seeds" bassily.sh --data "$out/$1.dp" --loss "$(loss "$1")" --lambda "$2" --epsilon "$3" --delta "$delta" --batch 50 \
        --epochs 50 --radius "$(radius "$1" "$2")" --constants "${@:4}" --no-ledger
}
# permuted SET MU EPSILON: Wu et al. 2017: ten passes of batches of 50 rows over one random order, noise on the last model
permuted() {
    runs "$1" 1 "$seeds" outpert-psgd.sh --data "$out/$1.dp" --loss "$(loss "$1")" --lambda "$2" --epsilon "$3" --delta "$delta" --batch 50 \
        --epochs 10 --distance "$(radius "$1" "$2")" --no-ledger
}
# noisy_gd SET MU EPSILON: all rows in each of 100 laps, the models of the last 50 averaged. Where the budget is large there is momentum.
noisy_gd() {
    local how data=$out/$1.dp
    how="--step $(calculate "2 / $(beta "$1")")"
    [ "$(calculate "$3 >= 0.5")" = 0 ] || how="--step $(calculate "1 / $(beta "$1")") --momentum 0.8"
    runs "$1" 100 "$seeds" dp-loop --laps 100 "
        dp-sample  --data $data --mode full |
        dp-grad    --data $data --loss $(loss "$1") --lambda $2 --clip 1 |
        dp-noise   --multiplier $(multiplier "$3" "$delta" 1 100) |
        dp-account --epsilon $3 --delta $delta --allow-seeded --no-ledger |
        dp-step    $how --average tail"
}
# objective_perturbation SET MU EPSILON: noise on the objective, and an exact minimum. The noise that hides what is missing of exactness
# has a multiplier of 1e4.
objective_perturbation() {
    local z two='' rows
    rows=$(dp-info --get rows "$out/$1.dp")
    [ "$(loss "$1")" = logistic ] || two=--two-sided
    z=$(dp-account sigma --mechanism objective --epsilon "$3" --delta "$delta" --laps 1 --slack 1e4 $two \
        --curvature "$(calculate "1.00001 * $(beta "$1") / ($2 * $rows)")")
    runs "$1" 1 "$rounds" perturbed "$1" "$2" "$z" 1e4 "$3"
}
# curvature_fits SET MU EPSILON: whether some noise would do. Of the budget, ln(1 + curvature) is spent whatever the noise.
curvature_fits() {
    [ "$(calculate "log(1 + $(beta "$1") / ($2 * $(dp-info --get rows "$out/$1.dp"))) < 0.99 * $3")" = 1 ]
}
# perturbed SET MU MULTIPLIER SLACK EPSILON OPTION…: one run
perturbed() {
    local data=$out/$1.dp
    dp-loop --laps 1 "${@:6}" -- "
        dp-sample  --data $data --mode full |
        dp-erm     --data $data --loss $(loss "$1") --lambda $2 --multiplier $3 |
        dp-noise   --multiplier $4 |
        dp-account --epsilon $5 --delta $delta --allow-seeded --no-ledger |
        dp-step"
}

# --- Algorithm 2 as printed: batches of one row, R up to n² ------------------------------------------------------------------------
# The first 500 people of ADULT, mu = 0, epsilon = 1. The step is the constant one of Theorem 5, min(1/beta, D_F / (sigma n)), with F* >= 0.
# rrpsgd SEED HOW: one run; as printed, the noise on one row's gradient, whose sensitivity is 1, has the variance 4 ln(3n/delta) ln(2/delta) / epsilon²
rrpsgd() {
    local file=$results/cells/horizon-$2-$1 data=$out/ADULT-500.dp n=500 spent=0 z step multiplier=() work
    [ ! -s "$file" ] || return 0
    work=$(mktemp -d "$results/cells/work.XXXXXX")
    z=$(calculate "sqrt(4 * log(3 * $n / $delta) * log(2 / $delta))")
    step=$(calculate "sqrt(2 * log(2) / 0.25) / (sqrt(4 + $(dp-info --get cols "$data") * $z ^ 2) * $n)")
    [ "$2" != printed ] || multiplier=(--multiplier "$z")
    seconds rrpsgd.sh --data "$data" --loss logistic --lambda 0 --batch 1 --epochs $n --step "$step" --clip 1 --epsilon 1 --delta "$delta" \
        --no-ledger "${multiplier[@]}" --seed "$1" -o "$work/model" -q
    tsv "$2" "$1" "$(dp-info --get lap "$work/model")" "$(objective ADULT-500 "$work/model")" "$(dp-info --get epsilon "$work/model")" "$spent" > "$file"
    rm -r "$work"
}
horizon() {
    local seed
    [ -e "$raw/adult/adult.data.gz" ] || return 0
    [ -d "$out/ADULT-500.dp" ] || table ADULT | sed -n '1,500p' |
        dp-import csv -q --schema schema-ADULT.json --bias --row-norm unit --population ADULT-500 -o "$out/ADULT-500.dp" -
    minimum ADULT-500 0
    for seed in $(seq "$seeds"); do printf 'rrpsgd %s printed\nrrpsgd %s tight\n' "$seed" "$seed"; done | run_cells
}
# horizon_lines: for measured.tsv: noise, runs, mean R, mean error, its deviation, mean epsilon that the gate states, CPU seconds of a run
horizon_lines() {
    local how least
    for how in printed tight; do
        [ -s "$results/cells/horizon-$how-1" ] || continue
        least=$(cut -f 1 "$results/minimum-ADULT-500-0")
        cat "$results/cells/horizon-$how"-* | awk -F '\t' -v OFS='\t' -v how=$how -v least="$least" '{ r += $3; e += $4 - least; q += ($4 - least) ^ 2; c += $5; s += $6 }
            END { v = (q / NR - (e / NR) ^ 2); printf "horizon\t%s\t%d\t%.0f\t%.3g\t%.2g\t%.3g\t%.2f\n", how, NR, r / NR, e / NR, sqrt(v > 0 ? v : 0), c / NR, s / NR }'
    done
}

# summary SET LAPS ONCE SECONDS: of the models in $work/models, which took SECONDS, and ONCE what was done once for all of them
summary() {
    objective "$1" "$work/models" | sort -g > "$work/values"
    awk -v laps="$2" -v once="$3" -v all="$4" -v epsilon="$(cost)" '{ e[NR] = $1; s += $1 - e[1]; q += ($1 - e[1]) ^ 2 }
        END {
            v = NR > 1 ? (q - s * s / NR) / (NR - 1) : 0
            printf "%d\t%d\t%.12g\t%.12g\t%.3g\t%.3f\t%.3f\t%.3f\t%.4g\n", NR, laps, e[1] + s / NR, (e[int((NR + 1) / 2)] + e[int(NR / 2) + 1]) / 2,
                (v > 0 ? sqrt(v) : 0), once + all / NR, once, all, epsilon
        }' "$work/values"
}
cost() { dp-info --get epsilon "$work/models"; }

# cell METHOD SET MU EPSILON: leaves its line in its file. Done cells are not done again, so that an interrupted run continues where it stopped.
cell() {
    local file=$results/cells/$1-$2-$3-$4 adjacency=null-record noise=gaussian spent=0 work t step scale
    [ ! -s "$file" ] || return 0
    [ "$1" != objective ] || curvature_fits "${@:2}" || return 0
    work=$(mktemp -d "$results/cells/work.XXXXXX")
    [[ $1 != *-wide ]] || export wide=wide
    case ${1%-wide} in
        published | gamma)
            [ "$1" != gamma ] || noise=gamma
            read -r t step scale <<< "$(as_printed "${@:2}")"
            output "${@:2}" "$t" "$step" "$scale"
            ;;
        tight | tight-replace)
            [ "$1" = tight ] || adjacency=replace-one
            read -r t step _ <<< "$(as_printed "${@:2}")"
            output "${@:2}" "$t" "$step"
            ;;
        stopped)
            read -r t step <<< "$(stopped "${@:2}")"
            output "${@:2}" "$t" "$step"
            ;;
        sgd-2014) noisy_sgd "${@:2}" 2014 ;;
        sgd-theorem) noisy_sgd "${@:2}" theorem ;;
        sgd) noisy_sgd "${@:2}" tight ;;
        psgd) permuted "${@:2}" ;;
        gd) noisy_gd "${@:2}" ;;
        objective) objective_perturbation "${@:2}" ;;
    esac > "$work/line"
    mv "$work/line" "$file"
    rm -r "$work"
}

export -f seconds objective minimum at_zero as_printed stopped descend draw output sensitivity runs noisy_sgd permuted noisy_gd rrpsgd objective_perturbation \
    curvature_fits perturbed summary cost cell
