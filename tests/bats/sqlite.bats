# Rows of an SQLite query.
load helper

database() {
    sqlite3 t.sqlite << 'END'
create table patients (id integer primary key, age real, job text, note, ill text);
insert into patients values (1, 31.25, 'cook', 'says "hi", twice', 'no'), (2, 64, 'smith', null, 'yes'), (3, null, 'smith',
    'two
lines', 'yes'), (4, 0.1, 'cook', 7, 'no');
create table scans (patient integer, image blob);
insert into scans values (1, x'00ff');
END
    echo '{"header": true, "columns": [{"name": "age", "type": "numeric", "bounds": [0, 100], "fill": 50, "indicator": true},
        {"name": "job", "type": "categorical", "categories": ["cook", "smith"]}, {"name": "note", "type": "ignore"},
        {"name": "ill", "type": "label", "classes": ["no", "yes"]}]}' > schema.json
}

@test "a query is read as its rows saved as CSV are, and the database is not written to" {
    database
    chmod 0400 t.sqlite
    sum=$(md5sum t.sqlite)
    dp-import sqlite t.sqlite --sql 'select * from patients order by id;' -s schema.json --no-registry --row-norm cap -o q.dp 2> said
    grep -q "columns that the schema does not have are ignored: 'id'" said
    sqlite3 -header -csv t.sqlite 'select * from patients order by id' > t.csv
    dp-import t.csv -s schema.json --no-registry --row-norm cap -q -o c.dp
    cmp q.dp/X.npy c.dp/X.npy
    cmp q.dp/y.npy c.dp/y.npy
    assert_equal "$(md5sum t.sqlite)" "$sum"
    /usr/bin/python3 -c "
import numpy as np
x = np.array([[.3125, 0, 1, 0, 1], [.64, 0, 0, 1, 1], [.5, 1, 0, 1, 1], [.001, 0, 1, 0, 1]])
got = np.load('q.dp/X.npy')
assert np.allclose(got, x / np.linalg.norm(x, axis=1)[:, None]), got
assert np.load('q.dp/y.npy').tolist() == [0, 1, 1, 0]"
}

@test "real numbers of a query keep all digits" {
    /usr/bin/python3 - << 'END'
import random, sqlite3
random.seed(5)
db = sqlite3.connect("t.db")
db.execute("create table t (x real, y text)")
numbers = [random.uniform(-1, 1) for _ in range(3000)] + [0.1, 1 / 3, 1e-17, 5e-324, 1.7e-300]
db.executemany("insert into t values (?, ?)", [(x, "ab"[i % 2]) for i, x in enumerate(numbers)])
db.commit()
open("t.csv", "w").write("x,y\n" + "".join("%r,%s\n" % (x, "ab"[i % 2]) for i, x in enumerate(numbers)))
END
    echo '{"header": true, "columns": [{"name": "x", "type": "numeric", "bounds": [-1, 1], "scale": "none"},
        {"name": "y", "type": "label", "classes": ["a", "b"]}]}' > schema.json
    dp-import t.db --sql 'select x, y from t' -s schema.json --no-registry -q -o q.dp
    dp-import t.csv -s schema.json --no-registry -q -o c.dp
    cmp q.dp/X.npy c.dp/X.npy
}

@test "a schema is proposed for a query, and dpline fit trains on it" {
    /usr/bin/python3 - << 'END'
import random, sqlite3
random.seed(7)
db = sqlite3.connect("people.sqlite")
db.execute('create table t ("the age" real, job text, ill text)')
for _ in range(3000):
    age = random.uniform(18, 90)
    db.execute("insert into t values (?, ?, ?)",
               (None if random.random() < .05 else age, random.choice(["cook", "smith"]), "yes" if age + random.gauss(0, 9) > 50 else "no"))
db.commit()
END
    dp-import sqlite people.sqlite --sql 'select * from t' --infer-schema proposed.json -q
    assert_equal "$(jq -r '.header, .delimiter, (.columns[] | .name + " " + .type)' proposed.json | tr '\n' ';')" \
        "true;,;the age numeric;job categorical;ill label;"
    dpline fit people.sqlite --sql "select * from t" --label ill --epsilon 2 2> said || fail "$(cat said)"
    # 0.851, deviation 0.002
    dp-eval --data people-test.dp --metrics accuracy --last --in people.model | awk -F '\t' 'END { exit !($NF > 0.8) }'
}

@test "what a query may not be" {
    database
    refused() { complains "$1" "$2" dp-import "${@:3}" -s schema.json --no-registry -o o.dp; }
    refused 1 "dp-import: t.sqlite is an SQLite database: dp-import sqlite FILE --sql 'SELECT ...' reads it" csv t.sqlite
    refused 1 "dp-import: t.sqlite: no such table: gone" sqlite t.sqlite --sql 'select * from gone'
    for sql in 'delete from patients' 'select 1; select 2' '' 'create table x (y)' "attach 'other.db' as o"; do
        refused 1 "dp-import: --sql: one SELECT statement is expected" sqlite t.sqlite --sql "$sql"
    done
    refused 1 "dp-import: t.sqlite: row 1, column 1 (image) is a blob, and texts and numbers are read" \
        sqlite t.sqlite --sql "select image, 1 as age, 'cook' as job, 'no' as ill from scans"
    refused 1 "dp-import: t.sqlite: line 1: the header has no column 'job', only age, ill" sqlite t.sqlite --sql 'select age, ill from patients'
    refused 1 "dp-import: t.sqlite: line 3, column 2 (job): unknown category, got 'baker'" \
        sqlite t.sqlite --sql "select age, iif(id = 2, 'baker', job) as job, ill from patients"
    refused 1 "dp-import: cannot open gone.sqlite: No such file or directory" sqlite gone.sqlite --sql 'select 1'
    echo 'age,job,ill' > text.sqlite
    refused 1 "dp-import: text.sqlite: file is not a database" sqlite text.sqlite --sql 'select * from t'
    [ ! -e o.dp ]
    sqlite3 t.sqlite 'pragma journal_mode = wal' > mode
    sqlite3 t.sqlite "insert into patients values (9, 1, 'cook', '', 'no')" '.shell cp t.sqlite w.sqlite && cp t.sqlite-wal w.sqlite-wal'
    refused 1 "dp-import: w.sqlite has changes in w.sqlite-wal: end the program that writes to it, or copy it (sqlite3 FILE '.backup COPY')" \
        sqlite w.sqlite --sql 'select * from patients'
    sed -i 's/"header": true/"header": false/' schema.json
    refused 1 'dp-import: schema.json: a query or an ARFF table has names of columns: "header" must be true' sqlite t.sqlite --sql 'select * from patients'
}
