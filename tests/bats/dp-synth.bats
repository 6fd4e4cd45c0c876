# dp-synth: seeded data of any shape.
load helper

@test "usage" {
    run dp-synth --help
    assert_success
    assert_line --index 0 "Usage: dp-synth [options] [regression|classification|patients]"
    complains 2 "dp-synth: expected one of: regression, classification, patients" dp-synth -o a.dp
    complains 2 "dp-synth: expected one of: regression, classification, patients" dp-synth ranking -o a.dp
    complains 2 "dp-synth: expected one of: regression, classification, patients" dp-synth regression regression -o a.dp
    assert_not_exists a.dp
}

@test "classification and regression, dense and CSR" {
    run dp-synth classification --rows 300 --cols 7 --classes 5 --seed 3 -o c.dp
    assert_success
    assert_output "dp-synth: c.dp: 300 rows, 7 columns"
    dp-info --verify c.dp
    assert_equal "$(od -An -v -t f8 -w8 -j 128 c.dp/y.npy | sort -u | tr -d ' ' | tr '\n' ' ')" "0 1 2 3 4 "
    dp-synth regression --rows 300 --cols 7 --storage csr -q -o r.dp
    dp-info --verify r.dp
    od -An -v -t f8 -w8 -j 128 r.dp/y.npy | awk '$1 < -1 || $1 > 1 { exit 1 }'
}

@test "same seed, same bytes; another seed, other rows" {
    dp-synth classification --rows 50 --cols 4 --seed 9 -q -o a.dp
    dp-synth classification --rows 50 --cols 4 --seed 9 -q -o b.dp
    dp-synth classification --rows 50 --cols 4 --seed 10 -q -o c.dp
    diff -r a.dp b.dp
    run cmp a.dp/X.npy c.dp/X.npy
    assert_failure
    run cmp a.dp/y.npy c.dp/y.npy
    assert_failure
}

@test "--test: other rows of the same model" {
    run dp-synth regression --rows 90 --cols 4 -o a.dp --test t.dp
    assert_output "dp-synth: a.dp: 90 rows, 4 columns
dp-synth: t.dp: 30 rows, 4 columns"
    dp-synth regression --rows 90 --cols 4 -o a.dp --test t.dp --test-rows 7 --force -q
    assert_equal "$(dp-info --get rows t.dp)" 7
    # the rows of a.dp do not depend on --test
    dp-synth regression --rows 90 --cols 4 -q -o b.dp
    cmp a.dp/X.npy b.dp/X.npy
}

@test "nothing is overwritten without --force" {
    dp-synth regression --rows 5 -q -o a.dp
    complains 1 "dp-synth: a.dp exists (--force replaces it)" dp-synth regression --rows 6 -o a.dp
    dp-synth regression --rows 6 -q -f -o a.dp
    assert_equal "$(dp-info --get rows a.dp)" 6
    mkdir plain
    complains 1 "dp-synth: plain is not a data set: it will not be replaced" dp-synth regression -f -o plain
    complains 1 "dp-synth: cannot create gone/a.dp: No such file or directory" dp-synth regression -o gone/a.dp
    assert_equal "$(find . -name 'a.dp*')" ./a.dp
}

@test "--like year-prediction-msd is 463715 × 90; memory does not grow with rows" {
    case $BUILD in *asan*) skip "the limit on address space does not go with sanitizers" ;; esac
    (ulimit -v 100000; dp-synth --like year-prediction-msd -q -o y.dp)
    assert_equal "$(dp-info --get rows y.dp) $(dp-info --get cols y.dp) $(dp-info --get classes y.dp)" "463715 90 0"
    rm -r y.dp
}

@test "patients: an untidy table, and other patients without the label" {
    run dp-synth patients --rows 400 --seed 5 -o p.csv --test next.csv
    assert_success
    assert_output "dp-synth: p.csv: 400 patients; readmitted is the label
dp-synth: next.csv: 134 other patients, without the label"
    assert_equal "$(head -n 1 p.csv)" patient_id,admitted,age,sex,ward,bmi,drugs,smoker,note,readmitted
    assert_equal "$(head -n 1 next.csv)" admitted,patient_id,ward,sex,age,drugs,bmi,smoker,note
    /usr/bin/python3 - << 'END'
import csv
rows, others = list(csv.DictReader(open("p.csv", newline=""))), list(csv.DictReader(open("next.csv", newline="")))
assert [r["patient_id"] for r in rows + others] == [f"P{i:06}" for i in range(1, 535)]
values = {name: {r[name] for r in rows} for name in rows[0]}
assert values["sex"] == set("fFmM") and values["readmitted"] == {"yes", "Yes", "no", "No"}
assert {"", "n/a", "unknown"} < values["age"] and any("\n" in note for note in values["note"]) and any('"' in note for note in values["note"])
END
    dp-synth patients --rows 400 --seed 5 -q -o again.csv
    cmp p.csv again.csv
    complains 1 "dp-synth: p.csv exists (--force replaces it)" dp-synth patients -o p.csv
    dp-synth patients --seed 6 --rows 400 -q -f -o p.csv
    run -1 cmp -s p.csv again.csv
    # a table that cannot be written leaves the one before
    cp p.csv before
    run bash -c 'ulimit -f 8; dp-synth patients --seed 7 --rows 4000 -q -f -o p.csv'
    assert_equal "$status" 1
    cmp p.csv before
    assert_equal "$(find . -name 'p.csv?*')" ''
    complains 1 "dp-synth: cannot write /dev/full: No space left on device" dp-synth patients -q -f -o /dev/full
    complains 2 "dp-synth: expected one of: regression, classification, patients" dp-synth patients --like year-prediction-msd -o a.csv
}
