#!/usr/bin/env bats
# Text of files reaches a terminal without its control characters and direction marks, whatever the command.
load helper

prepare() { export DPLINE_REGISTRY=$BATS_FILE_TMPDIR/registry; } # the ledger of t.dp is where its registry says

setup_file() {
    cd "$BATS_FILE_TMPDIR" || return 1
    /usr/bin/python3 - << 'END'
import csv, random
random.seed(1)
nasty = "\x1b[31m\x1b]0;own\x07\u202e\u2066\u009b2J\u061c\x7f\rback"
cats, labs = ["a" + nasty, "b\x1b[2J", "c\nd"], ["no" + nasty, "yes"]
names = ["x" + nasty, "g" + nasty, "line\nbreak", "y"]
def write(path, names, rows):
    with open(path, "w", newline="") as f:
        w = csv.writer(f)
        w.writerow(names)
        w.writerows(rows)
rows = []
for _ in range(2000):
    x, c = random.gauss(0, 1), random.randrange(3)
    rows.append([round(x, 3), cats[c], round(random.random(), 3), labs[x + c - 1 + random.gauss(0, .3) > 0]])
write("t.csv", names, rows)
write("new.csv", names[:-1], [r[:-1] for r in rows[:20]])
write("bad.csv", names[:-1], [["one" + nasty, cats[0], "two" + nasty]] * 3)
write("wide.csv", names + names, [r + r for r in rows[:20]])
END
    dpline fit t.csv --label y --epsilon 5 --linear > fit.out 2> fit.err
}

# shown FILE: it has no control character but tab and newline, and no mark that changes the direction
shown() {
    /usr/bin/python3 - "$1" << 'END'
import re, sys
text = open(sys.argv[1], "rb").read().decode("utf-8", "replace").replace("\r\n", "\n")
bad = re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]", text)
if bad:
    print(repr(text[max(0, bad.start() - 60):bad.end() + 60]))
    sys.exit(1)
END
}

# at_terminal COMMAND: what it writes to a terminal
at_terminal() {
    NO_COLOR=1 TERM=dumb timeout 60 script -qec "$1" /dev/null < /dev/null > seen || true
    shown seen || fail "at a terminal: $1"
}

# sentences COMMAND: standard error has no such characters, wherever it goes
sentences() {
    timeout 60 bash -c "$1" > seen 2> said < /dev/null || true
    [ -s seen ] || [ -s said ] || fail "nothing was written: $1"
    shown said || fail "stderr of $1"
}

@test "fit says what is in a hostile table without its control characters" {
    cd "$BATS_FILE_TMPDIR"
    [ -s t.model ]
    shown fit.err
    shown fit.out
    grep -qF 'x\x1b[31m' fit.err
}

@test "fit and pipelines say names of files without their control characters" {
    export name=$'own\e[2J\r'
    cp -r "$BATS_FILE_TMPDIR/t.dp" "$name.dp"
    dpline fit "$name.dp" --epsilon 1 --no-ledger --no-registry > fit.out 2> fit.err
    grep -qF 'the model is in own?[2J?.model' fit.err
    shown fit.out
    for command in 'fit "$name.csv"' 'fit "$name.dp" --label x' 'fit "$name.dp"' 'dp-sgd --data "$name.dp" --epochs "$name"' 'scd --data "$name"'; do
        run bash -c "dpline $command"
        assert_failure
        printf '%s\n' "$output" > said
        shown said || fail "dpline $command"
    done
}

COMMANDS='dp-info t.dp|dp-info t.model|dp-info -c t.model|dp-account report t.dp|dp-account report t.model
dp-account report --text -m t.model -t t-test.dp t.dp|dp-account verify t.dp/ledger|dp-cmp t.model t.dp'
DATA='dp-info --json t.dp|dp-info --get labels t.model|dp-info --json t.model|dp-info -c --json t.model|dp-info -c --tsv t.model|dp-info --curves t.model
dp-info --curves --svg t.model|dp-predict t.model new.csv|dp-predict -p -s t.model t-test.dp|dp-cat t.model|dp-cat --full t.model
dp-eval --data t-test.dp --metrics accuracy,confusion --last --in t.model|dp-export --to json t.model|dp-export --to csv t.model
dp-export --to sql t.model|dp-export --to c t.model|dp-export --to liblinear t.model|dp-export --to pmml t.model|dp-export --to onnx t.model
dp-account report --json t.dp|dp-account certify -m t.model t.dp/ledger|dpline fit t.dp --print --label y|dp-step < t.model'
ERRORS='dp-predict t.model bad.csv|dp-predict t.model wide.csv|dp-predict -K "none$(printf "\\033[2J")" t.model new.csv|dp-import csv --schema t.json -o w.dp bad.csv
dp-import csv --infer-schema w.json wide.csv|dp-export --to csv t.model|dp-predict "$(printf "\\033[2J")" new.csv'

@test "a terminal shows no command's output with control characters" {
    cd "$BATS_FILE_TMPDIR"
    tr '|' '\n' <<< "$COMMANDS|$DATA|$ERRORS" > commands
    while read -r command <&3; do
        at_terminal "$command"
    done 3< commands
}

@test "what is for people has none, wherever it goes" {
    cd "$BATS_FILE_TMPDIR"
    tr '|' '\n' <<< "$COMMANDS" > commands
    while read -r command <&3; do
        sentences "$command"
        shown seen || fail "$command"
    done 3< commands
    tr '|' '\n' <<< "$DATA|$ERRORS" > commands
    while read -r command <&3; do
        sentences "$command"
    done 3< commands
    # an escaped name stays on its line
    dp-info -c t.model > seen
    grep -qF 'line\x0abreak' seen
    dp-info t.dp > seen
    grep -qF 'no\x1b[31m' seen
}

@test "no text field of a model reaches a terminal as it is" {
    cd "$BATS_FILE_TMPDIR"
    /usr/bin/python3 - << 'END'
import msgpack
frames = list(msgpack.Unpacker(open("t.model", "rb"), raw=False))
nasty = "x\x1b[31m\u202e\u009b"
fields = sorted({k for f in frames for k, v in f.items() if isinstance(v, str)} | {"network", "trials", "selected_on", "class_weights"})
for k in fields:
    with open("hostile-" + k + ".model", "wb") as out:
        for f in frames:
            g = dict(f)
            if k in g or (g["kind"] == "lap" and k in ("network", "trials", "selected_on", "class_weights")):
                g[k] = nasty
            out.write(msgpack.packb(g))
open("fields", "w").write("\n".join(fields) + "\n")
END
    [ "$(wc -l < fields)" -gt 12 ]
    while read -r field <&3; do
        for command in dp-info "dp-info -c" "dp-export --to json" "dp-predict new.csv" "dp-account report" "dp-eval --data t-test.dp --last --in" dp-cat; do
            case $command in
                dp-predict*) set -- "dp-predict hostile-$field.model new.csv" ;;
                *) set -- "$command hostile-$field.model" ;;
            esac
            sentences "$1"
            case $command in dp-info* | "dp-account report") shown seen || fail "$1" ;; esac
        done
    done 3< fields
    at_terminal "dp-info hostile-network.model; dp-predict hostile-row_norm.model new.csv; dp-cat hostile-loss.model"
}

@test "pmml refuses what XML cannot hold, and a page shows it" {
    cd "$BATS_FILE_TMPDIR"
    complains 1 "dp-export: t.model has 'x\x1b[31m\x1b]0;own\x07\u202e\u2066\u009b2J\u061c\u007f&#13;back', with a character, for which pmml has no place: json, csv, sql, c and onnx have one" \
        dp-export --to pmml t.model
    assert_equal "$(dp-export --to pmml t.model 2> /dev/null)" ''
    dp-account report t.dp -m t.model -o page.html
    shown page.html
    grep -qF 'g\x1b[31m' page.html
    # each character that XML 1.0 has no place for, and its neighbours
    /usr/bin/python3 - << 'END'
import json, msgpack, subprocess, xml.dom.minidom
frames = list(msgpack.Unpacker(open("t.model", "rb"), raw=False))
schema = json.loads([f for f in frames if "schema" in f][0]["schema"])
for i, c in enumerate(schema["columns"]):
    c["name"] = "abcdefg"[i]
    if "categories" in c:
        c["categories"] = ["one", "two", "three"][:len(c["categories"])]
    if "classes" in c:
        c["classes"] = ["no", "yes"]
for mark in [chr(i) for i in range(1, 34)] + list("\x7f\x85\ufffd\ufffe\uffff\U00010000"):
    schema["columns"][0]["name"] = "x" + mark + "y"
    with open("mark.model", "wb") as out:
        for f in frames:
            f = dict(f, **{k: v for k, v in {"schema": json.dumps(schema, ensure_ascii=False), "labels": json.dumps(["no", "yes"])}.items() if k in f})
            out.write(msgpack.packb(f))
    done = subprocess.run(["dp-export", "--to", "pmml", "mark.model"], capture_output=True)
    refused = ord(mark) < 32 and mark not in "\t\n\r" or mark in "\ufffe\uffff"
    assert done.returncode == refused, (mark, done)
    if not refused:
        names = [n.getAttribute("name") for n in xml.dom.minidom.parseString(done.stdout).getElementsByTagName("DataField")]
        assert "x" + mark + "y" in names, (mark, names)
END
}

@test "a text that a spreadsheet takes for a formula gets an apostrophe, and a number does not" {
    printf '%s\n' '=a,@b,id,y' > f.csv
    awk 'BEGIN { for (i = 0; i < 400; i++) printf "%g,%s,%s,%s\n", i % 50 / 50, i % 3 ? "+x" : "-1", i % 2 ? "-5" : "=1+1", (i % 50 > 24) ? "=cmd|x" : "-1" }' >> f.csv
    cat > f.json << 'END'
{"header": true, "columns": [{"name": "=a", "type": "numeric", "bounds": [0, 1]}, {"name": "@b", "type": "categorical", "categories": ["+x", "-1"]},
 {"name": "id", "type": "ignore"}, {"name": "y", "type": "label", "classes": ["-1", "=cmd|x"]}]}
END
    dp-import csv -s f.json -q -o f.dp f.csv
    dpline fit f.dp --epsilon 5 --linear --seed 1 -q -o f.model > /dev/null
    dp-predict --keep 'id,=a' f.model f.csv > p.csv
    assert_equal "$(head -1 p.csv)" "id,'=a,prediction"
    assert_equal "$(tail -n +2 p.csv | cut -d , -f 1 | LC_ALL=C sort -u)" "'=1+1
-5"
    assert_equal "$(tail -n +2 p.csv | cut -d , -f 3 | LC_ALL=C sort -u)" "'=cmd|x
-1"
    dp-predict -s -p f.model f.csv > p.csv
    assert_equal "$(head -1 p.csv)" "prediction,score_=cmd|x,probability_-1,probability_=cmd|x"
    dp-export --to csv f.model > e.csv
    assert_equal "$(head -1 e.csv)" "name,column,category,low,high,fill,coefficient_=cmd|x"
    assert_equal "$(tail -n +2 e.csv | cut -d , -f 1-3)" "(intercept),,
'=a,'=a,
'@b=+x,'@b,'+x
'@b=-1,'@b,-1"
    assert_equal "$(dp-info -c --tsv f.model | cut -f 1-2 | tail -n +3)" "'=cmd|x	'=a
'=cmd|x	'@b=+x
'=cmd|x	'@b=-1"
    # what another program reads by its names is as it was: JSON, and the table that dp-predict reads
    assert_equal "$(dp-export --to json f.model | jq -c '[.columns[].name]')" '["=a","@b"]'
    assert_equal "$(dp-predict f.model f.csv | wc -l)" 401
}
