#!/usr/bin/env bats
# Completion in bash and zsh, made of what --help prints.
# shellcheck disable=SC2094 # the shell and the file have one name
load helper

# completes WORDS…: what bash offers for the last of them
completes() {
    bash -c '. ./bash; compopt() { :; }; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _dpline; echo "${COMPREPLY[*]}"' complete "$@"
}

setup_file() {
    for shell in bash zsh; do BUILD=$BUILD "$ROOT/bin/completion" $shell > "$BATS_FILE_TMPDIR/$shell"; done
}
prepare() { cp "$BATS_FILE_TMPDIR"/{bash,zsh} .; }

@test "commands, pipelines, options and their choices complete in bash" {
    touch 'a file'
    assert_equal "$(completes dp-grad --lo)" '--loss --loss-width'
    assert_equal "$(completes dp-grad --loss h)" 'hinge huber huberised-hinge'
    assert_equal "$(completes dpline scd-)" 'scd-nonprivate scd-published'
    assert_equal "$(completes dpline scd --ep)" '--epochs --epsilon'
    assert_equal "$(completes dp-account ep)" 'epsilon'
    assert_equal "$(completes dp-account epsilon --sampler s)" 'shuffle stream'
    assert_equal "$(completes dp-info a)" 'a file'
    assert_equal "$(completes dp-account --ledger a)" 'a file'
    # a number
    assert_equal "$(completes dp-noise --multiplier a)" ''
}

@test "each command and each pipeline is in both" {
    for shell in bash zsh; do
        for command in "$BUILD"/bin/dp-*; do grep -q "^ *\"${command##*/}\")" $shell || fail "$shell: ${command##*/}"; done
        for file in "$ROOT"/pipelines/[!o]*.sh; do
            word=$(basename "$file" .sh)
            grep -q "^ *\"dpline $word\")" $shell || fail "$shell: $word"
        done
    done
    if command -v zsh > /dev/null; then zsh -n zsh; fi
    complains 2 'usage: bin/completion bash|zsh' "$ROOT/bin/completion" fish
}
