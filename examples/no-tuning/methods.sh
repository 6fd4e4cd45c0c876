# shellcheck shell=bash disable=SC2154
# Sourced by run.sh: how one model is trained and measured.

# settings METHOD SET: what is tried, one a line. The choice among several is made on the test rows, and not charged.
settings() {
    local batch clip step laps loss
    case $1-$(part_of "$2") in
        sgd-numbers)
            for batch in 100 500; do for clip in 0.01 0.1 1; do for step in 1 4 16 64; do echo "--batch $batch --clip $clip --step $step"; done; done; done
            ;;
        sgd-pictures)
            for batch in 500 2000; do for clip in 0.5 1; do for step in 1 2 4 8 16 32; do echo "--batch $batch --clip $clip --step $step"; done; done; done
            ;;
        sgd-*)
            for batch in 50 200 500; do for clip in 0.5 1; do for step in 1 4 16 64; do echo "--batch $batch --clip $clip --step $step"; done; done; done
            ;;
        full-numbers)
            for laps in 32 128; do for step in 0.5 2 8 32; do for clip in 0.01 0.05 0.2 1; do echo "$laps $step squared $clip"; done; done; done
            ;;
        full-*)
            for laps in 32 64 128 256; do
                for step in 4 8 16 32; do
                    for loss in "$([ "$(part_of "$2")" = pictures ] && echo softmax || echo logistic)" huberised-hinge; do echo "$laps $step $loss 1"; done
                done
            done
            ;;
        adam-*) for batch in 100 500; do for step in 0.02 0.05 0.1; do echo "--batch $batch --step $step"; done; done ;;
        optimum-numbers) for step in 1e-5 1e-7; do echo "--loss squared --lambda $step"; done ;;
        optimum-pictures) for step in 1e-5 $([ "$2" != cifar ] || echo 1e-7); do echo "--loss softmax --lambda $step"; done ;;
        optimum-*) for loss in logistic huberised-hinge; do for step in 1e-5 1e-7; do echo "--loss $loss --lambda $step"; done; done ;;
        tuned-*) [ "$(part_of "$2")" != classes ] || echo 'as it comes' ;;
        *) echo 'as it comes' ;;
    esac
}

# train METHOD SET ROUND EPSILON SETTING MODEL
train() {
    local data common words
    data=$(data "$2" "$3").dp
    common="--data $data --seed $3 -q -o $6"
    [ "$5" != 'as it comes' ] || set -- "${@:1:4}" '' "$6"
    read -ra words <<< "$common $5"
    [ "$1" = optimum ] || words+=(--epsilon "$4" --delta "$(delta "$2")" --no-ledger)
    case $1 in
        fit) fit.sh "${words[@]}" ;;
        sgd) dp-sgd.sh "${words[@]}" --multiplier "$(of_epochs "$data" "$2" "$4" "$5")" ;;
        adam) dp-adam.sh "${words[@]}" --multiplier "$(of_epochs "$data" "$2" "$4" "$5")" ;;
        scd) scd.sh "${words[@]}" ;;
        optimum) erm.sh "${words[@]}" ;;
        full) full_batches "$data" "${@:2}" ;;
        tuned) tuned "$data" "${@:2:3}" "$6" ;;
        adassp) adassp "$2" "$3" "$4" "$6" ;;
    esac
}
# of_epochs DATA SET EPSILON "--batch B …": the multiplier of ten passes
of_epochs() {
    local rows batch=${4#--batch }
    rows=$(dp-info --get rows "$1")
    batch=${batch%% *}
    [ "$batch" -le "$rows" ] || batch=$rows
    multiplier "$3" "$(delta "$2")" "$batch/$rows" $(((10 * rows + batch - 1) / batch))
}
# full_batches DATA SET ROUND EPSILON "LAPS STEP LOSS CLIP" MODEL: all rows in every lap, momentum, the mean of the second half
full_batches() {
    local laps step loss clip
    read -r laps step loss clip <<< "$5"
    dp-loop --laps "$laps" --seed "$3" -q -o "$6" -- "
        dp-sample  --data $1 --mode full |
        dp-grad    --data $1 --loss $loss --lambda 1e-5 --clip $clip |
        dp-noise   --multiplier $(multiplier "$4" "$(delta "$2")" 1 "$laps") |
        dp-account --epsilon $4 --delta $(delta "$2") --allow-seeded --no-ledger |
        dp-step    --step $step --momentum 0.9 --average tail" > /dev/null
}

# tuned DATA SET ROUND EPSILON MODEL: full batches, with a choice among the same settings that is charged: ten runs on average, scored on the
# training rows with noise of 20 / epsilon rows
tuned() {
    local trials setting laps z
    trials="--trials geometric:0.1 --score-multiplier $(calculate "20 / $4")"
    {
        echo laps step loss z
        settings full "$2" | while read -r setting; do
            laps=${setting%% *}
            # shellcheck disable=SC2086 # a list of words
            z=$(multiplier "$4" "$(delta "$2")" 1 "$laps" $trials)
            echo "${setting% *} $z"
        done
    } > "$5.grid"
    # shellcheck disable=SC2086 # a list of words
    dp-tune --grid "$5.grid" $trials --score-data "$1" --epsilon "$4" --delta "$(delta "$2")" --no-ledger --seed "$3" -q --model "$5" -- "
        dp-loop --laps {laps} --seed {seed} -q -- '
            dp-sample  --data $1 --mode full |
            dp-grad    --data $1 --loss {loss} --lambda 1e-5 --clip 1 |
            dp-noise   --multiplier {z} |
            dp-account --trial {trial} --allow-seeded |
            dp-step    --step {step} --momentum 0.9 --average tail'"
    rm "$5.grid"
}

# adassp SET ROUND EPSILON MODEL: sufficient statistics: two laps over all rows, for the moments of the rows and for the sum of y x, which is the
# gradient of the squared loss at the model of zeros. adassp.awk solves for a model, which is none that dp-eval reads, scores the test rows,
# and leaves accuracy or R².
adassp() {
    local data test z
    data=$(data "$1" "$2").dp test=$(data "$1" "$2")-test.dp
    z=$(multiplier "$3" "$(delta "$1")" 1 2)
    dp-loop --plan 'gradient 1, moments 1' --seed "$2" -q -- "
        dp-sample    --data $data --mode full |
        dp-grad      --on gradient --data $data --loss squared --clip 1 |
        dp-moments   --on moments --data $data |
        dp-noise     --multiplier $z |
        dp-account   --epsilon $3 --delta $(delta "$1") --allow-seeded --no-ledger |
        tee $4.frames |
        dp-transform --on moments --rank 1 |
        dp-step      --on gradient --step 1" > /dev/null
    {
        sums "$4.frames" 2 | sed 's/^/moments /'
        sums "$4.frames" 1 | sed 's/^/gradient /'
        od -A n -v -t f4 -w$((4 * $(dp-info --get cols "$test"))) -j 128 "$test/X.npy" | sed 's/^/row/'
        od -A n -v -t f8 -w8 -j 128 "$test/y.npy" | sed 's/^/label/'
    } | awk -v cols="$(dp-info --get cols "$data")" -v classes="$(dp-info --get classes "$data")" -v z="$z" -f "$here/adassp.awk" > "$4"
    rm "$4.frames"
}
# sums FRAMES LAP: the released sum of a lap, a number a line
sums() {
    dp-cat --lap "$2" --frames "$1" > "$1.lap"
    dp-info --get sum "$1.lap" | awk -v grid="$(dp-info --get grid "$1.lap")" '{ printf "%.10g\n", $1 * grid }'
    rm "$1.lap"
}

# score SET ROUND MODEL: accuracy, area under the ROC curve and log loss, or R²; - for what there is not
score() {
    local metrics=accuracy
    case $(part_of "$1") in
        numbers) metrics=r2 ;;
        classes)
            metrics+=,auc
            [ "$(dp-info --get loss "$3")" != logistic ] || metrics+=,logloss
            ;;
    esac
    dp-eval --last --metrics $metrics --in "$3" --data "$(data "$1" "$2")-test.dp" |
        awk -F '\t' -v OFS='\t' 'NR == 2 { print sprintf("%.5f", $3), (NF > 3 ? sprintf("%.5f", $4) : "-"), (NF > 4 ? sprintf("%.5f", $5) : "-") }'
}

# file_of METHOD SET EPSILON SETTING ROUND: where the line of a model is
file_of() { echo "$results/cells/$1/$2/$3/${4//[\/ ]/_}/$5"; }
# cell METHOD SET EPSILON SETTING ROUND: leaves CPU seconds and scores in its file. Done cells are not done again, so that an interrupted run
# continues where it stopped. A model that is not finite any more is as good as none.
cell() {
    local file line log TIMEFORMAT='%U %S'
    file=$(file_of "$@")
    [ ! -s "$file" ] || return 0
    mkdir -p "${file%/*}"
    log=$file.seconds
    if { time bash -c 'set -euo pipefail; train "$@"' - "$1" "$2" "$5" "$3" "$4" "$file.model" 2> "$file.messages"; } 2> "$log"; then
        if [ "$1" = adassp ]; then line=$(cat "$file.model"); else line=$(score "$2" "$5" "$file.model"); fi
        [ -n "$line" ]
        tsv "$(awk '{ print $1 + $2 }' "$log")" "$line" > "$file.part"
    elif grep -q 'no longer finite' "$file.messages"; then
        tsv 0 "$([ "$(part_of "$2")" = numbers ] && echo -1 || echo 0)" - - > "$file.part"
    else
        cat "$file.messages" >&2
        return 1
    fi
    rm -f "$file.model" "$file.messages" "$log"
    mv "$file.part" "$file"
}
export -f settings multiplier train tuned of_epochs full_batches adassp sums score file_of cell
