# dp-import: tables of all formats into data sets, and what it says of bad ones.
load helper

# values DIR COLUMNS: the rows of a dense data set, as stored
values() { od -An -v -t f4 -w$((4 * $2)) -j 128 "$1/X.npy" | sed 's/^ *//; s/  */ /g'; }
labels() { od -An -v -t f8 -w8 -j 128 "$1/y.npy" | tr -d ' '; }

# schema COLUMNS [MORE]: schema.json
schema() { printf '{%s"columns": [%s]}\n' "${2:+$2, }" "$1" > schema.json; }
NUMBER='{"name": "a", "type": "numeric", "scale": "none"}'
LABEL='{"name": "y", "type": "label", "classes": ["no", "yes"]}'

# bad_csv MESSAGE [OPTIONS]: dp-import csv of t.csv fails with that message and leaves nothing
bad_csv() {
    complains 1 "dp-import: $1" dp-import csv --schema schema.json -o out.dp "${@:2}" t.csv
    assert_not_exist out.dp
    assert_equal "$(find . -name 'out.dp*')" ''
}

@test "usage" {
    run dp-import --help
    assert_success
    assert_line --index 0 "Usage: dp-import [options] csv|tsv|libsvm|arff|idx FILE …"
    complains 2 "dp-import: expected a format: csv, tsv, libsvm, arff or idx" dp-import
    complains 2 "dp-import: unknown format 'xls': csv, tsv, libsvm, arff or idx" dp-import xls a
    complains 2 "dp-import: expected one file, or - for standard input" dp-import csv
    complains 2 "dp-import: idx takes two files: images and labels" dp-import idx a -o b
    complains 2 "dp-import: --schema is required (--infer-schema FILE writes a first one)" dp-import csv a -o b
    complains 2 "dp-import: --schema and --infer-schema are for csv and tsv" dp-import libsvm a -o b --schema c
    complains 2 "dp-import: --output is required" dp-import libsvm a
    complains 2 "dp-import: --split and --test go together" dp-import libsvm a -o b --split 0.5
    complains 2 "dp-import: --split and --test go together" dp-import libsvm a -o b --test c
    complains 2 "dp-import: --split: must be > 0 and < 1, got 1" dp-import libsvm a -o b --test c --split 1
    complains 2 "dp-import: --delimiter: must be one character, got 'ab'" dp-import csv a -o b --schema c --delimiter ab
    complains 2 "dp-import: --row-norm: must be one of unit|cap|none, got 'two'" dp-import libsvm a -o b --row-norm two
    complains 2 "dp-import: --classes is for libsvm and idx: elsewhere the schema or the file lists them" \
        dp-import arff a -o b --classes 2
    complains 2 "dp-import: --classes: must be a number from 2 to 1000 or a list, got '1'" dp-import libsvm a -o b -k 1
    complains 2 "dp-import: --classes: 'a' is there twice" dp-import libsvm a -o b -k a,a
    complains 2 "dp-import: --classes and --real-label exclude one another" dp-import libsvm a -o b -k 2 --real-label
    complains 2 "dp-import: --cols is for libsvm" dp-import arff a -o b --cols 3
    complains 1 "dp-import: cannot open gone: No such file or directory" dp-import libsvm gone -o b
    complains 1 "dp-import: cannot open gone.json" dp-import csv a -o b --schema gone.json
}

@test "csv: numbers by bounds and largest magnitude, categories, clamping, missing values" {
    cat > t.csv <<- 'END'
		age, job, pay, id, out
		20, cook, -4, 7, no
		70, ?, 2, 8, yes
		 5, smith, ?, 9, "yes."
	END
    cat > schema.json <<- 'END'
		{"header": true, "missing": ["?"], "columns": [
		  {"name": "age", "type": "numeric", "bounds": [20, 60], "note": "public"},
		  {"name": "job", "type": "categorical", "categories": ["baker", "cook", "smith"], "drop": "first", "fill": "mode"},
		  {"name": "pay", "type": "numeric", "scale": "max-abs", "fill": 2},
		  {"name": "id", "type": "ignore"},
		  {"name": "out", "type": "label", "classes": ["no", ["yes", "yes."]]}]}
	END
    run dp-import csv --schema schema.json --row-norm none --bias -o t.dp t.csv
    assert_failure 1
    assert_output "dp-import: row 1 has norm 1.73205: --row-norm cap or unit scales it"
    assert_not_exist t.dp
    run dp-import csv --schema schema.json -o t.dp t.csv
    assert_success
    assert_output "dp-import: t.dp: 3 rows, 4 columns, 2 classes; 2 values clamped to their bounds"
    assert_equal "$(labels t.dp)" "$(printf '0\n1\n1')"
    # age, job=cook, job=smith, pay: row 1 (0, 1, 0, -1)/√2; row 2 (1, 1, 0, 0.5)/1.5; row 3 (0, 0, 1, 0.5)/√1.25
    assert_equal "$(values t.dp 4 | awk '{ printf "%.5f %.5f %.5f %.5f\n", $1, $2, $3, $4 }')" "0.00000 0.70711 0.00000 -0.70711
0.66667 0.66667 0.00000 0.33333
0.00000 0.00000 0.89443 0.44721"
    run dp-info t.dp --get columns
    assert_output '["age", "job=cook", "job=smith", "pay"]'
    run dp-info t.dp --get private_preprocessing
    assert_output 'mode,max-abs'
    run dp-info --verify t.dp
    assert_success
}

@test "a data set without measured values says that nothing was measured" {
    schema '{"name": "a", "type": "numeric", "bounds": [0, 10]}, {"name": "y", "type": "label", "bounds": [-10, 30]}'
    printf '1,-10\n2,30\n3,0\n4,50\n' > t.csv
    run dp-import csv --schema schema.json -o t.dp t.csv
    assert_output "dp-import: t.dp: 4 rows, 1 columns, real labels; 1 values clamped to their bounds"
    assert_equal "$(labels t.dp)" "$(printf '%s\n' -1 1 -0.5 1)"
    run dp-info t.dp
    assert_line "label      y, a number: 20 × y +10"
    assert_line "privacy    nothing was measured on the rows to prepare them"
}

@test "labels centred at their mean are said to be" {
    schema "$NUMBER, {\"name\": \"y\", \"type\": \"label\", \"center\": true}"
    printf '1,10\n2,20\n3,60\n' > t.csv
    dp-import csv --schema schema.json -o t.dp -q t.csv
    assert_equal "$(labels t.dp)" "$(printf '%s\n' -20 -10 30)"
    run dp-info t.dp --get private_preprocessing
    assert_output label-mean
}

@test "pipes, gzip and other delimiters give the same rows" {
    schema "$NUMBER, $LABEL"
    printf '1,no\n-2,yes\n' > t.csv
    dp-import csv --schema schema.json -q -o a.dp t.csv
    gzip -c t.csv > t.csv.gz
    dp-import csv --schema schema.json -q -o b.dp t.csv.gz
    dp-import csv --schema schema.json -q -o c.dp - < t.csv.gz
    tr , ';' < t.csv | dp-import csv --schema schema.json -q -o d.dp --delimiter ';' -
    tr , '\t' < t.csv | dp-import tsv --schema schema.json -q -o e.dp -
    { echo "|1x3 nonsense"; cat t.csv; } | dp-import csv --schema schema.json -q -o f.dp --skip-lines 1 -
    for other in b c d e f; do
        cmp a.dp/X.npy $other.dp/X.npy
        cmp a.dp/y.npy $other.dp/y.npy
    done
    # but not the same digest: it is salted, so that nobody can confirm a guess of the rows by it
    assert_not_equal "$(dp-info a.dp --get digest)" "$(dp-info b.dp --get digest)"
}

@test "csv: bad lines are named by line and column" {
    schema "$NUMBER, $LABEL"
    printf '1,no\n2\n' > t.csv
    bad_csv "t.csv: line 2, column 2: 1 fields, the schema has 2 columns"
    printf '1,no\n2,no,3\n' > t.csv
    bad_csv "t.csv: line 2, column 6: 3 fields, the schema has 2 columns"
    printf '1,no\n0x10,no\n' > t.csv
    bad_csv "t.csv: line 2, column 1 (a): expected a number, got '0x10'"
    printf '1,no\nnan,no\n' > t.csv
    bad_csv "t.csv: line 2, column 1 (a): expected a number, got 'nan'"
    printf '1,no\n1e999,no\n' > t.csv
    bad_csv "t.csv: line 2, column 1 (a): expected a number, got '1e999'"
    printf '1,no\n2,maybe\n' > t.csv
    bad_csv "t.csv: line 2, column 3 (y): the label is not one of the classes, got 'maybe'"
    printf '1,no\n ,no\n' > t.csv
    bad_csv "t.csv: line 2, column 1 (a): the value is missing and the schema has no \"fill\", got ''"
    printf '1,no\n2,"no\n' > t.csv
    bad_csv "t.csv: line 2: a quote is not closed"
    : > t.csv
    bad_csv "t.csv: no rows"
    schema "{\"name\": \"c\", \"type\": \"categorical\", \"categories\": [\"x\"]}, $LABEL"
    printf 'x,no\nz,no\n' > t.csv
    bad_csv "t.csv: line 2, column 1 (c): unknown category, got 'z'"
    schema "$NUMBER, $LABEL" '"header": true'
    printf 'a,b\n1,no\n' > t.csv
    bad_csv "t.csv: line 1, column 3 (y): the header names another column, got 'b'"
    printf 'a\n1,no\n' > t.csv
    bad_csv "t.csv: line 1: 1 names, the schema has 2 columns"
}

@test "an unknown category may be all zeros" {
    schema "{\"name\": \"c\", \"type\": \"categorical\", \"categories\": [\"x\", \"z\"], \"unknown\": \"zero\"}, $LABEL"
    printf 'x,no\nwhat,yes\n' > t.csv
    dp-import csv --schema schema.json -q -o t.dp t.csv
    assert_equal "$(values t.dp 2 | tail -n 1)" "0 0"
}

@test "--skip-bad leaves out that many lines and counts them" {
    schema "$NUMBER, $LABEL"
    printf '1,no\nbad,no\n3,yes\n4\n' > t.csv
    bad_csv "t.csv: line 4, column 2: 1 fields, the schema has 2 columns" --skip-bad 1
    run dp-import csv --schema schema.json --skip-bad 2 -o t.dp t.csv
    assert_success
    assert_output "dp-import: t.dp: 2 rows, 1 columns, 2 classes; 2 malformed lines left out"
}

@test "input that is cut short is refused, and nothing is left" {
    schema "$NUMBER, $LABEL"
    for i in $(seq 5000); do echo "$i.$RANDOM,no"; done > t.csv
    gzip -c t.csv | head -c 9000 > t.csv.gz
    run dp-import csv --schema schema.json -o out.dp t.csv.gz
    assert_failure 1
    assert_output --regexp '^dp-import: t.csv.gz: line [0-9]+: cannot read: .*unexpected end of file$'
    assert_equal "$(find . -name 'out.dp*')" ''
}

@test "a signal leaves nothing behind" {
    schema "$NUMBER, $LABEL"
    mkdir in
    (cd in && timeout -s INT 1 dp-import csv --schema ../schema.json -o out.dp - < <(echo 1,no; sleep 3) || true)
    assert_equal "$(find in -mindepth 1)" ''
    (cd in && timeout -s TERM 1 dp-synth regression --rows 100000000 --cols 50 -o out.dp || true)
    assert_equal "$(find in -mindepth 1)" ''
}

@test "nothing is overwritten without --force, and only data sets with it" {
    schema "$NUMBER, $LABEL"
    printf '1,no\n' > t.csv
    dp-import csv --schema schema.json -q -o t.dp t.csv
    complains 1 "dp-import: t.dp exists (--force replaces it)" dp-import csv --schema schema.json -o t.dp t.csv
    printf '1,no\n2,no\n' > t.csv
    dp-import csv --schema schema.json -q -f -o t.dp t.csv
    assert_equal "$(dp-info --get rows t.dp)" 2
    mkdir plain
    complains 1 "dp-import: plain is not a data set: it will not be replaced" \
        dp-import csv --schema schema.json -f -o plain t.csv
    complains 1 "dp-import: t.csv is not a data set: it will not be replaced" \
        dp-import csv --schema schema.json -f -o t.csv t.csv
    assert_equal "$(find . -name '*.dp*')" ./t.dp
}

@test "a population is the same in every import of a table, and in both parts of a split" {
    schema "$NUMBER, $LABEL"
    mkdir in
    printf '1,no\n2,yes\n3,no\n4,yes\n' > in/people.csv
    dp-import csv --schema schema.json -q -o a.dp in/people.csv
    assert_equal "$(dp-info -g population a.dp) $(dp-info -g held_out a.dp)" "schema:people.csv false"
    dp-import csv --schema ./schema.json -q -f --split 0.5 -o a.dp -t at.dp in/people.csv
    assert_equal "$(dp-info -g population a.dp) $(dp-info -g held_out a.dp)" "schema:people.csv false"
    assert_equal "$(dp-info -g population at.dp) $(dp-info -g held_out at.dp)" "schema:people.csv true"
    run dp-info at.dp
    assert_line "population schema:people.csv, rows held out for tests"
    dp-import csv --schema schema.json -q -o b.dp - < in/people.csv
    assert_equal "$(dp-info -g population b.dp)" schema
    dp-import csv --schema schema.json --population 'clinic ü' -q -o c.dp in/people.csv
    assert_equal "$(dp-info -g population c.dp)" 'clinic ü'
    printf '1 1:1\n0 1:2\n' > t.svm
    dp-import libsvm -q -o d.dp t.svm
    assert_equal "$(dp-info -g population d.dp)" libsvm:t.svm
    for bad in '' $'a\tb' $'gr\366sse' "$(printf 'x%.0s' {1..501})"; do
        complains 2 "dp-import: --population: must be 1 to 500 bytes of UTF-8 without control characters" \
            dp-import libsvm --population "$bad" -o e.dp t.svm
    done
    assert_not_exist e.dp
    # a set from before populations: its digest stands for it
    sed -i '/population/d; /held_out/d' d.dp/dataset.json
    assert_equal "$(dp-info -g population d.dp)" "$(dp-info -g digest d.dp)"
}

@test "a data set is for its owner only" {
    printf '1 1:1\n0 1:2\n' > t.svm
    umask 000
    dp-import libsvm -q -o t.dp t.svm
    dp-import libsvm --storage csr -q -o s.dp t.svm
    assert_equal "$(stat -c %a t.dp t.dp/* s.dp s.dp/* | sort | uniq -c | tr -s ' ')" " 8 600
 2 700"
}

@test "--force keeps the ledger of the data set, at every moment" {
    printf '1 1:1\n0 1:2\n' > t.svm
    dp-import libsvm -q -o t.dp t.svm
    echo paid > t.dp/ledger
    echo mark > t.dp/ledger.mark
    inodes=$(stat -c %i t.dp/ledger t.dp/ledger.mark)
    digest=$(dp-info -g digest t.dp)
    dp-import libsvm -q -f -o t.dp t.svm
    assert_not_equal "$(dp-info -g digest t.dp)" "$digest"
    assert_equal "$(stat -c %i t.dp/ledger t.dp/ledger.mark)" "$inodes"
    assert_equal "$(stat -c %h t.dp/ledger)" 1
    assert_equal "$(find . -name 't.dp*')" ./t.dp
    for i in $(seq 60); do
        timeout -s KILL "0.00$((RANDOM % 10))$((RANDOM % 10))" dp-import libsvm -q -f -o t.dp t.svm || true
        assert_equal "$(cat t.dp/ledger t.dp/ledger.mark)" "$(printf 'paid\nmark')"
        dp-info --verify t.dp > info
    done
    # what fails leaves the old one with its ledger
    printf '1 x:1\n' > t.svm
    run dp-import libsvm -q -f -o t.dp t.svm
    assert_failure 1
    assert_equal "$(cat t.dp/ledger t.dp/ledger.mark)" "$(printf 'paid\nmark')"
}

@test "--split is an exact partition, the same for the same seed" {
    for i in $(seq 101); do echo "$((i % 2)) 1:1 2:$i"; done > t.svm
    run dp-import libsvm -k 2 -d 2 --row-norm cap --split 0.75 --seed 4 -o a.dp -t at.dp t.svm
    assert_output "dp-import: a.dp: 75 rows, 2 columns, 2 classes; at.dp: 26 rows"
    dp-import libsvm -k 2 -d 2 --row-norm cap --split 0.75 --seed 4 -o b.dp -t bt.dp -q t.svm
    dp-import libsvm -k 2 -d 2 --row-norm cap --split 0.75 --seed 5 -o c.dp -t ct.dp -q t.svm
    dp-import libsvm -k 2 -d 2 --row-norm cap -o all.dp -q t.svm
    cmp a.dp/X.npy b.dp/X.npy
    cmp at.dp/X.npy bt.dp/X.npy
    run cmp a.dp/X.npy c.dp/X.npy
    assert_failure
    # together they are all rows
    assert_equal "$({ values a.dp 2; values at.dp 2; } | sort)" "$(values all.dp 2 | sort)"
}

@test "libsvm: dense and CSR hold the same rows; what was measured is said" {
    printf '%s\n' '+1 2:1 4:2' '-1 # nothing' '-1 1:-3 # comment' '' '# comment' > t.svm
    run dp-import libsvm --storage csr -o s.dp t.svm
    assert_output "dp-import: s.dp: 3 rows, 4 columns, 2 classes"
    assert_equal "$(dp-info s.dp --get private_preprocessing)" classes,columns
    assert_equal "$(dp-info s.dp --get class_names)" '["-1", "1"]'
    assert_equal "$(dp-info s.dp --get storage)" csr
    assert_equal "$(labels s.dp)" "$(printf '%s\n' 1 0 0)"
    assert_equal "$(od -An -t d8 -v -w8 -j 128 s.dp/X_indptr.npy | tr -d ' ')" "$(printf '%s\n' 0 2 2 3)"
    assert_equal "$(od -An -t d4 -v -w4 -j 128 s.dp/X_indices.npy | tr -d ' ')" "$(printf '%s\n' 1 3 0)"
    dp-import libsvm --classes -1,1 --cols 4 -q -o d.dp t.svm
    assert_equal "$(dp-info d.dp --get private_preprocessing)" ''
    assert_equal "$(values d.dp 4 | awk '{ printf "%.4f %.4f %.4f %.4f\n", $1, $2, $3, $4 }')" "0.0000 0.4472 0.0000 0.8944
0.0000 0.0000 0.0000 0.0000
-1.0000 0.0000 0.0000 0.0000"
    dp-info --verify d.dp
    dp-info --verify s.dp
    printf '%s\n' 1 '0 1:1' > z.svm # a row of zeros may come first
    dp-import libsvm -q -o z.dp z.svm
    assert_equal "$(values z.dp 1 | head -n 1)" 0
    dp-import libsvm --real-label --scale max-abs -q -o r.dp t.svm
    assert_equal "$(dp-info r.dp --get private_preprocessing)" columns,max-abs
    assert_equal "$(labels r.dp)" "$(printf '%s\n' 1 -1 -1)"
}

@test "libsvm: bad lines are named by line and column" {
    while IFS='|' read -r line message; do
        printf '1 1:1\n%s\n' "$line" > t.svm
        complains 1 "dp-import: t.svm: line 2, column $message" dp-import libsvm -k 0,1 -d 9 -o o.dp t.svm
    done <<- 'END'
		x 1:1|1: expected a label
		1 a:1|3: expected index:value with an index from 1
		1 0:1|3: expected index:value with an index from 1
		1 1|3: expected index:value with an index from 1
		1 2:1 2:1|7: indices must ascend
		1 1:x|3: expected a number after ':'
		1 10:1|3: the index is above --cols
		2 1:1|1: the label is not one of --classes
	END
    assert_not_exist o.dp
}

@test "arff: the header is the schema" {
    cat > t.arff <<- 'END'
		% a comment
		@relation play
		@attribute temperature numeric
		@attribute 'sky colour' {blue, grey}
		@ATTRIBUTE note string
		@attribute play {no, 'oh yes'}
		@data
		10, blue, 'x, "', no
		% another's
		20, 'grey', y, 'oh yes'
	END
    run dp-import arff -o t.dp t.arff
    assert_output "dp-import: t.dp: 2 rows, 3 columns, 2 classes"
    assert_equal "$(dp-info t.dp --get columns)" '["temperature", "sky colour=blue", "sky colour=grey"]'
    assert_equal "$(dp-info t.dp --get label)" play
    dp-import arff --label temperature -q -o r.dp t.arff
    assert_equal "$(labels r.dp)" "$(printf '10\n20')"
    complains 2 "dp-import: --label: t.arff has no attribute 'x'" dp-import arff --label x -o x.dp t.arff
    sed -i 's/20, .grey./20, green/' t.arff
    complains 1 "dp-import: t.arff: line 10, column 4 (sky colour): unknown category, got 'green'" dp-import arff -o x.dp t.arff
    printf '@relation x\n@attribute a date\n' > t.arff
    complains 1 "dp-import: t.arff: line 2, column 14: only numeric, nominal and string attributes are read" \
        dp-import arff -o x.dp t.arff
    printf '@relation x\n@attribute a numeric\n' > t.arff
    complains 1 "dp-import: t.arff: no @data" dp-import arff -o x.dp t.arff
}

@test "idx: bytes by their range, labels by --classes" {
    printf '\0\0\010\003\0\0\0\002\0\0\0\001\0\0\0\002\377\0\0\063' > images
    printf '\0\0\010\001\0\0\0\002\001\0' > labels
    run dp-import idx --classes 2 --row-norm cap -o t.dp images labels
    assert_output "dp-import: t.dp: 2 rows, 2 columns, 2 classes"
    assert_equal "$(values t.dp 2 | awk '{ printf "%.4f %.4f\n", $1, $2 }')" "1.0000 0.0000
0.0000 0.2000"
    assert_equal "$(labels t.dp)" "$(printf '1\n0')"
    dp-import idx -q -o ten.dp images labels
    assert_equal "$(dp-info ten.dp --get classes)" 10
    assert_equal "$(dp-info ten.dp --get private_preprocessing)" ''
    gzip -c images > images.gz
    dp-import idx -q -o gz.dp images.gz labels
    cmp ten.dp/X.npy gz.dp/X.npy

    complains 1 "dp-import: labels: IDX with 1 dimensions" dp-import idx -o x.dp labels labels
    head -c 18 images > short
    complains 1 "dp-import: short: ends inside item 2 of 2" dp-import idx -o x.dp short labels
    head -c 10 images > short
    complains 1 "dp-import: short: its header is cut short" dp-import idx -o x.dp short labels
    echo hello > short
    complains 1 "dp-import: short: not an IDX file" dp-import idx -o x.dp short labels
    { cat images; echo; } > long
    complains 1 "dp-import: long: goes on after its last item" dp-import idx -o x.dp long labels
    printf '\0\0\010\001\0\0\0\001\001' > few
    complains 1 "dp-import: images has 2 items, few has 1" dp-import idx -o x.dp images few
    printf '\0\0\010\001\0\0\0\002\001\014' > many
    complains 1 "dp-import: many: item 2 has label 12, there are 10 classes (--classes)" dp-import idx -o x.dp images many
    assert_not_exist x.dp
}

@test "--infer-schema looks at the data and says so; its data sets say so too" {
    cat > t.csv <<- 'END'
		size,kind,grade
		1,b,x
		3,a,y
		?,b,x
	END
    run dp-import csv --infer-schema s.json --header t.csv
    assert_success
    assert_output "dp-import: looked at the data to write s.json: its bounds and categories are private until you replace them"
    run dp-import csv --schema s.json -o t.dp t.csv
    assert_output "dp-import: t.dp: 3 rows, 3 columns, 2 classes"
    assert_equal "$(dp-info t.dp --get private_preprocessing)" inferred-schema
    assert_equal "$(dp-info t.dp --get columns)" '["size", "kind=a", "kind=b"]'
    dp-import csv --infer-schema s2.json --header --label kind -q t.csv
    dp-import csv --schema s2.json -q -o t2.dp t.csv
    assert_equal "$(dp-info t2.dp --get label)" kind
    printf '1\n2\n' > t.csv
    complains 1 "dp-import: t.csv: fewer than two columns (is the delimiter right?)" dp-import csv --infer-schema s3.json t.csv
    printf '1,2\n2\n' > t.csv
    complains 1 "dp-import: t.csv: line 2: 1 fields, the first line has 2" dp-import csv --infer-schema s3.json t.csv
}

@test "Fashion-MNIST is 60000 × 784 in ten classes" {
    dp-import idx -o f.dp "$FASHION/train-images-idx3-ubyte.gz" "$FASHION/train-labels-idx1-ubyte.gz" -q
    assert_equal "$(dp-info --get rows f.dp) $(dp-info --get cols f.dp) $(dp-info --get classes f.dp)" "60000 784 10"
    dp-info --verify f.dp > info
    rm -r f.dp
}

@test "Adult is 24420 × 81 as in the DP-SCD paper" {
    need_data adult adult.data.gz
    s=$ROOT/examples/dp-scd/schema-adult.json
    run dp-import csv --schema "$s" --split 0.75 -o a.dp --test at.dp "$DATA_FILE"
    assert_output "dp-import: a.dp: 24420 rows, 81 columns, 2 classes; at.dp: 8141 rows"
    run dp-import csv --schema "$s" --skip-lines 1 -o t.dp "${DATA_FILE%data.gz}test.gz"
    assert_output "dp-import: t.dp: 16281 rows, 81 columns, 2 classes"
}

@test "Phishing is 8291 × 68" {
    need_data phishing phishing.gz
    run dp-import libsvm -k 0,1 -d 68 --split 0.75 -o p.dp -t pt.dp "$DATA_FILE"
    assert_output "dp-import: p.dp: 8291 rows, 68 columns, 2 classes; pt.dp: 2764 rows"
}
