# shellcheck shell=bash
# Sourced by the scripts here: how one model is trained and measured.
. "$(dirname "${BASH_SOURCE[0]}")/../common/common.sh"
export seeds=${SEEDS:-10}

# fixed SET: what appendix E fixes: the loss, lambda, the epochs
fixed() {
    case $1 in
        adult) echo "--loss hinge --lambda 1e-5 --epochs ${EPOCHS:-10}" ;;
        phishing) echo "--loss logistic --lambda 1e-4 --epochs ${EPOCHS:-10}" ;;
        *) echo "--loss squared --lambda 1e-4 --epochs ${EPOCHS:-50}" ;;
    esac
}
metric() { case $1 in adult | phishing) echo accuracy ;; *) echo mse ;; esac; }

# command_of METHOD: a pipeline, and what it is told besides the setting
command_of() {
    case $1 in
        scd) echo scd-nonprivate.sh --epochs 100 ;;
        sgd) echo sgd.sh ;;
        dp-sgd) echo dp-sgd.sh ;;
        last) echo rrpsgd.sh ;; # of all laps
        secret) echo scd.sh ;;
        published) echo scd-published.sh ;;
        sequential) echo seq-scd.sh ;;
        primal) echo primal-scd.sh ;;
    esac
}

# score METRIC MODEL DATA: one number
score() {
    dp-eval --last --metrics "$1" --in "$2" --data "$3" "${@:4}" | awk -F '\t' 'NR == 2 { print $3 }'
}

# train SET METHOD EPSILON SETTING SEED MODEL [option…]: one run on SET.dp. Epsilon 0: none. Setting -: none. Model -: all, to standard output.
train() {
    local pipeline setting=() output=()
    read -ra pipeline <<< "$(command_of "$2")"
    # shellcheck disable=SC2046 # several words
    set -- "$@" $(fixed "$1") "${pipeline[@]:1}"
    [ "$4" = - ] || read -ra setting <<< "$4"
    [ "$6" = - ] || output=(-o "$6")
    [ "$3" = 0 ] || set -- "$@" --delta 1e-3 --epsilon "$3" --no-ledger
    "${pipeline[0]}" --data "$out/$1.dp" --seed "$5" -q "${output[@]}" "${@:7}" "${setting[@]}"
}

# trial SET METHOD EPSILON SETTING SEED [option…]: appends "setting <tab> seed <tab> score on validation rows <tab> on test rows <tab> seconds" to
# its file, in one write, so that trials can run side by side
trial() {
    local file=$results/trials/$1-$2-$3.tsv model start took
    model=$file.$BASHPID
    start=$(now)
    train "${@:1:5}" "$model" "${@:6}"
    took=$(seconds_since "$start")
    printf '%s\t%s\t%s\t%s\t%s\n' "$4" "$5" "$(score "$(metric "$1")" "$model" "$out/$1-validation.dp")" \
        "$(score "$(metric "$1")" "$model" "$out/$1-test.dp")" "$took" >> "$file"
    rm -f "$model"
}

# now: microseconds, in whatever locale
now() { echo "${EPOCHREALTIME/[.,]/}"; }
seconds_since() {
    local us=$(($(now) - $1))
    printf '%d.%06d' $((us / 1000000)) $((us % 1000000))
}

# untried FILE: of the lines "setting <tab> seed" on standard input those that FILE has no trial for
untried() {
    touch "$1"
    awk -F '\t' -v file="$1" 'BEGIN { while ((getline line < file) > 0) { split(line, f); done[f[1] FS f[2]] = 1 } } !($0 in done)'
}
export -f fixed metric command_of score train trial now seconds_since

# multiplier_of SET METHOD EPSILON SETTING: "--multiplier Z", which is computed once for all runs with that batch, and the number of laps where a
# pipeline asks for it
multiplier_of() {
    local rows laps batch=${4#--batch } epochs how=()
    case $2 in scd | sgd | primal) return ;; published | sequential) how=(--accountant published) ;; esac
    rows=$(dp-info --get rows "$out/$1.dp") batch=${batch%% *} epochs=$(fixed "$1")
    laps=$(((${epochs##* } * rows + batch - 1) / batch))
    echo "--multiplier $(multiplier "$3" 1e-3 "$batch/$rows" $laps "${how[@]}")$([ "$2" != last ] || echo " --rounds $laps")"
}
