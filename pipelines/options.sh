# shellcheck shell=bash disable=SC2034
# Sourced by the pipelines. A pipeline declares its options, one line each, and then calls `options "$@"`; help, parsing and refusal follow:
#
#   option clip auto C "bound on one person's update" number    # --clip C sets $clip; it has a line in --help
#   flag parts "this site has part I of the rows"               # --parts sets $parts to --parts; otherwise it is empty
#
# A value is a value. Every option has a kind. What is not text was checked and may stand in a command as it is; text is quoted there, by
# in_text or as a word of an array. Only calculate() gives numbers to awk.
#
# What the user's environment holds changes no number and no command. bash -p, in the first line of each script, ignores SHELLOPTS, BASHOPTS,
# BASH_ENV, CDPATH and exported functions. These lines do the rest.
export LC_ALL=C
export GOMP_SPINCOUNT=${GOMP_SPINCOUNT-10000} # a thread without work gives its core away after less than a millisecond
unset POSIXLY_CORRECT GREP_OPTIONS
# a message to a closed standard error would end the script; bash has put the script there
{ [ ! /dev/fd/2 -ef "$here" ] && true >&2; } || exec 2> /dev/null
{ true 3<&0; } 2> /dev/null || exec < /dev/null

name=${DPLINE_NAME:-${0##*/}} # dpline(1) sets the name that the user typed
unset DPLINE_NAME
here=${here%/*} # pipelines set it to their own path
declare -A metavar=() default=() help=() kind=()
declared=() # the options as they were declared

# A name of a file may have control characters, which are not for a terminal.
fail() {
    echo "$name: ${*//[[:cntrl:]]/?}" >&2
    exit 2
}
say() { [ -n "$quiet" ] || echo "$name: ${*//[[:cntrl:]]/?}" >&2; }
real() { [[ $1 =~ ^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$ ]]; }
number() { real "$1" && [[ $1 = [0-9.]* && ${1%%[eE]*} = *[1-9]* ]]; }

# calculate EXPRESSION [FORMAT]: its value. Its names are variables of the script, which must be numbers; up() rounds up.
calculate() {
    local rest=$1 word values=()
    while [[ $rest =~ [0-9.]+([eE][-+]?[0-9]+)?|[a-z_]+\(? ]]; do
        word=${BASH_REMATCH[0]} rest=${rest#*"${BASH_REMATCH[0]}"}
        case $word in
            [0-9.]* | *'(') ;;
            *) real "${!word}" || fail "$word: must be a number, got '${!word}'"
                values+=(-v "$word=${!word}") ;;
        esac
    done
    awk -v OFMT="${2-%.6g}" "${values[@]}" "function up(x) { return int(x) + (x > int(x)) }
        function least(x, y) { return x < y ? x : y }
        function most(x, y) { return x > y ? x : y }
        BEGIN { print 0 + ($1) }"
}

# option NAME DEFAULT METAVAR HELP KIND: a value is the default, or of its kind:
#   number  above 0                          whole   1, 2 and so on
#   part    above 0 and below 1              count   0, 1, 2 and so on
#   real    any number                       choice  one of the words with which HELP begins
#   text    anything
option() {
    local word=${1//-/_}
    declared+=("$1") metavar[$word]=$3 default[$word]=$2 help[$word]=$4 kind[$word]=${5?"--$1 has no kind"}
    printf -v "$word" %s "$2"
}
flag() { option "$1" '' '' "$2" flag; }

# options_of_data PROGRAM LOSS [LOSS OF MORE CLASSES [LOSS OF NUMBERS]]: the losses are those that the program knows.
options_of_data() {
    losses_of=$1 two_classes=$2 many_classes=${3-} numbers=${4-squared}
    option data '' DIR "data set (see dp-import)" text
    option loss '' LOSS "(default $2; $numbers for a regression${many_classes:+, $many_classes for three classes or more})" choice
}

# clipped gradients of a linear model; with --network, of a network
options_of_gradients() {
    option lambda 1e-5 L "L2 regularisation" real
    option intercept 0 V "value of a constant column to append, 0 for none" real
    option epochs 10 E "passes over the data" number
    option batch 100 B "expected rows per lap" whole
    option clip 1 C "bound on one person's gradient" number
}

# of a linear model
options_of_classes() { option class-weights '' W,W,... "weight of the loss of each class, above 0 and at most 1, in their order" text; }

options_of_network() {
    option network '' TEXT "train a network of these layers, see dp-net-grad" text
    option views 1 K "network: views of each image, averaged before the clip" whole
    option shift 0 P "network: move each view by up to P pixels" count
    flag flip "network: mirror half of the views"
}

options_of_budget() {
    option epsilon 1 E "privacy budget" number
    option delta 1e-5 D "probability that epsilon may fail to bound" number
    option multiplier '' Z "noise multiplier (default: the smallest that keeps to the budget)" number
    option adjacency null-record HOW "null-record|replace-one: what one person can change" choice
    option trial '' DIR "in a command for dp-tune, which pays: {trial}; --multiplier is then required" text
    options_of_ledger
}

options_of_ledger() {
    option ledger '' FILE "record the spending there (default: the ledger of the data set)" text
    flag no-ledger "write nothing down; every frame and the model say so"
    option registry '' DIR "the registry of populations (default: \$DPLINE_REGISTRY, else ~/.local/state/dpline)" text
    flag no-registry "neither read nor write the registry"
    flag partial "train as long as the budget of the data set allows"
    flag allow-weak "train although epsilon is above 10, or delta is not below 1 / rows"
}

options_of_checkpoints() {
    option init '' FILE "start from this model; its cost is added" text
    option checkpoint '' DIR "save checkpoints there, to resume the run from" text
    option checkpoint-every '' K "laps from one checkpoint to the next (default 1000)" whole
    option resume '' DIR "continue from there, with the same options" text
}

# options of every run
options_of_run() {
    option exec auto HOW "auto|processes|fused" choice
    option seed '' S "reproducible, not private" count
    option model '' FILE "write the model there; without it every lap's model goes to standard output" text
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
    printf '\nThe manual: man %s\n' "${manual:-dpline-pipelines}"
}

# choices PROGRAM OPTION: the choices in the help of the program, one|another
choices() { "$1" --help | sed -nE "s/^ .*--$2 .* ([a-z0-9-]+(\|[a-z0-9-]+)+).*/\1/p"; }

# meant WORD: the one option that begins with these letters, or has one of them changed, left out, added or swapped
meant() {
    local name i alike=()
    for name in "${!help[@]}"; do [[ $name != "$1"* ]] || alike+=("$name"); done
    for ((i = 0; i <= ${#1} && ${#1} > 3 && ${#alike[@]} == 0; i++)); do
        for name in "${!help[@]}"; do
            case $name in
                "${alike[0]-}") ;;
                "${1:0:i}"?"${1:i}" | "${1:0:i}"?"${1:i+1}" | "${1:0:i}${1:i+1}" | "${1:0:i}${1:i+1:1}${1:i:1}${1:i+2}") alike+=("$name") ;;
            esac
        done
    done
    [ ${#alike[@]} -eq 1 ] && echo "did you mean --${alike[0]//_/-}?" || echo 'try --help'
}

# operand ARGUMENT: the value of the option that $operand names; with a hyphen, after --, it is a file
operand() {
    { [ -n "$operand" ] && [ -z "${!operand}" ]; } ||
        fail "unexpected argument '$1' ($([ -n "$operand$data" ] || echo '--data names the data set, ')try --help)"
    printf -v "$operand" %s "${1/#-/./-}"
}

# parse ARGUMENT…: an option --a-b sets the variable a_b. Values are checked as declared
parse() {
    local given word
    while [ $# -gt 0 ]; do
        case $1 in
            --) shift
                while [ $# -gt 0 ]; do operand "$1" && shift; done
                break ;;
            -h | --help) usage; exit 0 ;;
            --version) word=$(dp-loop --version) && echo "$name ${word#dp-loop }" && exit 0 ;;
            --help=* | --version=*) fail "${1%%=*}: takes no value" ;;
            -q) set -- --quiet "${@:2}" ;;
            -o) set -- --model "${@:2}" ;;
            -e) set -- --epsilon "${@:2}" ;;
            -d) set -- --delta "${@:2}" ;;
            -o?*) set -- "--model=${1#-o}" "${@:2}" ;;
            -*) ;;
            *) operand "$1" && shift && continue ;;
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
    for given in "${declared[@]}"; do check "$given" "${given//-/_}"; done
}

# check OPTION WORD: its value, which is in $WORD
check() {
    local value=${!2} must=''
    [ "$value" != "${default[$2]}" ] || return 0
    case ${kind[$2]} in
        number) number "$value" || must='a number > 0' ;;
        part) [[ $value =~ ^0?\.[0-9]*[1-9][0-9]*$ ]] || must='between 0 and 1' ;;
        real) real "$value" || must='a number' ;;
        whole) [[ $value =~ ^[1-9][0-9]{0,17}$ ]] || must='a whole number >= 1' ;;
        count) [[ $value =~ ^[0-9]{1,18}$ ]] || must='a whole number >= 0' ;;
        choice) must=${help[$2]%%[: ]*}
            [ "$1" != loss ] || must=$(choices "$losses_of" loss)
            [[ "|$must|" != *"|$value|"* || $value = *'|'* ]] || return 0
            must="one of $must" ;;
        text | flag) ;;
        *) fail "--$1 has no kind" ;;
    esac
    [ -z "$must" ] || fail "--$1: must be $must, got '$value'"
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
laps_of() {
    local items=$1
    calculate 'up(epochs * items / batch)'
}

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

# check_there: refuses a table or a data set that is not there, and a table that can be read only once
check_there() {
    [ -e "$data" ] || fail "$data is not there: a table or a data set is expected"
    [ ! -p "$data" ] || fail "$data is a pipe, and a table is read more than once: write it to a file first"
}

# may_write OPTION FILE [USED…]: refuses, before there is one, a file that cannot get its name, or would replace a file that is used here, or
# one in a data set
may_write() {
    local file directory used
    file=$(realpath -m -- "$2")
    directory=$(dirname -- "$file")
    [[ -c $2 || -p $2 || (-d $directory && -w $directory && -x $directory && ! -d $2 && (! -e $2 || -w $2)) ]] || fail "$1: $(quote "$2") cannot be written"
    for used in "${@:3}" ${ledger:+"$ledger" "$ledger.mark"}; do
        [ -z "$used" ] || [[ ! $2 -ef $used && $file != "$(realpath -m -- "$used")" ]] ||
            fail "$1: $2 is used by this command, and would be replaced"
    done
    [ ! -e "$directory/dataset.json" ] || fail "$1: $2 is in a data set"
}
# may_replace OPTION FILE [USED…]: the same for the result of a table or of a data set, which replaces no file that was made of it either
may_replace() {
    local stem one used=("$data" "${schema:-}")
    stem=$(stem_of "$data")
    for one in json dp; do used+=("$stem.$one" "$stem.$one.ledger" "$stem.$one.ledger.mark"); done
    may_write "$1" "$2" "${used[@]}" "$stem-test.dp" "${@:3}"
    for one in "$stem".{csv,tsv,arff}{,.gz,.xz,.zst}; do
        [ ! "$2" -ef "$one" ] || fail "$1: $2 may be the table that $data was made of, and would be replaced"
    done
}

# unused WHY OPTION…: refuses options that would change nothing
unused() {
    local option variable
    for option in "${@:2}"; do
        variable=${option//-/_}
        [ -z "${!variable-}" ] || fail "--$option $1"
    done
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
    attend dp-loop "$@" > /dev/null || status=$?
    case $status in 0 | 3)
        spent
        ! declare -F give > /dev/null || give ;;
    esac
    exit $status
}

# attend COMMAND…: which also gets the signals that are sent to this script. With the command in the foreground the shell would die of a
# signal at once, or delay it to the end of the run.
attend() {
    local signal status=0 run
    "$@" <&0 &
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

# place_ledger STEM: the ledger that has the charge for the schema, or for knots, which without a registry nothing else leads to
place_ledger() {
    local file
    for file in "$1.json.ledger" "$1.dp.ledger"; do
        [ -n "$ledger$no_ledger" ] || [ -e "$1.dp/ledger" ] || [ ! -e "$file" ] || ledger=$file
    done
}
# stem_of DATA: the name of a table or a data set, without the end that says its format
stem_of() {
    local stem=${1%"${1##*[!/]}"} end
    for end in .gz .xz .zst; do stem=${stem%"$end"}; done
    if [ -d "$1" ]; then stem=${stem%.dp}; elif [[ ${stem##*/} = *.* ]]; then stem=${stem%.*}; fi
    echo "$stem"
}

# whose: the unit of privacy of the data set
whose() {
    if [[ $(dp-info --get population "$data" 2> /dev/null) = dp-synth:rows:* ]]; then
        echo 'the rows are synthetic: people pay nothing for this, and paid when the rows were made'
    elif dp-info --get rows_per_person "$data" > /dev/null 2>&1; then echo 'that is for all rows of a person together'; else echo 'one row is taken for one person'; fi
}

# spent: the cost that the model states, in one line
spent() {
    local cost laps
    laps=$(dp-info --get lap "$model" 2> /dev/null) || return 0 # the budget did not pay for a lap
    cost=$(dp-info "$model" | sed -n 's/^privacy: //; s/^none, it was/not private,/; T; p')
    [[ $cost = 'not private'* ]] || cost+="${seed:+ (seeded: not private)}${data:+; $(whose)}"
    say "$cost; $laps lap$([ "$laps" = 1 ] || echo s); the model is in $model"
}

# An installed script has the commands of its installation; in a source tree PATH may have those of another build.
bin=$here/../../../bin
[ ! -e "$here/../Makefile" ] || bin=$(command -v dp-loop || echo "$here/../build/bin/dp-loop") bin=${bin%/*}
[[ ! -x $bin/dp-loop || $(command -v dp-loop) -ef $bin/dp-loop ]] || PATH=$bin:$PATH
[ -n "$(command -v dp-loop)" ] || fail "dp-loop is not in PATH"

schedules='constant, inverse, sqrt:A:C, linear[:E], linear-decay[:E], cosine[:E], first:K:B or a file'
usages=('--data DIR [options]') note=''
# for options that a pipeline does not declare
data='' rows='' loss='' losses_of='' epochs='' batch='' schedule='' adjacency='' ledger='' no_ledger='' registry='' no_registry='' partial='' allow_weak=''
init='' checkpoint='' checkpoint_every='' resume='' operand='' plan='' laps=1 quiet='' intercept='' network='' class_weights='' trial=''
