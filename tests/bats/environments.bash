# Loaded by tests of what a user's environment holds: nothing that changes a number or a command.

# locales: makes those of the tests, once for a file
locales() {
    export LOCPATH=$BATS_FILE_TMPDIR/locales
    [ ! -d "$LOCPATH" ] || return 0
    mkdir "$LOCPATH"
    for place in de_DE tr_TR; do
        localedef -i $place -f UTF-8 "$LOCPATH/$place.UTF-8" || fail "this test needs the Debian package locales" || exit 1
    done
}

# awk_of FLAVOUR: makes it the awk of this shell
awk_of() {
    [ -n "$(command -v "$1")" ] || fail "this test needs the Debian package $1" || exit 1
    mkdir -p "$BATS_FILE_TMPDIR/$1"
    ln -sf "$(command -v "$1")" "$BATS_FILE_TMPDIR/$1/awk"
    PATH=$BATS_FILE_TMPDIR/$1:$PATH
}

# environment NAME: gives it to this shell; what only a new shell reads is in $words_of_env, for env
environment() {
    words_of_env=()
    case $1 in
        german | turkish) locales
            unset LC_ALL
            case $1 in german) export LANG=de_DE.UTF-8 ;; *) export LANG=tr_TR.UTF-8 ;; esac
            awk_of mawk ;;
        plain) ;;
        posix) export POSIXLY_CORRECT=1 ;;
        homeless) unset HOME DPLINE_REGISTRY XDG_STATE_HOME ;;
        nowhere) unset DPLINE_REGISTRY XDG_STATE_HOME
            export HOME=/proc/nowhere ;; # which root cannot make
        relative) unset DPLINE_REGISTRY XDG_STATE_HOME
            export HOME=home ;;
        mawk | gawk | busybox) awk_of "$1" ;;
        strange) umask 0
            mkdir -p "$BATS_FILE_TMPDIR/CDPATH/examples"
            export CDPATH=$BATS_FILE_TMPDIR/CDPATH GREP_OPTIONS=--invert-match
            words_of_env=(IFS=,.) ;;
        shell) echo 'echo read' > "$BATS_FILE_TMPDIR/bash_env"
            words_of_env=(SHELLOPTS=noglob:noclobber BASHOPTS=failglob:nocasematch:xpg_echo BASH_ENV="$BATS_FILE_TMPDIR/bash_env"
                'BASH_FUNC_printf%%=() { echo f; }') ;;
        *) fail "no environment $1" ;;
    esac
}
environments='german turkish posix homeless nowhere relative mawk gawk busybox strange shell'

# foreign: numbers with commas, an i without a dot for I, the awk that knows of both, and what else has no part in it
foreign() {
    environment german
    export LANG=tr_TR.UTF-8 LC_NUMERIC=de_DE.UTF-8
    environment posix
    environment strange
}

# counted: people.csv of 600 rows, its schema, and people.dp, whose columns all have cells
counted() {
    echo '{"header": true, "columns": [{"name": "a", "type": "numeric", "bounds": [0, 1]}, {"name": "c", "type": "categorical", "categories": ["u", "v"]},
        {"name": "y", "type": "label", "classes": ["no", "yes"]}]}' > people.json
    awk 'BEGIN { print "a,c,y"; for (i = 0; i < 600; i++) print i % 97 / 97 "," (i % 3 ? "u" : "v") "," (i % 7 > 3 ? "no" : "yes") }' > people.csv
    dp-import csv -s people.json --basis bins --no-registry -q -o people.dp people.csv
}
# usual WORD [--multiplier Z]: options with which that pipeline runs on small.dp; of a pipeline over machines a line for each machine
usual() {
    local at='--at ipc://at' spared="--no-registry ${*:2}"
    case $1 in
        fit) echo --data small.dp --no-registry ;;
        compare) echo --data small.dp --test small.dp --methods erm --seeds 1 ;;
        slurm) echo --workers 1 --data small.dp -o model ;;
        federated-fit) echo "--workers 2 --rows 600 $at --cols 5"
            echo "--shard 1/2 --rows 600 $at --data small.dp --no-ledger" ;;
        federated-*) echo "--workers 2 --rows 600 $at $spared"
            echo "--shard 1/2 --rows 600 $at --data small.dp --no-ledger $spared" ;;
        zmq-two-machines) echo "--send ipc://a --receive ipc://b --rows 300 $spared"
            echo "--in ipc://a --out ipc://b --data small.dp $spared" ;;
        sgd | erm | scd-nonprivate) echo --data small.dp ;;
        privgene) echo --data small.dp --no-registry ;;
        scd-published) echo --data small.dp --no-registry --epochs 1 ;;
        agd | blgd | blsgd) echo "--data small.dp $spared${2:+ --search-epsilon 0.01}" ;;
        stream) echo --schema people.json --rows 600 -o model --no-registry --table people.csv ;;
        tables) echo --data people.dp --by c --no-registry ;;
        rows) echo --data people.dp --no-registry -o rows.csv ;;
        *) echo "--data small.dp $spared" ;;
    esac
}

# words: the pipelines
words() { dpline --help | sed -n '/^Pipelines:$/,/^$/s/^  \([a-z-]*\) .*/\1/p'; }
