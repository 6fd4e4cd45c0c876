# A value is a value: what a user, a web form or a scheduler gives to an option of a pipeline never runs as code.
load helper
load environments

# Shells that run the text of a pipeline, whose stages do nothing
setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    dp-synth classification --rows 300 --cols 4 --seed 7 -o small.dp -q
    mkdir shells stages
    for stage in "$BUILD"/bin/dp-*; do ln -s /bin/true "stages/${stage##*/}"; done
    for runs in dp-loop dp-worker; do
        printf '#!/bin/sh\nwhile [ "${1---}" != -- ]; do shift; done\nPATH=%s:/usr/bin:/bin sh -c "${2-}" < /dev/null\n' "$PWD/stages" > shells/$runs
    done
    printf '#!/bin/sh\nfor job; do :; done\nbash -n "$job" && echo 1\n' > shells/sbatch
    printf '#!/bin/sh\n' | tee shells/squeue > shells/scancel
    chmod +x shells/*
}
prepare() { cp -r "$BATS_FILE_TMPDIR"/small.dp .; }

# said WORD OPTION VALUE [WORD…]: the last line that this pipeline of $usual says
said() {
    PATH=$BATS_FILE_TMPDIR/shells:$PATH timeout 60 "$1.sh" "${usual[@]}" "--$2=$3" "${@:4}" 2>&1 > out < /dev/null | tail -n 1
}

# tries WORD OPTION: gives values to the option of the pipeline, on each machine
tries() {
    local usual answer
    while read -ra usual; do
        answer=$(said "$1" "$2" "$shell")
        if [[ $answer = *": --$2: must be "* ]]; then
            [ -z "${seen[$2]-}" ] || break # options have kinds: the other values are refused like this one
        elif [ "$1" != compare ]; then # what is printed may be pasted
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
        for option in $("$word.sh" --help | sed -nE 's/^  (-., )?--([a-z-]+) [A-Z].*/\2/p'); do
            tries "$word" "$option"
            seen[$option]=1 options=$((options + 1))
        done
    done
    above $options 400
}
