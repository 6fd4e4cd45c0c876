# Plain English: turns of phrase that make a reader stop, counted over man pages, comments, messages, templates and the README.
# dpline-hacking(7), Plain English, says what to write instead.
load ../bats/helper

# name, pattern (Perl) over the sentences of tests/prose/sentences
patterns() {
    cat <<'LIST'
who        (^|[:;] )(Who|who|Whose|whose)\b(?!.*\?$)
whoever    \b[Ww]hoever\b
that-of    \b([Tt]hat|[Tt]hose) of\b
what       ^What\b(?!.*\?$)
of         ^Of (?!course)
none       \b(is|are|has|have|had|was|were) none\b
torn       \b([Oo]ne|everybody|somebody|anybody|nobody|everyone|those) (?!who\b|that\b)([a-z]+ ){1,6}who\b
alone      \b[Aa]lone\b
beside     \b[Bb]eside\b
anew       \b[Aa]new\b
lest       \b[Ll]est\b
dear       \b([Dd]ear|[Dd]earer|[Dd]early)\b
for-ever   \bfor ever\b
stands     \b(stands|stood)\b
goes-on    \b(goes on|went on|go on)\b
nothing-but \bnothing but\b
has-it     \b[Aa]s [a-z ]+ (has|have|had) it\b
is-no      (?<![Tt]here )\b(is|are|was|were) no (?!(longer|more|less|other|further|later|farther|finer|smaller|larger|worse|better|wider)\b)[a-z]
but-for    \bbut for\b
so-many    \b(at least|at most|of|to|with|after|for|has|have|these) so many\b
LIST
}

# The counts of today. They go down, and never up.
limits_of_pages() {
    cat <<'LIST'
who 7
whoever 0
that-of 0
what 10
of 0
none 5
torn 1
alone 0
beside 0
anew 0
lest 0
dear 0
for-ever 0
stands 0
goes-on 0
nothing-but 1
has-it 0
is-no 2
but-for 1
so-many 0
LIST
}

limits_of_code() {
    cat <<'LIST'
who 1
whoever 0
that-of 3
what 0
of 0
none 2
torn 0
alone 1
beside 1
anew 0
lest 0
dear 0
for-ever 0
stands 0
goes-on 0
nothing-but 0
has-it 0
is-no 0
but-for 0
so-many 1
LIST
}

# check LIMITS PART…
check() {
    local limits=$1 bad='' name pattern limit
    shift
    (cd "$ROOT" && tests/prose/sentences "$@") > sentences
    [ "$(wc -l < sentences)" -gt 1000 ]
    while read -r name pattern; do
        limit=$($limits | sed -n "s/^$name //p")
        cut -f 2 sentences | grep -nP -- "$pattern" | cut -d : -f 1 > found || true
        echo "$name $(wc -l < found) (at most $limit)"
        [ "$(wc -l < found)" -le "${limit:-0}" ] || bad+="$name: $(wc -l < found) sentences, and at most ${limit:-0} may be there; some of them:
$(tail -n 5 found | while read -r n; do sed -n "${n}p" sentences; done)"$'\n'
    done < <(patterns)
    [ -z "$bad" ] || fail "$bad"
}

@test "plain English: no turn of phrase becomes more frequent in the man pages" {
    check limits_of_pages pages
}

@test "plain English: no turn of phrase becomes more frequent in comments, messages, templates and the README" {
    check limits_of_code comments messages templates readme
}
