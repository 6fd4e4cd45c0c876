# Rows of a table that several threads make, in batches of 256 KiB: the same rows and the same first error as of one thread.
load helper

schema() {
    echo '{"header": true, "columns": [{"name": "age", "type": "numeric", "bounds": [0, 100]}, {"name": "job", "type": "categorical",
        "categories": ["cook", "smith"]}, {"name": "ill", "type": "label", "classes": ["no", "yes"]}]}' > schema.json
}

# into NAME TABLE THREADS [OPTION...]: NAME.dp and NAME.said
into() {
    local name=$1 table=$2 threads=$3 got=0
    shift 3
    OMP_NUM_THREADS=$threads timeout -k 2 60 dp-import csv -s schema.json --no-registry --no-bias -q -o "$name.dp" "$@" "$table" \
        2> "$name.said" || got=$?
    sed -i "1s/^/$got /" "$name.said"
}

@test "each broken table in the third batch: the same rows and the same words, with one thread and four" {
    schema
    /usr/bin/python3 - "$ROOT/tests/bats" << 'END'
import sys
sys.path.insert(0, sys.argv[1])
tables = __import__("broken-tables")
many = tables.ROWS[0] * 55000
for name, table in tables.TABLES.items():
    lines = table.split(b"\n", 1)
    if table.startswith(tables.HEADER) and len(table) < 10000 and name != "latin-1":
        small = table if table.endswith(b"\n") else table + b"\n"
        open(name + ".small", "wb").write(small)
        # an error that comes later must not be told
        open(name + ".large", "wb").write(tables.HEADER + many + small[len(tables.HEADER):] + many[:11 * 36000] + b"x,cook,no\n")
END
    for small in *.small; do
        name=${small%.small}
        into small "$small" 1
        into one "$name.large" 1
        into four "$name.large" 4
        assert_equal "$(cat four.said)" "$(cat one.said)"
        case $name in
        quote-not-closed*) ;; # the next row has a quote as well, or none at all
        header-again* | two-headers) grep -q '^dp-import: .*expected a number' four.said || grep -q "^1 .*got 'x'" four.said ;;
        *)
            number=$(sed -n 's/.*: line \([0-9]*\).*/\1/p' small.said)
            want=$(sed "s/: line $number/: line $((number + 55000))/; s/$name.small/$name.large/" small.said)
            if [ -n "$number" ]; then
                assert_equal "$(cat four.said)" "$want"
            else
                assert_regex "$(cat four.said)" "1 dp-import: $name.large: line .*, column 1 .age.: expected a number, got 'x'"
            fi
            ;;
        esac
        rm -rf small.dp one.dp four.dp
    done
    [ "$(printf '%s\n' *.small | wc -l)" -ge 55 ]
}

@test "quoted cells over the borders of batches are read as Python reads them, by any number of threads" {
    /usr/bin/python3 - << 'END'
import csv, json, random
csv.field_size_limit(10 ** 7)
random.seed(3)
pieces = ['a,b', '""', '\n', 'é', 'line\nline', ' ', '5', ';', '\r\n']
def row(i):
    note = ''.join(random.choice(pieces) for _ in range(random.randint(0, 12)))
    number = '%.3f' % random.uniform(-9, 9)
    return '%s,"%s",%s%s' % (random.choice([number, '"%s"' % number]), note, 'ny'[i % 3 == 0], random.choice(['\n', '\r\n']))
with open('t.csv', 'w', newline='', encoding='utf-8') as f:
    f.write('x,note,y\n' + ''.join(row(i) for i in range(40000)) + '1.5,"' + 'long\n' * 80000 + '",n\n2.5,' + 600000 * 'w' + ',y')
with open('t.csv', newline='', encoding='utf-8') as f:
    rows = list(csv.reader(f))[1:]
json.dump([[float(r[0]), 'ny'.index(r[2])] for r in rows], open('rows.json', 'w'))
json.dump({"header": True, "columns": [{"name": "x", "type": "numeric", "bounds": [-9, 9]}, {"name": "note", "type": "ignore"},
    {"name": "y", "type": "label", "classes": ["n", "y"]}]}, open('schema.json', 'w'))
END
    for threads in 1 2 5; do
        into $threads t.csv $threads
        assert_equal "$(cat $threads.said)" ""
        dp-info --verify $threads.dp > said
        /usr/bin/python3 - $threads.dp << 'END'
import json, numpy, sys
x, y = numpy.load(sys.argv[1] + "/X.npy"), numpy.load(sys.argv[1] + "/y.npy")
rows = numpy.array(json.load(open("rows.json")))
assert x.shape == (40002, 1) and numpy.array_equal(y, rows[:, 1])
assert numpy.allclose(x[:, 0] * numpy.sqrt(1 + 2.0 ** -20), (rows[:, 0] + 9) / 18, atol=1e-5)
END
        cmp 1.dp/X.npy $threads.dp/X.npy
        cmp 1.dp/y.npy $threads.dp/y.npy
    done
}

@test "malformed lines in several batches count in the order of the table" {
    schema
    /usr/bin/python3 - << 'END'
rows = ["%d,%s,%s\n" % (i % 101, ["cook", "smith"][i % 2], ["no", "yes"][i % 5 == 0]) for i in range(90000)]
for i in range(20000, 90000, 9000):
    rows[i] = "x%d,cook,yes\n" % i
open("t.csv", "w").write("age,job,ill\n" + "".join(rows))
END
    for threads in 1 4; do
        into $threads t.csv $threads --skip-bad 8 --private-counts
        into few t.csv $threads --skip-bad 7
        assert_equal "$(cat few.said)" "1 dp-import: t.csv: line 83002, column 1 (age): expected a number, got 'x83000'"
        into storage t.csv $threads --skip-bad 8 --storage csr
        into quantised t.csv $threads --skip-bad 8 --quantise
        rm -rf $threads.arrays && mkdir $threads.arrays
        cp $threads.dp/X.npy $threads.dp/y.npy storage.dp/X_*.npy quantised.dp/X_i16.npy $threads.arrays
        rm -rf few.dp storage.dp quantised.dp
    done
    grep -q "8 malformed lines" 4.said
    diff 1.said 4.said
    diff -r 1.arrays 4.arrays
}

@test "rows that are divided, and rows of persons, are the same for any number of threads" {
    /usr/bin/python3 - << 'END'
rows = ["p%d,%d,%s,%s\n" % (i * i % 19993, i % 101, ["cook", "smith"][i % 2], ["no", "yes"][i % 5 == 0]) for i in range(60000)]
for i in range(20000, 60000, 5000):
    rows[i] = "p%d,x%d,cook,yes\n" % (i, i)
open("t.csv", "w").write("who,age,job,ill\n" + "".join(rows))
END
    for kind in ignore person; do
        schema
        sed -i "s/: \[{/: [{\"name\": \"who\", \"type\": \"$kind\"}, {/" schema.json
        options=(--split .7 --test v.dp --skip-bad 8 --private-counts)
        [ $kind = ignore ] || options+=(--rows-per-person 100) # fewer would be chosen at random
        for threads in 1 4; do
            into t t.csv $threads "${options[@]}"
            rm -rf $threads.out && mkdir $threads.out
            for part in t v; do
                dp-info --verify $part.dp > $threads.out/$part.verified
                for array in $part.dp/*.npy; do mv "$array" "$threads.out/$part-${array##*/}"; done
                rm -r $part.dp
            done
            mv t.said $threads.out
            into few t.csv $threads "${options[@]/#8/7}"
            assert_equal "$(cat few.said)" "1 dp-import: t.csv: line 55002, column 2 (age): expected a number, got 'x55000'"
        done
        grep -q "8 malformed lines" 1.out/t.said
        rm ./*.out/*.verified
        diff -r 1.out 4.out
        mv 4.out $kind
    done
    [ -e person/v-persons.npy ]
    # a row that cannot be written is told by its number; clamped values are counted
    schema
    sed -i 's/"bounds": \[0, 100\]/"scale": "none"/' schema.json
    sed 's/^p[0-9]*,//; s/,x[0-9]*,/,1,/; s/^x[0-9]*/1/; 1s/^who,//' t.csv > long.csv
    for threads in 1 4; do
        into long long.csv $threads --split .7 --test v.dp --row-norm none
        schema && into bounds <(sed 's/^99,/101,/' long.csv) $threads --split .7 --test v.dp --private-counts
        mv bounds.said $threads.said
        rm -r bounds.dp v.dp
        sed -i 's/"bounds": \[0, 100\]/"scale": "none"/' schema.json
        mv long.said $threads.long
    done
    assert_regex "$(cat 4.long)" '^1 dp-import: row [0-9]+ has norm [0-9.]+: --row-norm cap or unit scales it$'
    cmp 1.long 4.long
    grep -q '594 values' 4.said
    cmp 1.said 4.said
    # persons have the same rows in another order
    /usr/bin/python3 - << 'END'
import numpy
def rows(kind):
    return sorted(tuple(row) for part in "tv" for row in
                  numpy.column_stack([numpy.load(f"{kind}/{part}-X.npy"), numpy.load(f"{kind}/{part}-y.npy")]))
assert len(rows("person")) == 60000 and rows("person") == rows("ignore")
END
}

@test "a schema is proposed from the same counts by any number of threads, and the first error is told" {
    /usr/bin/python3 - << 'END'
rows = ["%d,%d,%s,\"a %d, quoted\",%d kg,%s\n" % (i, i % 997 * 3, ["cook", "smith"][i * i % 7 % 2], i % 5000, i % 90 + 1,
        ["no", "yes"][i % 5 == 0]) for i in range(30000)]
open("t.csv", "w").write("at,size,job,note,weight,ill\n" + "".join(rows))
rows[25000], rows[29000] = "1,2\n", "1\n"
open("bad.csv", "w").write("at,size,job,note,weight,ill\n" + "".join(rows))
END
    for threads in 1 4; do
        export OMP_NUM_THREADS=$threads
        dp-import csv --infer-schema exact.json -f -q --label ill t.csv
        dp-import csv --infer-schema paid.json -f -q --label ill --row-is-person --private-schema 1 --noise-seed 1 --no-ledger \
            --no-registry t.csv
        run -1 timeout -k 2 60 dp-import csv --infer-schema bad.json --label ill bad.csv
        assert_output "dp-import: bad.csv: line 25002: 2 fields, the first line has 6"
        mkdir $threads.out
        mv exact.json paid.json $threads.out
    done
    grep -q '"weight"' 1.out/paid.json
    diff -r 1.out 4.out
}

@test "a table with 10^6 columns is read, and a cell of 100 MB is refused" {
    schema
    /usr/bin/python3 - << 'END'
names = ",".join("c%d" % i for i in range(10 ** 6))
with open("wide.csv", "w") as f:
    f.write("age," + names + ",job,ill\n")
    for age in 31, 64:
        f.write("%d," % age + "7," * 10 ** 6 + "cook,no\n")
END
    into wide wide.csv 4
    assert_equal "$(cat wide.said)" ""
    dp-info wide.dp | grep -q '^rows *2$'
    { printf 'age,job,ill\n31,' && head -c 100000000 /dev/zero | tr '\0' s && printf ',no\n'; } > long.csv
    into long long.csv 4
    assert_equal "$(cat long.said)" "1 dp-import: long.csv: line 2 is longer than 67108864 bytes"
    rm long.csv wide.csv
}

@test "a signal ends an import that waits for rows, whichever thread waits" {
    schema
    mkfifo rows
    exec 8<> rows
    for threads in 1 3; do
        printf 'age,job,ill\n31,cook,no\n' >&8
        OMP_NUM_THREADS=$threads dp-import csv -s schema.json --no-registry -q -o t.dp rows 2> said 8>&- &
        for _ in {1..1200}; do # a minute, which a loaded machine may need
            ! compgen -G 't.dp.*/X.npy' > parts || break
            sleep 0.05
        done
        sleep 0.1
        pid=$!
        kill -TERM $pid
        within 60 tail --pid=$pid -f /dev/null # it has ended
        assert_success
        run wait $pid
        assert_equal "$(compgen -G 't.dp*' || true)" ""
    done
    exec 8>&-
}
