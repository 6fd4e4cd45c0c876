# shellcheck shell=bash disable=SC2034
# Sourced by the pipelines. A pipeline declares its options, one line each, and then calls `options "$@"`; help, parsing and refusal follow:
#
#   option clip auto C "bound on one person's update" number    # --clip C sets $clip; it has a line in --help
#   flag parts "this site has part I of the rows"               # --parts sets $parts to --parts; otherwise it is empty
name=${DPLINE_NAME:-${0##*/}} # dpline(1) sets the name that the user typed
unset DPLINE_NAME
here=${here%/*} # pipelines set it to their own path
declare -A metavar=() default=() help=() must=()
declared=() # the options as they were declared

fail() {
    echo "$name: $*" >&2
    exit 2
}
say() { [ -n "$quiet" ] || echo "$name: $*" >&2; }
calculate() { awk "BEGIN { OFMT = \"%.6g\"; print ($1) }"; }
number() { [[ $1 =~ ^([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$ && ${1%%[eE]*} = *[1-9]* ]]; }

# option NAME DEFAULT METAVAR HELP [number|whole]: a value is the default, or a (whole) number above 0. Without the last word the command that
# gets the value checks it.
option() {
    local word=${1//-/_}
    declared+=("$1") metavar[$word]=$3 default[$word]=$2 help[$word]=$4 must[$word]=${5-}
    printf -v "$word" %s "$2"
}
flag() { option "$1" '' '' "$2"; }

# options_of_data PROGRAM LOSS [LOSS OF MORE CLASSES [LOSS OF NUMBERS]]: the losses are those that the program knows.
options_of_data() {
    losses_of=$1 two_classes=$2 many_classes=${3-} numbers=${4-squared}
    option data '' DIR "data set (see dp-import)"
    option loss '' LOSS "(default $2; $numbers for a regression${many_classes:+, $many_classes for three classes or more})"
}

# clipped gradients of a linear model; with --network, of a network
options_of_gradients() {
    option lambda 1e-5 L "L2 regularisation"
    option intercept 0 V "value of a constant column to append, 0 for none"
    option epochs 10 E "passes over the data" number
    option batch 100 B "expected rows per lap" whole
    option clip 1 C "bound on one person's gradient" number
}

# of a linear model
options_of_classes() { option class-weights '' W,W,... "weight of the loss of each class, above 0 and at most 1, in their order"; }

options_of_network() {
    option network '' TEXT "train a network of these layers, see dp-net-grad"
    option views 1 K "network: views of each image, averaged before the clip" whole
    option shift 0 P "network: move each view by up to P pixels"
    flag flip "network: mirror half of the views"
}

options_of_budget() {
    option epsilon 1 E "privacy budget"
    option delta 1e-5 D "probability that epsilon may fail to bound"
    option multiplier '' Z "noise multiplier (default: the smallest that keeps to the budget)" number
    option adjacency null-record HOW "null-record|replace-one: what one person can change"
    option trial '' DIR "in a command for dp-tune, which pays: {trial}; --multiplier is then required"
    options_of_ledger
}

options_of_ledger() {
    option ledger '' FILE "record the spending there (default: the ledger of the data set)"
    flag no-ledger "write nothing down; every frame and the model say so"
    option registry '' DIR "the registry of populations (default: \$DPLINE_REGISTRY, else ~/.local/state/dpline)"
    flag no-registry "neither read nor write the registry"
    flag partial "train as long as the budget of the data set allows"
    flag allow-weak "train although epsilon is above 10, or delta is not below 1 / rows"
}

options_of_checkpoints() {
    option init '' FILE "start from this model; its cost is added"
    option checkpoint '' DIR "save checkpoints there, to resume the run from"
    option checkpoint-every '' K "laps from one checkpoint to the next (default 1000)"
    option resume '' DIR "continue from there, with the same options"
}

# options of every run
options_of_run() {
    option exec auto HOW "auto|processes|fused"
    option seed '' S "reproducible, not private"
    option model '' FILE "write the model there; without it every lap's model goes to standard output"
    flag print "print the command instead of running it"
    flag quiet "no progress, no warning, no summary"
}

usage() {
    local word left
    printf 'Usage: %s\n' "$name ${usages[0]}"
    for word in "${usages[@]:1}"; do printf '       %s\n' "$name $word"; done
    printf '%s\n' "$summary" ${note:+"$note"}
    [ -z "$losses_of" ] || help[loss]="$(choices "$losses_of" loss) ${help[loss]}"
    for word in "${declared[@]}"; do
        left="--$word" word=${word//-/_}
        case $word in model) left="-o, $left" ;; quiet | epsilon | delta) left="-${word:0:1}, $left" ;; esac
        printf '  %-22s %s\n' "$left${metavar[$word]:+ ${metavar[$word]}}" "${help[$word]}${default[$word]:+ (default ${default[$word]})}"
    done
    printf '  %-22s %s\n' '-h, --help' 'this page' --version 'the version'
    printf '\nThe manual: man dpline-pipelines\n'
}

# choices PROGRAM OPTION: the choices in the help of the program, one|another
choices() { "$1" --help | sed -nE "s/^ .*--$2 .* ([a-z0-9-]+(\|[a-z0-9-]+)+).*/\1/p"; }

# meant WORD: the one option that begins with these letters
meant() {
    local name alike=()
    for name in "${!help[@]}"; do [[ $name != "$1"* ]] || alike+=("$name"); done
    [ ${#alike[@]} -eq 1 ] && echo "did you mean --${alike[0]//_/-}?" || echo 'try --help'
}

# parse ARGUMENT…: an option --a-b sets the variable a_b
parse() {
    local given word
    while [ $# -gt 0 ]; do
        case $1 in
            -h | --help) usage && exit 0 ;;
            --version) word=$(dp-loop --version) && echo "$name ${word#dp-loop }" && exit 0 ;;
            --help=* | --version=*) fail "${1%%=*}: takes no value" ;;
            -q) set -- --quiet "${@:2}" ;;
            -o) set -- --model "${@:2}" ;;
            -e) set -- --epsilon "${@:2}" ;;
            -d) set -- --delta "${@:2}" ;;
            -o?*) set -- "--model=${1#-o}" "${@:2}" ;;
            -*) ;;
            *) { [ -n "$operand" ] && [ -z "${!operand}" ]; } ||
                    fail "unexpected argument '$1' ($([ -n "$operand$data" ] || echo '--data names the data set, ')try --help)"
                set -- "--$operand=$1" "${@:2}" ;;
        esac
        given=${1%%=*} word=${given#--} word=${word//-/_}
        [[ $given =~ ^--[a-z][a-z-]*$ && -n ${help[$word]-} ]] || fail "unknown option '$given' ($(meant "$word"))"
        if [ -z "${metavar[$word]}" ]; then
            [[ $1 != *=* ]] || fail "$given: takes no value"
            printf -v "$word" %s "$given"
        else
            [[ $1 = *=* || ${2-} = -[[:alpha:]-]* ]] || set -- "$1=${2-}" "${@:3}" # an option is not a value
            [[ $1 = *=?* ]] || fail "${given/#--model/-o}: needs a value"
            printf -v "$word" %s "${1#*=}"
        fi
        shift
    done
}

# check_values: checks them as declared
check_values() {
    local option word
    for option in "${declared[@]}"; do
        word=${option//-/_}
        [ "${!word}" != "${default[$word]}" ] || continue
        case ${must[$word]} in
            number) number "${!word}" || fail "--$option: must be a number > 0, got '${!word}'" ;;
            whole) [[ ${!word} =~ ^[1-9][0-9]*$ ]] || fail "--$option: must be a whole number >= 1, got '${!word}'" ;;
        esac
    done
}

# options ARGUMENT…: parses them, and sets these variables for the text of a pipeline:
#   $dir    the data set                     $rate, $laps  of --batch rows, in --epochs passes over $rows, the number of persons
#   $gate   the ledger, for dp-account       $seeded       --allow-seeded, if there is a seed
#   $adjacency, $by (the schedule)           $sensitivity  in clips: 1, and 2 for replace-one
#   $gradients, the stage that sums gradients of a linear model or a network, and $of_model, the intercept and $weights_of_classes, or the layers
# A run over several machines defines where(), which sets the role of this machine.
options() {
    local classes=2 # where there are no rows
    options_of_checkpoints
    options_of_run
    parse "$@"
    ! declare -F where > /dev/null || where
    [ -n "$data$rows" ] || fail "--data is required"
    check_values
    [ -z "$trial" ] || check_trial
    rows=${rows:-$(dp-info --get persons "$data")} || exit
    [ -z "$data" ] || classes=$(dp-info --get classes "$data") || exit
    [ -n "$loss" ] || loss_of "$classes"
    case $batch in auto) batch=$(((rows + 9) / 10)) ;; all) batch=$rows ;; esac
    if [ -n "$batch" ]; then
        [ "$batch" -le "$rows" ] || batch=$rows
        rate=$batch/$rows
        [[ -z $epochs || $epochs = auto ]] || laps=$(laps_of "$rows")
    fi
    quote_options
}

# loss_of CLASSES: the default loss
loss_of() {
    case $1 in
        0) loss=$numbers ;;
        2) loss=$two_classes ;;
        *) loss=${many_classes:-$two_classes}
            [ -n "$many_classes" ] || say "$1 classes: $loss for one against the rest each (dp-sgd.sh has softmax)" ;;
    esac
}

# laps_of ITEMS: the number of laps of --batch in --epochs passes over that many rows or columns
laps_of() { awk "BEGIN { laps = $epochs * $1 / $batch; print int(laps) + (laps > int(laps)) }"; }

# words_of OPTION…: sets $words to the options that were given, as words for a command
words_of() {
    local option word
    words=()
    for option; do
        word=${option//-/_}
        [ -z "${!word}" ] || if [ -n "${metavar[$word]}" ]; then words+=("--$option" "${!word}"); else words+=("--$option"); fi
    done
}

# quote WORD: as one word for sh, which does not know the $'...' of bash
quote() {
    local mark="'" escaped="'\\''"
    case $1 in
        '' | *[!A-Za-z0-9_.,:/+=@%-]*) printf "'%s'" "${1//"$mark"/"$escaped"}" ;;
        *) printf %s "$1" ;;
    esac
}

# in_text WORD: quoted for the text of a pipeline. without_holes() shortens runs of blanks there, so two blanks of the word get quotes between them
in_text() {
    local word
    word=$(quote "$1")
    for _ in 1 2; do word=${word//  / \'\' }; done
    printf %s "$word"
}

check_trial() {
    [ -n "$multiplier" ] || fail "--trial: --multiplier is required, since dp-tune pays for all trials together"
    [ -z "$ledger$no_ledger" ] || fail "--trial: dp-tune has the ledger, so $([ -n "$ledger" ] && echo --ledger || echo --no-ledger) is its option"
    ! declare -F where > /dev/null || fail "--trial: a run over several machines is not a trial"
}

quote_options() {
    dir=$(in_text "$data")
    by=$(in_text "$schedule")
    seeded=${seed:+--allow-seeded}
    gate=${no_ledger:+ $no_ledger}${partial:+ $partial}${allow_weak:+ $allow_weak}${ledger:+ --ledger $(in_text "$ledger")}
    gate+=${registry:+ --registry $(in_text "$registry")}${no_registry:+ $no_registry}${seeded:+ $seeded}
    adjacency=$(in_text "$adjacency")
    weights_of_classes=${class_weights:+ --class-weights $(in_text "$class_weights")}
    gradients='dp-grad   ' of_model="--intercept $intercept$weights_of_classes"
    [ -z "$network" ] || gradients=dp-net-grad of_model="--network $(in_text "$network") --views $views --shift $shift${flip:+ --flip}$weights_of_classes"
    sensitivity=1
    [ "$adjacency" != replace-one ] || sensitivity=2
}

# show WORD…: a command, as text
show() {
    local word
    printf %s "$1"
    for word in "${@:2}"; do printf ' %s' "$(quote "$word")"; done
    printf '\n'
}

# without_holes PIPELINE: a backslash at the end of a line in double quotes joins it to the next line and keeps its indent
without_holes() { sed -E 's/([^ ]) {9,}/\1 /g' <<< "$1"; }

# loop [dp-loop options] PIPELINE: with -o only the model is written, without it the stream of models.
loop() {
    local text
    text=$(without_holes "${*: -1}")
    if [ -n "$trial" ] && [[ $text =~ dp-account\ +--epsilon\ [^|]* ]]; then
        text=${text/"${BASH_REMATCH[0]}"/"dp-account --trial $(in_text "$trial") "}
    fi
    run_loop "${@:1:$#-1}" -- "$text"
}

# run_loop WORD…: dp-loop, with the options of every run
run_loop() {
    set -- ${checkpoint:+--checkpoint "$checkpoint"} ${checkpoint_every:+--checkpoint-every "$checkpoint_every"} \
        ${resume:+--resume "$resume"} "$@"
    if [ -n "$plan" ]; then set -- --plan "$plan" "$@"; else set -- --laps "$laps" "$@"; fi
    set -- ${init:+--init "$init"} ${seed:+--seed "$seed"} ${quiet:+-q} ${model:+--model "$model"} "$@"
    [ -z "$exec" ] || set -- --exec "$exec" "$@"
    if [ -n "$print" ]; then
        show dp-loop "$@"
    elif [ -n "$model" ]; then
        run_model "$@"
    else
        exec dp-loop "$@"
    fi
}

# run_model WORD…: dp-loop, and prints the cost of the model
run_model() {
    local status=0
    attend "$@" > /dev/null || status=$?
    case $status in 0 | 3) spent ;; esac
    exit $status
}

# attend WORD…: dp-loop, which also gets the signals that are sent to this script. With dp-loop in the foreground the shell would die of a
# signal at once, or delay it to the end of the run.
attend() {
    local signal status=0 run
    dp-loop "$@" <&0 &
    run=$!
    # shellcheck disable=SC2064 # the present value
    for signal in INT TERM HUP QUIT; do trap "kill -$signal $run 2> /dev/null" $signal; done
    wait $run || status=$?
    while kill -0 $run 2> /dev/null; do # a signal has ended the wait, not the run
        status=0
        wait $run || status=$?
    done
    trap - INT TERM HUP QUIT
    return $status
}

# whose: the unit of privacy of the data set
whose() {
    if dp-info --get rows_per_person "$data" > /dev/null 2>&1; then echo 'that is for all rows of a person together'; else echo 'one row is taken for one person'; fi
}

# spent: the cost that the model states, in one line
spent() {
    local cost laps
    laps=$(dp-info --get lap "$model" 2> /dev/null) || return 0 # the budget did not pay for a lap
    cost=$(dp-info "$model" | sed -n 's/^privacy: //; s/^none, it was/not private,/; T; p')
    [[ $cost = 'not private'* ]] || cost+="${seed:+ (seeded: not private)}${data:+; $(whose)}"
    say "$cost; $laps lap$([ "$laps" = 1 ] || echo s); the model is in $model"
}

if ! command -v dp-loop > /dev/null; then
    for bin in "$here/../../../bin" "$here/../build/bin"; do
        [ ! -x "$bin/dp-loop" ] || PATH=$bin:$PATH
    done
    command -v dp-loop > /dev/null || fail "dp-loop is not in PATH"
fi

schedules='constant, inverse, sqrt:A:C, linear[:E], linear-decay[:E], cosine[:E], first:K:B or a file'
usages=('--data DIR [options]') note=''
# for options that a pipeline does not declare
data='' rows='' loss='' losses_of='' epochs='' batch='' schedule='' adjacency='' ledger='' no_ledger='' registry='' no_registry='' partial='' allow_weak=''
init='' checkpoint='' checkpoint_every='' resume='' operand='' plan='' laps=1 quiet='' intercept='' network='' class_weights='' trial=''
