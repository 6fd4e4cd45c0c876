#!/usr/bin/env bats
# Tables in the ways in which people have reported trouble (reported.py), and dpline fit without an option for it.
load helper

# right: status 0, income and the date are numbers, and the AUC is above 0.75: 0.82, deviation 0.01, without the date 0.76, without
# income 0.68. warned: also, and with these words. said: status 0 with these words. refused: this status, with these words.
outcomes() {
    cat << 'END'
clean right
bom_quoted right
utf16le right
utf16be_nobom right
nul refused 1 line 1501: holds a NUL byte, so this is not text
latin1 right
crlf right
mixed_ends right
crlf_in_quotes right
cr_only refused 1 its lines end with CR only: tr '.r' '.n' converts it
quote_open_once refused 1 line 1501: a quote is not closed
quote_open_twice refused 1 line 1501: a quote opens here, and the cell takes in 300 lines .* nothing was charged
quote_mid right
quote_late right
backslash_quote refused 1 line 2: 7 fields, the first line has 6 .in quotes, a quote is written as
single_quotes refused 1 line 2: 7 fields, the first line has 6 .cells are quoted by
beyond_range right
title_lines refused 1 line 1 has no column 'y', but line 4 has: --skip-lines 3 begins there
sep_hint right
trailing_delimiter warned line 1 names one column less than the rows have: the last one, which is empty
row_names warned line 1 names one column less than the rows have: the first one, of row names
pandas_index warned column '' is left out: it has no name, as a column that numbers the rows
twice_named refused 1 column 4: the header has 'sex' twice
comment_lines refused 1 line 1 has no column 'y', but line 3 has: --skip-lines 2 begins there
comment_inside refused 1 line 1501: 1 field, the first line has 6 .a comment. --comment '#' skips such lines
units_line warned line 2 has the units of the columns, so it is skipped
header_again warned line 1501 is the header again, so it is skipped
total warned line 3002, the last one, is a total, so it is skipped
decimal_comma right
thousands right
thousands_eu right
dollar right
euro right
percent right
decimal_comma_quoted right
trailing_minus right
accounting right
unicode_minus right
limits right
unit right
flags right
debit right
sign_behind_mark right
lakh right
apostrophe right
formula right
sheet_errors right
two_decimals right
swiss right
no_break_space right
day_first right
month_first right
mixed_dates right
serials right
serials_mixed right
no_end right
compact right
sas_dates right
zone right
zulu right
epoch right
zero_dates right
milliseconds right
am_pm right
zip right
card warned column 'card' is left out
long_id warned column 'serial' is left out
label_texts right
label_bools right
label_letters said 'Y' and 'Yes' are taken for one of its classes, a guess, which the schema decides
label_numbers right
label_is_a_name warned column 'y': its name is one of its texts, too: the first line is taken for names, a guess, and --no-header makes it a row
label_missing said about [0-9]* rows, give or take [0-9]*, have no label, or a class that is too rare
one_class said only 'no' is frequent enough to be named: .* there is nothing to learn .--classes names classes
all_different refused 5 no class or number .a date is neither. of the label is frequent enough .*: --classes and a schema of your own need no payment
rare said only 'no' is frequent enough to be named: .* .--classes names classes without payment.
one_row refused 5 is too small: .*; nothing was charged: --classes and a schema of your own need no payment
no_rows refused 1 no rows
forty_rows refused 5 is too small: .*; nothing was charged: --classes and a schema of your own need no payment
only_label refused 1 fewer than two columns .is the delimiter right?
several_rows refused 5 --person 'patient_id' protects all of them; --row-is-person if each row is another person; nothing was charged
constant right
all_missing warned column 'note' is left out
huge_cell warned column 'note' is left out
formulas right
icd right
rare_texts warned column 'answer': about [0-9]* cells, give or take [0-9]*, have a text that is too rare to be named: they have no category
json right
thousands_whole said column 'income' is numeric
END
}

is_right() {
    jq -e '[.columns[] | select(.name == "income" or .name == "seen") | .type] == ["numeric", "numeric"]' "$1.json" > /dev/null &&
        awk 'END { exit !($NF > 0.75) }' <(dp-eval --data "$1-test.dp" --metrics auc --last --in "$1.model")
}

has_no_model() { [ ! -e "$1.model" ]; }

# fits NAME STATUS [WORDS]
fits() {
    local status=0
    dpline fit "$1.csv" --label y --epsilon 1 --seed 1 > out 2> said || status=$?
    if [ "$status" != "$2" ]; then return 1; fi
    grep -q -- "${3-}" said
}

@test "tables as people have them: a good model, a warning, or a refusal with a way out" {
    /usr/bin/python3 "$ROOT/tests/bats/reported.py" .
    outcomes > list
    assert_equal "$(cut -d ' ' -f 1 list | sed 's/$/.csv/' | sort)" "$(ls -- *.csv)"
    while read -r name outcome words; do
        case $outcome in
            right) fits "$name" 0 && is_right "$name" ;;
            warned) fits "$name" 0 "$words" && is_right "$name" ;;
            said) fits "$name" 0 "$words" ;;
            refused) fits "$name" "${words%% *}" "${words#* }" && has_no_model "$name" ;;
        esac || echo "$name: not $outcome: $(grep -v 'taken to be public' said | head -n 3)"
    done < list > bad
    [ ! -s bad ] || fail "$(cat bad)"
}
