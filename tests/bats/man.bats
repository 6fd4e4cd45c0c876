# Every EXAMPLE of every man page runs as it stands.
load helper

examples_of() { sed -n '/^\.Sh EXAMPLES/,/^\.Sh SEE/p' "$1" | sed -n 's/^\.Dl //p' | sed -e 's/\\&//g; s/\\-/-/g; s/\\(aq/'"'"'/g; s/\\e/\\/g'; }

@test "the examples of all man pages" {
    for page in "$ROOT"/man/*.[157]; do
        lines=$(examples_of "$page")
        case $(basename "$page") in
            dp-*.1) [ -n "$lines" ] || fail "$(basename "$page") has no examples" ;;
        esac
        [ -n "$lines" ] || continue
        mkdir "$(basename "$page")"
        (cd "$(basename "$page")" && timeout 120 bash -eo pipefail -c "$lines" > out 2>&1) ||
            fail "$(basename "$page"): $(tail -n 3 "$(basename "$page")/out")"
    done
}
