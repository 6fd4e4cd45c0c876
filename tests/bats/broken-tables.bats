# Tables as they should not be: each gives the right rows, or one sentence and status 1, and no row gets a wrong class.
load helper

prepare() {
    /usr/bin/python3 "$ROOT/tests/bats/broken-tables.py"
    echo '{"header": true, "columns": [{"name": "age", "type": "numeric", "bounds": [0, 100]}, {"name": "job", "type": "categorical",
        "categories": ["cook", "smith"]}, {"name": "ill", "type": "label", "classes": ["no", "yes"]}]}' > schema.json
}

@test "broken tables with a schema: which are read, and what is said of the others" {
    for table in *.csv; do
        got=0
        timeout -k 2 60 dp-import csv -s schema.json --no-registry --no-bias -q -o "${table%.csv}.dp" "$table" 2> said || got=$?
        case $got in
        0) sed "s/^dp-import: /$table: /" said ;;
        1) sed 's/^dp-import: //' said ;;
        *) fail "$table: status $got: $(cat said)" ;;
        esac
    done > refused
    assert_equal "$(cat refused)" "$(cat << 'END'
binary.csv: line 1: the header has no column 'age', only \x01\x02\x03\x04\x05\x06\x07\x08 (--skip-lines N skips lines above a header)
blank-lines.csv: no rows
column-missing.csv: line 1: the header has no column 'job', only age, ill
comma-at-end-of-header.csv: line 2: 3 fields, the header has 4 columns
comma-at-end.csv: line 3: 4 fields, the header has 3 columns
comment.csv: line 2: 1 field, the header has 3 columns (a comment? --comment '#' skips such lines)
control-z-at-end.csv: line 5: 1 field, the header has 3 columns
cut-character.csv: line 3, column 2 (job): unknown category, got 'smithÃ'
cut-in-label.csv: line 4, column 3 (ill): the label is not one of the classes (no, yes), got 'y'
cut-short.csv: line 4: 2 fields, the header has 3 columns
decimal-comma.csv: line 3, column 1 (age): expected a number, got '64,5'
empty-number.csv: line 3, column 1 (age): the value is missing and the schema has no "fill", got ''
empty.csv: no rows
exponent-too-large.csv: line 3, column 1 (age): expected a number, got '1e400'
field-too-few.csv: line 3: 2 fields, the header has 3 columns
field-too-many.csv: line 3: 4 fields, the header has 3 columns
header-again-in-the-middle.csv: warning: line 3 is the header again, so it is skipped (such lines: 1)
header-in-capitals.csv: line 1: the header has no column 'age', only Age, job, ill
header-only.csv: no rows
header-without-end.csv: no rows
hexadecimal.csv: line 3, column 1 (age): expected a number, got '0x40'
html.csv: line 1: the header has no column 'age', only <!DOCTYPE html> (--skip-lines N skips lines above a header)
huge-cell.csv: line 3, column 2 (job): unknown category, got 'ssssssssssssssssssssssssssssssssssssssss…'
hundred-digits.csv: line 3, column 1 (age): expected a number, got '6666666666666666666666666666666666666666…'
infinity.csv: line 3, column 1 (age): expected a number, got 'inf'
json.csv: line 1: the header has no column 'age', only [{"age": 31, job:"cook", ill:"no"}]
label-a-number.csv: line 3, column 3 (ill): the label is not one of the classes (no, yes), got '1'
label-empty.csv: line 3, column 3 (ill): the label is not one of the classes (no, yes), got ''
label-in-capitals.csv: line 3, column 3 (ill): the label is not one of the classes (no, yes), got 'YES'
label-missing-word.csv: line 3, column 3 (ill): the label is not one of the classes (no, yes), got 'NA'
label-missing.csv: line 1: the header has no column 'ill', only age, job
label-unknown.csv: line 3, column 3 (ill): the label is not one of the classes (no, yes), got 'maybe'
latin-1.csv: line 3, column 2 (job): unknown category, got 'ärztin'
line-end-in-quotes.csv: line 4, column 2 (job): unknown category, got 'smi\x0ath'
mac-lines.csv: its lines end with CR only: tr '\r' '\n' converts it
many-columns.csv: line 3: 100001 fields, the header has 3 columns
mixed-encodings.csv: line 2, column 2 (job): unknown category, got 'ärztin'
name-missing.csv: line 1: the header has no column 'job', only age, '', ill
name-twice.csv: line 1, column 2: the header has 'age' twice
nan.csv: line 3, column 1 (age): expected a number, got 'nan'
negative-exponent-too-large.csv: line 3, column 1 (age): expected a number, got '-1e400'
new-category.csv: line 3, column 2 (job): unknown category, got 'baker'
no-header.csv: line 1: the header has no column 'age', only 31, cook, no
nul-at-end.csv: line 5: holds a NUL byte, so this is not text in UTF-8
nul-in-cell.csv: line 3: holds a NUL byte, so this is not text in UTF-8
one-column.csv: line 1: the header has no column 'job', only age
one-line-with-semicolons.csv: line 3: 1 field, the header has 3 columns
only-commas.csv: line 3, column 3 (ill): the label is not one of the classes (no, yes), got ''
other-case.csv: line 3, column 2 (job): unknown category, got 'Smith'
point-alone.csv: line 3, column 1 (age): expected a number, got '.'
quote-in-cell.csv: line 3, column 2 (job): unknown category, got 'smi"th'
quote-not-closed-in-label.csv: line 3: a quote is not closed
quote-not-closed.csv: line 3: a quote is not closed
quotient.csv: line 3, column 1 (age): expected a number, got '128/2'
semicolons.csv: line 1: one name, the schema has 3 columns (is the delimiter ';'?)
single-quotes.csv: line 3, column 3 (ill): the label is not one of the classes (no, yes), got ''yes''
surrogate.csv: line 3, column 2 (job): unknown category, got 'í €'
tabs.csv: line 1: one name, the schema has 3 columns (is the delimiter '\t'?)
title-line-first.csv: line 1: the header has no column 'age', only Patients of 2024 (--skip-lines N skips lines above a header)
total-at-end.csv: line 5, column 3 (ill): the label is not one of the classes (no, yes), got ''
two-headers.csv: warning: line 2 is the header again, so it is skipped (such lines: 1)
two-points.csv: line 3, column 1 (age): expected a number, got '6.4.0'
unicode-digits.csv: line 3, column 1 (age): expected a number, got '６４'
unit.csv: line 3, column 1 (age): expected a number, got '64 years'
END
)"
    /usr/bin/python3 - << 'END' > read
import glob, numpy
for name in sorted(glob.glob("*.dp")):
    x, y = numpy.load(name + "/X.npy"), numpy.load(name + "/y.npy")
    rows = [f"{round(100 * 2 ** .5 * float(a))} {['cook', 'smith'][int(s > 0)]} {['no', 'yes'][int(c)]}" for (a, _, s), c in zip(x, y)]
    if rows != ["31 cook no", "64 smith yes", "47 cook yes"]:
        print(name, *rows, sep=", ")
END
    assert_equal "$(cat read)" "beyond-bounds.dp, 31 cook no, 100 smith yes, 47 cook yes
exponent-too-small.dp, 31 cook no, 0 smith yes, 47 cook yes
header-again-in-the-middle.dp, 31 cook no, 64 smith yes
one-class.dp, 31 cook no, 64 smith no, 47 cook no
thousands.dp, 31 cook no, 100 smith yes, 47 cook yes
unicode-minus.dp, 31 cook no, 0 smith yes, 47 cook yes"
    assert_equal "$(printf '%s\n' *.dp | wc -l) $(wc -l < refused)" "27 64"
}

@test "a schema proposed for a broken table can be read, and fits the table" {
    for table in *.csv; do
        got=0
        timeout -k 2 60 dp-import csv --infer-schema "${table%.csv}.json" -q "$table" 2> said || got=$?
        if [ $got = 0 ]; then
            timeout -k 2 60 dp-import csv -s "${table%.csv}.json" --no-registry -q -o t.dp -f "$table" 2> said || got=$?
        fi
        [ $got -le 1 ] || fail "$table: status $got: $(cat said)"
        [ $got = 0 ] || cat said
    done | sed 's/^dp-import: //' > refused
    assert_equal "$(cat refused)" "$(cat << 'END'
binary.csv: line 2, column 1: '\x0e\x0f\x10\x11\x12\x13\x14\x15\x16\x17\x18\x19\x1a\x1b\x1c\x1d\x1e\x1f !"#$%&'()*+,-./012345…' is not UTF-8 (iconv -f LATIN1 -t UTF-8 converts a file in Latin-1)
blank-lines.csv: no rows
column-missing.csv: the label 'ill' has only one class, so there is nothing to learn
comma-at-end-of-header.csv: line 2: 3 fields, the first line has 4
comma-at-end.csv: line 3: 4 fields, the first line has 3
comment.csv: line 2: 1 field, the first line has 3 (a comment? --comment '#' skips such lines)
control-z-at-end.csv: line 5: 1 field, the first line has 3
cut-short.csv: line 4: 2 fields, the first line has 3
empty.csv: no rows
field-too-few.csv: line 3: 2 fields, the first line has 3
field-too-many.csv: line 3: 4 fields, the first line has 3
header-only.csv: no rows
header-without-end.csv: no rows
html.csv: line 2: 1 field, the first line has 2
json.csv: no rows
label-missing.csv: the label 'job' has only one class, so there is nothing to learn
mac-lines.csv: its lines end with CR only: tr '\r' '\n' converts it
many-columns.csv: line 3: 100001 fields, the first line has 3
mixed-encodings.csv: line 3 is UTF-8, and line 2 is Windows-1252 or Latin-1: one encoding is expected
name-missing.csv: the label 'ill' has only one class, so there is nothing to learn
name-twice.csv: column 2: the header has 'age' twice
nul-at-end.csv: line 5: holds a NUL byte, so this is not text in UTF-8
nul-in-cell.csv: line 3: holds a NUL byte, so this is not text in UTF-8
one-class.csv: the label 'ill' has only one class, so there is nothing to learn
one-column.csv: fewer than two columns (is the delimiter right?)
one-line-with-semicolons.csv: line 3: 1 field, the first line has 3
other-name-twice.csv: column 3: the header has 'x' twice
quote-not-closed-in-label.csv: line 3: a quote is not closed
quote-not-closed.csv: line 3: a quote is not closed
title-line-first.csv: line 2: 1 field, the first line has 3
END
)"
}

@test "a table of very many columns is refused before it takes memory" {
    for line in names numbers others; do
        seq -s , 1 100001 | { [ $line = names ] && sed 's/^/c/; s/,/,c/g' || cat; }
    done > wide.csv
    complains 1 "dp-import: wide.csv: a schema is proposed for at most 100000 columns; write this one yourself" \
        dp-import csv --infer-schema wide.json -q wide.csv
    assert_not_exists wide.json
}
