# A value is a value: what a user, a web form or a scheduler gives to an option of a pipeline never runs as code.
load helper
load environments

# Shells that run the text of a pipeline, whose stages do nothing
setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    dp-synth classification --rows 300 --cols 4 --seed 7 -o small.dp -q
    counted
    mkdir shells stages
    for stage in "$BUILD"/bin/dp-*; do ln -s /bin/true "stages/${stage##*/}"; done
    for runs in dp-loop dp-worker; do
        printf '#!/bin/sh\nwhile [ "${1---}" != -- ]; do shift; done\nPATH=%s:/usr/bin:/bin sh -c "${2-}" < /dev/null\n' "$PWD/stages" > shells/$runs
    done
    printf '#!/bin/sh\nfor job; do :; done\nbash -n "$job" && echo 1\n' > shells/sbatch
    printf '#!/bin/sh\n' | tee shells/squeue > shells/scancel
    chmod +x shells/*
}
prepare() { cp -r "$BATS_FILE_TMPDIR"/{small.dp,people.*} .; }

# texts COMMAND: those options of it that take a text. The others refuse what is no number and none of their words: rules.txt has each of
# them, and rules.bats asks each.
texts() {
    local name=$1
    [ -x "$BUILD/bin/${1%% *}" ] || name=$1.sh
    $name --help | sed -nE 's/^  (-., |    )?--([a-z-]+) [A-Z].*/\2/p' | grep -vxFf <(awk -F ' @ ' -v name="${name// /_}" '
        index(" " $2 " ", " " name " ") && sub(/: must be .*/, "", $1) { print substr($1, 3) }' "$ROOT/tests/bats/rules.txt")
}

# said WORD OPTION VALUE [WORD…]: the last line that this pipeline of $usual says
said() {
    PATH=$BATS_FILE_TMPDIR/shells:$PATH timeout 60 "$1.sh" "${usual[@]}" "--$2=$3" "${@:4}" 2>&1 > out < /dev/null | tail -n 1
}

# tries WORD OPTION: gives values to the option of the pipeline, on each machine
tries() {
    local usual answer
    while read -ra usual; do
        answer=$(said "$1" "$2" "$shell")
        if [[ $answer != *": --$2: must be "* && $1 != compare ]]; then # what is printed may be pasted
            said "$1" "$2" "$shell" --print > /dev/null
            PATH=$BATS_FILE_TMPDIR/shells:$BATS_FILE_TMPDIR/stages:$PATH timeout 60 sh out > /dev/null 2>&1 < /dev/null || true
        fi
        said "$1" "$2" "$awk" > /dev/null
        [ -n "${seen[$2]-}" ] || said "$1" "$2" "$bash" > /dev/null
    done < <(usual "$1" --multiplier 9)
    [ ! -e x ] || fail "$1.sh --$2 ran a value: $answer"
}

@test "no option of a pipeline runs its value" {
    declare -A seen=()
    # within quotes or without
    shell='1 $(touch x)`touch x`; touch x | touch x '"'; touch x; '"' "; touch x; "' awk='1 + system("touch x")' bash='a[$(touch x)]'
    options=0
    for word in $(words); do
        for option in $(texts "$word"); do
            tries "$word" "$option"
            seen[$option]=1 options=$((options + 1))
        done
    done
    above $options 150
}

# What else a command needs, where that is more than the option.
needs() {
    case $1 in
        dp-audit) echo "--data small.dp --laps 1 --rows 1 sensitivity" ;;
        dp-loop) echo "--laps 1 -q --exec processes" ;;
        dp-tune) echo "--data small.dp --non-private" ;;
        dp-fit | dp-info) echo "small.dp" ;;
        dp-synth) echo "classification --rows 20 -o made.dp -q" ;;
        dp-import) echo "t.csv --infer-schema made.json -q" ;;
        dp-export) echo "--to json model" ;;
        dp-predict | dp-eval) echo "--data small.dp --in model" ;;
    esac
}
# gives COMMAND WORD OPTION: values of an option, before a pipeline where the command has one
gives() {
    local command=$1 word=$2 option=$3 value more pipeline=()
    read -ra more <<< "$(needs "$command")"
    case $command in
        dp-audit) pipeline=(-- 'dp-sample --data {} --mode full | dp-grad --data {} --loss logistic --clip 1 | cat') ;; # of which a shell runs a part
        dp-loop | dp-tune) pipeline=(-- 'dp-sample --data small.dp --mode full | dp-grad --data small.dp --loss logistic --clip 1 | dp-step --step 1 --non-private') ;;
    esac
    for value in "$shell" "$awk" "$bash"; do
        timeout -k 1 20 "$BUILD/bin/$command" ${word:+"$word"} "${more[@]}" "--$option=$value" "${pipeline[@]}" > out 2> /dev/null < /dev/null || true
        [ "$command" != dp-fit ] || PATH=$BATS_FILE_TMPDIR/stages:$PATH timeout 20 sh out > /dev/null 2>&1 < /dev/null || true # what it prints is run
        rm -rf made.dp made.json
    done
    [ ! -e x ] || fail "$command $word --$option ran a value"
}

@test "no option of a command runs its value" {
    shell='1 $(touch x)`touch x`; touch x | touch x '"'; touch x; '"' "; touch x; "' awk='1 + system("touch x")' bash='a[$(touch x)]'
    printf 'a,b\n1,yes\n2,no\n' > t.csv
    erm.sh --data small.dp -q -o model
    for value in "$shell" "$awk" "$bash"; do cp -r small.dp "$value"; done # data sets of such names
    options=0
    for command in "$BUILD"/bin/dp-*; do
        command=${command##*/}
        words=('')
        [ "$command" != dp-account ] || words+=(sigma epsilon delta laps rate curve budget charge report certify verify sensitivity)
        for word in "${words[@]}"; do
            for option in $(texts "$command${word:+ $word}"); do
                gives "$command" "$word" "$option"
                options=$((options + 1))
            done
        done
    done
    above $options 100
}
