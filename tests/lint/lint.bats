# The rules of the house that a compiler does not check.
load ../bats/helper

# "room allowed…" for each room, as dpline(7) has it
room_rules() {
    awk '/^\.It Pa lib\// { room = substr($3, 5) }
        room != "" && /^\(.*\)$/ { gsub(/[(),]/, " "); sub(/ none /, " "); print room, room, $0; room = "" }' man/dpline.7
}

prepare() { cd "$ROOT" || return 1; }

# rooms FILE…: "file room" for each project include
rooms() { grep -HoE '^#include "[a-z_]+/' "$@" | sed 's/:#include "/ /; s|/$||'; }

@test "layering: no room includes one above it, and each has its rule" {
    bad=''
    assert_equal "$(room_rules | cut -d' ' -f1 | sort)" "$(cd lib && ls -d */ | tr -d / | sort)"
    while read -r room allowed; do
        while read -r file used; do
            [[ " $allowed " == *" $used "* ]] || bad+="$file includes $used/"$'\n'
        done < <(rooms lib/"$room"/*.[ch])
        for other in $allowed; do
            [ "$other" = "$room" ] || grep -q "^#include \"$other/" lib/"$room"/*.[ch] || bad+="$room does not need $other/"$'\n'
        done
    done < <(room_rules)
    [ -z "$bad" ] || fail "$bad"
}

# "room lines" for each room of lib and bin: a folder, and bin itself
room_lines() {
    find lib bin \( -name '*.[ch]' -o -name '*.inc' \) -exec wc -l {} + | awk '
        $2 != "total" { split($2, part, "/"); lines[part[1] (part[2] ~ /\./ ? "" : "/" part[2])] += $1 }
        END { for (room in lines) print room, lines[room] }' | LC_ALL=C sort
}

# larger OLD NEW: "room" for each room whose number in NEW is above the one in OLD, or is not in OLD
larger() { awk '$1 == "#" { next } FNR == NR { most[$1] = $2; next } $2 > most[$1] { print $1, $2, most[$1] + 0 }' "$1" "$2"; }

@test "no room has more lines than tests/house/lines says" {
    bad=$(larger tests/house/lines <(room_lines) |
        awk '{ print $1 " has " $2 " lines, and at most " $3 " are allowed: take some away, or say in the body of the commit why not" }')
    [ -z "$bad" ] || fail "$bad"
}

@test "a commit that lets a room grow names the room in its body" {
    bad=''
    for commit in $(git log --no-merges --format=%H -- tests/house/lines 2> /dev/null); do
        git cat-file -e "$commit^:tests/house/lines" 2> /dev/null || continue
        while read -r room _; do
            git log -1 --format=%b "$commit" | grep -qwF "$room" || bad+="$commit: why does $room grow?"$'\n'
        done < <(larger <(git show "$commit^:tests/house/lines") <(git show "$commit:tests/house/lines"))
    done
    [ -z "$bad" ] || fail "$bad"
}

@test "no function has more than 60 lines, or more than 25 ways through it" {
    command -v pmccabe > /dev/null || skip "needs pmccabe"
    bad=$(git ls-files lib bin | grep '\.c$' | xargs pmccabe | awk -F '\t' '$1 > 25 || $5 > 60 { print $6 ": " $5 " lines, " $1 " ways" }')
    [ -z "$bad" ] || fail "$bad"
}

@test "no struct has more than 25 members" {
    bad=$(git ls-files lib bin | grep '\.[ch]$' | xargs perl -0777 -ne 's{/\*.*?\*/}{}gs; while (/^struct (\w+) \{\n(.*?)^\}/gsm) {
        my ($name, $body) = ($1, $2); 1 while $body =~ s/\([^()]*\)|\{[^{}]*\}//g; my $members = () = $body =~ /[,;]/g;
        print "$ARGV: struct $name has $members members\n" if $members > 25 }')
    [ -z "$bad" ] || fail "$bad"
}

@test "layering: formulas and accountants know no file and no JSON" {
    run grep -nE '(^|[^a-z_])(open|openat|fopen|fsync|flock|read|write|stat)\(|json|\bFILE\b' -r lib/priv lib/account lib/query
    assert_output ''
}

@test "layering: only the runtime and bin print, read the clock or have to do with signals" {
    words='printf|puts|exit|abort|clock_gettime|time|getenv|alarm|setitimer|signal|sigaction|raise|kill|fork'
    rooms=$(ls -d lib/*/ | grep -vxE 'lib/(base|runtime|checkpoint)/')
    # shellcheck disable=SC2086
    run grep -rnE "(^|[^a-zA-Z0-9_])($words) ?\(" $rooms
    refute_output --regexp '[a-z]'
}

@test "each stage class is a row of the table, an executable and a page" {
    classes=$(sed -n 's/^const struct dp_stage_class dp_\(.*\)_class = {$/\1/p' lib/*/*.c | sort)
    rows=$(sed -n 's/^ *STAGE(\(.*\)).*/\1/p' lib/stages/stages.h | sort)
    assert_not_equal "$rows" ""
    assert_equal "$rows" "$classes"
    for name in ${rows//_/-}; do
        [ -x "$BUILD/bin/dp-$name" ] || fail "there is no executable dp-$name"
        [ -e "man/dp-$name.1" ] || fail "there is no page of dp-$name"
    done
}

@test "what libdpline exports is in a public header and on dpline(3), and nothing else is" {
    exported=$(nm -D --defined-only "$BUILD/lib/libdpline.so" | awk '$2 ~ /[TDBRVW]/ { sub(/@.*/, "", $3); print $3 }' | sort)
    [ "$(wc -l <<< "$exported")" -gt 40 ] || fail "only these: $exported"
    declared=$(cat lib/public/dpline/*.h | tr '\n' ' ' | grep -oE 'DPLINE_PUBLIC [^;(]*\(' | grep -oE 'dpline_[a-z_]+\($' | tr -d '(' | sort)
    assert_equal "$declared" "$exported"
    described=$(sed -n 's/^\.It Fn \([a-z_]*\).*/\1/p' man/dpline.3 | sort)
    assert_equal "$described" "$exported"
    # in the version of the interface
    grep -q "^DPLINE_$(sed -n 's/^#define DPLINE_API //p' lib/public/dpline/error.h) {$" lib/public/dpline.map
    # the installed archive has the same
    assert_equal "$(nm --defined-only -g "$BUILD/lib/public/libdpline.a" | awk 'NF == 3 { print $3 }' | sort)" "$exported"
    # and no header needs one that is not installed
    run grep -hoE '^#include .*' lib/public/dpline/*.h
    refute_output --regexp '#include ("[a-z]+/|<(base|wire|priv|stage)/)'
}

# options of COMMAND… as --help has them: --name lines
help_options() { "$@" --help | grep -oE '^  (-., |    )--[a-z-]+' | grep -oE -- '--[a-z-]+' | sort -u; }
page_options() { grep -oE '^\.It .*' "$1" | grep -oE 'Fl -[a-z-]+' | sed 's/Fl -/--/' | sort -u; }

# option_difference NAME OPTIONS: those of its table that neither its page nor, if it refers to that, dp-options(7) has; those that only its
# page has
option_difference() {
    local page=man/$1.1 shared=/dev/null own
    ! grep -q 'Xr dp-options 7' "$page" || shared=man/dp-options.7
    own=$(page_options "$page")
    diff <(grep -vxE -- '--(help|version)' <<< "$2") \
        <({ echo "$own"; page_options $shared | grep -xF -- "$2"; } | sort -u | grep -vxE -- '--(help|version)')
}

@test "every executable has a man page whose options are those of its table" {
    bad='' all=''
    for program in "$BUILD"/bin/dp-*; do
        name=$(basename "$program")
        [ -e "man/$name.1" ] || { bad+="$name has no man page"$'\n' && continue; }
        case $name in
            dp-account) options=$({ help_options dp-account; for word in sigma epsilon delta laps rate sensitivity curve budget charge report verify certify; do help_options dp-account $word; done; } | sort -u) ;;
            dp-table) options=$({ help_options dp-table; for word in print plan; do help_options dp-table $word; done; } | sort -u) ;;
            dp-rows) options=$({ help_options dp-rows; for word in draw plan; do help_options dp-rows $word; done; } | sort -u) ;;
            *) options=$(help_options "$name") ;;
        esac
        all+=$options$'\n'
        difference=$(option_difference "$name" "$options" | grep '^[<>] .' || true)
        [ -z "$difference" ] || bad+="$name (< table, > page): $difference"$'\n'
    done
    [ -z "$bad" ] || fail "$bad"
    # the shared page has no option that no command has
    run grep -vxF -- "$all" <(page_options man/dp-options.7)
    assert_output ''
}

@test "every stage refers to the page of the options that all stages have" {
    for name in $(sed -n 's/^ *STAGE(\(.*\)).*/\1/p' lib/stages/stages.h); do
        grep -q 'Xr dp-options 7' "man/dp-${name//_/-}.1" || fail "dp-${name//_/-}"
        for option in --in --out --on --keys --server --insecure-plaintext --patience; do
            help_options "dp-${name//_/-}" | grep -qx -- "$option" || fail "dp-${name//_/-} has no $option"
        done
    done
}

# of_page SECTION: "key type more" for each .It of that section of dp-frame(5)
of_page() { sed -n "/^\.Ss $1$/,/^\.Ss /s/^\.It Va \([a-zA-Z_]*\) Pq \(.*\)/\1 \2/p" man/dp-frame.5; }

@test "dp-frame(5) has the fields of the schema and the members of records, in their order" {
    fields=$(sed -n 's/^ *X(DP_F_[A-Z_]*, "\([A-Za-z_]*\)", DP_T_\([A-Z]*\), DP_\([A-Z]*\), \([A-Z]*\)).*/\1 \L\2, \3, \4/p' lib/wire/schema.h)
    members=$(sed -n 's/^ *X([a-z_]*, "\([a-z_]*\)", \(FIELD\|NAME\|KIND\|TEXT\|REAL\|INT\), .*/\1 \2/p' lib/wire/record.h |
        sed 's/FIELD\|NAME\|KIND\|TEXT/text/; s/REAL/real/; s/INT/int/')
    members+=$'\n'$(sed -n 's/^ *X(\([a-z_]*\), \(REAL\|INT\), .*/\1 \L\2/p' lib/query/query.h)
    [ "$(wc -l <<< "$fields")" -gt 50 ]
    assert_equal "$(wc -l <<< "$members")" 31
    assert_equal "$(of_page Fields)" "$fields"
    assert_equal "$(of_page 'Mechanism records')" "$members"
    # and the names that a member may have
    for name in $(sed -n 's/^const char \*const dp_[a-z]*_names\[.*{\(.*\)};/\1/p' lib/wire/record.c | tr -d '",' | sed 's/DP_SAMPLERS.*//') \
        $(sed -n '/define DP_SAMPLERS/,/^$/s/^ *X([A-Z_]*, "\([a-z-]*\)".*/\1/p' lib/wire/record.h) \
        $(sed -n '/define DP_MEANINGS/,/^$/s/^ *X([A-Z_]*, *"\([a-z-]*\)".*/\1/p' lib/wire/paid.h) \
        $(sed -n 's/^ *X(DP_QUERY_[A-Z_]*, "\([a-z-]*\)".*/\1/p' lib/query/query.h); do
        sed -n '/^\.Ss Mechanism records$/,/^\.Ss /p' man/dp-frame.5 | grep -qE -- "^(\.Cm |and |or )?.*\b$name( |$)" || fail "dp-frame(5) does not know $name"
    done
}

@test "man pages are clean" {
    run mandoc -Tlint -W warning man/*.[1357]
    assert_success
    # in a list of references each has its macro
    run grep -nE '^\..*Xr .* ,( No and)? dp[a-z-]* [1-8]( |$)' man/*.[1357]
    assert_output ''
}

@test "dpline help has each command, and the README each library that the build needs" {
    pipelines/dpline help > "$BATS_TEST_TMPDIR/help"
    for command in $(make -s -p -n 2> /dev/null | sed -n 's/^BINS := //p' | xargs -n 1 basename); do
        grep -qE "^  $command +[A-Z].*\.$" "$BATS_TEST_TMPDIR/help" || fail "dpline help has no line for $command"
    done
    for library in $(sed -n 's/^LIBRARIES := //p' Makefile); do
        sed -n '/^## Install/,/^## /p' README.md | grep -qw -- "${library#*/}" || fail "the README does not ask for ${library#*/}"
    done
}

@test "every pipeline has its place in a man page or the README" {
    for f in pipelines/*.sh; do
        grep -qs -- "$(basename "$f")" README.md man/*.[1357] || fail "$f is documented nowhere"
    done
}

@test "shell scripts pass shellcheck" {
    scripts=(pipelines/options*.sh tests/run tests/unit/each tests/ci tests/install-packages tests/check-packages tests/house/files tests/house/times .ci/run
        examples/*/*.sh tests/fuzz/seeds tests/fuzz/run tests/golden/make tests/bench/run tests/bench/*.sh tests/bench/figures/*.sh)
    run xargs -0 -n 16 -P "$(nproc)" shellcheck -x -P SCRIPTDIR:pipelines < <(printf '%s\0' "${scripts[@]}")
    assert_success
    # With -x it would read options.sh again for each pipeline. Without, what options.sh uses seems unused.
    bad=$(shellcheck -f gcc -e SC1091 $(ls pipelines/*.sh pipelines/dpline | grep -v /options) | while read -r line; do
        name=$(sed -n 's/.*: \([a-z_]*\) appears unused.*/\1/p' <<< "$line")
        { [ -n "$name" ] && grep -qwF "$name" pipelines/options*.sh; } || echo "$line"
    done)
    assert_equal "$bad" ''
}

# What is noise in a test: words that split on purpose, and what bats, helpers and subshells set, use or see.
NOISE=SC2010,SC2030,SC2031,SC2034,SC2046,SC2054,SC2089,SC2090,SC2097,SC2098,SC2100,SC2119,SC2120,SC2128,SC2153,SC2154,SC2164,SC2178,SC2238,SC1010,SC1078,SC1090,SC2069

@test "bats files pass shellcheck" {
    run xargs -0 -n 8 -P "$(nproc)" shellcheck -s bats -S warning -e $NOISE < <(printf '%s\0' tests/bats/*.bats tests/lint/*.bats)
    assert_success
}

# In a test, bash ends at a command that fails, but not at one before && or after !, and assert_file_not_exists holds for a directory.
cannot_fail() {
    local assertion='(\[\[?|test|grep|cmp|diff|above|complains|refused|refute\w*|assert\w*) ' starts='(^|[;)]|\{ |\bdo|\bthen|\belse) *' no_or='^(?!.*\|\|)'
    sed -E "s/'[^']*'/x/g; s/\"[^\"]*\"/x/g; s/\[\[ [^]]* \]\]/[ x ]/g; s/(^| )#.*//" "$1" | grep -nP \
        "$no_or.*$starts${assertion}[^&]*&& *+(?!break|continue|return|fail|\w+=|echo)|$no_or(?! *(if|elif|while|until) ).*&& *${assertion}[^&]*\$|$no_or.*(^|;|\bdo|\bthen|\belse) *! |assert_(file|dir)_not_exist"
}

@test "no line of a test is an assertion that cannot fail" {
    cat > "$BATS_TEST_TMPDIR/lines" << 'END'
    ! grep -q a b
    for x in 1 2; do ! cmp -s a b; done
    [ ! -e a ] && [ ! -e b ]
    1) [ "$(wc -l < "a b")" = 1 ] && grep -q 'a' b ;;
    x=$(command) && [ -n "$x" ]
    refused() { complains 2 "a || b" command && assert_equal 1 1; }
    assert_file_not_exists small.dp
END
    assert_equal "$(cannot_fail "$BATS_TEST_TMPDIR/lines" | cut -d : -f 1 | tr '\n' ' ')" '1 2 3 4 5 6 7 '
    bad=$(for file in tests/bats/*.bats tests/bats/*.bash tests/lint/prose.bats; do cannot_fail "$file" | sed "s|^|$file:|"; done)
    assert_equal "$bad" ''
}

# Otherwise a copy would not be reached by DPLINE_ISA, and so by no test.
@test "code is chosen by the CPU in lib/base/isa only" {
    run bash -c "grep -rlE '[^_]target\(|[Gg][Cc][Cc] target|target_clones|__builtin_cpu|x86_64|__i386__|__aarch64__' bin lib tests/unit | sort"
    assert_output $'lib/base/isa.c\nlib/base/isa.h'
}

@test "no instruction of the library misses its boundary on the stack" {
    [[ $(uname -m) = x86_64 ]] || skip 'the library is not for an x86'
    run tests/house/aligned "$BUILD"/lib/dpline/libdpline-*.so
    assert_success
}

# A state of libsodium wants a boundary of 64 bytes, which malloc does not give.
@test "no struct has a state of libsodium but the one that may lie anywhere" {
    run bash -c "grep -rlE 'crypto_[a-z0-9_]*state' bin lib tests/unit"
    assert_output lib/base/hash.h
}

# gawk stops at such a variable; mawk and busybox take it.
@test "no awk program has a variable that gawk reserves" {
    run bash -c "git ls-files -z bin pipelines examples tests man ':!tests/lint' | xargs -0 grep -nE -e '-v *(default|switch|case|func|function|include|load|namespace)='"
    assert_output ''
}

@test "no unfinished work is left in the code" {
    run grep -rInwE 'TODO|FIXME|XXX|HACK' bin lib pipelines examples man tests/unit tests/bats README.md
    assert_failure
}

@test "the next call after one that may fail is written in one way" {
    run grep -rPzl '(?s)(?<!else )if \((\w+) == DP_OK\)\n +\1 = [^;]*;(?!\s*else)|return (\w+) == DP_OK \? [^;?]* : \2;' --include='*.c' lib bin
    assert_output ''
}

@test "every test file of an executable exists" {
    for program in "$BUILD"/bin/dp-*; do
        name=$(basename "$program")
        grep -rqs -- "$name" tests/bats || fail "$name is tested nowhere"
    done
}

# help_defaults COMMAND…: "--name default", as --help has them
help_defaults() { "$@" --help | sed -nE 's/^  (-., |    )(--[a-z-]+) .*\(default ([^ ()]*)\)$/\2 \3/p'; }
# page_defaults PAGE: the same, where the page says "The default is X." or "X (the default)"
page_defaults() {
    sed 's/ No (the default)/\n(the default)/' "$1" | awk 'function found(word) { gsub(/[\\&]|[.,]$/, "", word); if (word != "") print name, word }
        /^\.(It|El|Sh|Ss)/ { name = ""; if (/^\.It .*Fl -[a-z-]/) { name = $0; sub(/.*Fl -/, "--", name); sub(/ .*/, "", name) } next }
        name == "" { next }
        /^\(the default\)/ { found(cm) }
        /^The default is [^ ]+\.$/ || /^The default is [^ ]+, / { found($4) }
        /^The default, [^ ]+, / { found($3) }
        wait && /^\.Cm / { found($2) }
        { wait = ($0 == "The default is"); cm = $0; if (!sub(/^\.Cm /, "", cm)) cm = ""; sub(/ [.,:]$/, "", cm); sub(/.* /, "", cm) }'
}

@test "no page contradicts a default of an option table" {
    bad='' compared=0
    for program in "$BUILD"/bin/dp-*; do
        name=$(basename "$program")
        tables=$(help_defaults "$name")
        [ "$name" != dp-account ] || tables+=$'\n'$(for word in sigma epsilon delta laps rate sensitivity curve budget charge report verify certify; do help_defaults dp-account $word; done)
        while read -r option value; do
            known=$(grep -- "^$option " <<< "$tables" | cut -d ' ' -f 2 | sort -u)
            [ -n "$known" ] || continue
            compared=$((compared + 1))
            grep -qxF -- "$value" <<< "$known" || bad+="$name $option: '$value' in the page, '$known' in --help"$'\n'
        done < <(page_defaults "man/$name.1")
    done
    [ -z "$bad" ] || fail "$bad"
    [ "$compared" -gt 30 ] || fail "only $compared defaults were found in the pages"
}

@test "a stage class with state saves and restores it, or says that it needs no checkpoint" {
    for file in $(grep -l 'struct dp_stage_class dp_[a-z_]*_class = {' lib/stages/*.c lib/shards/*.c); do
        class=$(sed -n '/struct dp_stage_class dp_[a-z_]*_class = {/,/^};/p' "$file")
        if grep -q '\.ephemeral = true' <<< "$class"; then
            ! grep -qE '\.(save|restore) =' <<< "$class" || fail "$file: ephemeral, and it saves"
        else
            grep -q '\.save =' <<< "$class" && grep -q '\.restore =' <<< "$class" || fail "$file: no save and restore"
        fi
    done
}

@test "each mutant still changes the code it is about" {
    run tests/mutants/run -n
    assert_success
}

# The formatter leaves comments as they are, since it makes one paragraph of a list or a table.
@test "the formatter has nothing to change, and comments are no wider than the code" {
    command -v clang-format-14 > /dev/null || skip "needs clang-format-14: other versions break some lines elsewhere"
    run clang-format-14 --dry-run -Werror $(git ls-files '*.[ch]')
    assert_success
    run grep -nP '^(?= *(/\*|\*|//)).{129}.*[^\\]$' $(git ls-files '*.[ch]')
    assert_output ''
}

# Since the rule was made; a checkout without history has nothing to say.
@test "commit messages have a subject of at most 72 columns, and a body that says why" {
    since=d313dd0635def15e23ff39d4da6a012de28c94aa
    git cat-file -e "$since^{commit}" 2> /dev/null && git merge-base --is-ancestor $since HEAD || skip "no history"
    bad=$(git log --no-merges --format='%h %s%n%b%x01' $since..HEAD | awk -v RS='\1\n?' -F '\n' '
        { subject = $1; sub(/^[^ ]* /, "", subject); body = 0
          for (i = 2; i <= NF; i++) if ($i != "" && $i !~ /^[A-Z][A-Za-z-]*: /) body = 1 }
        $1 != "" && (length(subject) > 72 || !body) { print $1 (body ? ": longer than 72 columns" : ": no body") }')
    [ -z "$bad" ] || fail "$bad"
}

@test "every entry of a schema is on dp-dataset(5)" {
    entries=$(sed -n '/^} known\[\] = {$/,/^};$/s/^    {"\([a-z_]*\)", .*/\1/p' lib/data/schema_entries.c)
    [ "$(wc -l <<< "$entries")" -gt 20 ] || fail "only these: $entries"
    for entry in $entries; do
        grep -qE "Va (.* )?$entry( |$)" man/dp-dataset.5 || fail "$entry is not on the page"
    done
}
