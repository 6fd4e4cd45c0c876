# Memory that runs out: whichever allocation fails, there is one sentence about it and status 1, or the right answer; the files
# that remain are whole; and nobody is accused of editing. FULL=1 fails every allocation, which takes minutes.
load helper

prepare() {
    case $BUILD in *asan*) skip "sanitizers have allocators of their own" ;; esac
    small_data 60 4 2
}
sweep() {
    run timeout 600 "$ROOT/tests/memory/sweep.py" "$@"
    assert_success
}

# Only where an accountant is what runs out of memory, rows are sampled: without, an epsilon is a formula.
RUN="dp-sample --data small.dp --rate 1 | dp-grad --data small.dp --loss logistic --clip 1 | dp-noise -z 3 |
    dp-account --epsilon 100 --delta 1e-5 --ledger ledger | dp-step --step 1"

# a_run: model, stream, ledger and certificate of three laps
a_run() {
    dp-loop -q --laps 3 -o model -- "$RUN" > stream
    dp-account certify --ledger ledger --model model > certificate
}
import() { sweep --output out.dp --check 'dp-info --verify out.dp' -- dp-import "$@" -q -o out.dp; }

@test "memory runs out in dp-import csv" {
    printf 'age,job,pay,who\n39,clerk,77516,no\n50,smith,,yes\n22,clerk,1000,no.\n' > t.csv
    cat > t.json << 'END'
{"header": true, "missing": ["?"], "columns": [{"name": "age", "type": "numeric", "bounds": [17, 90], "fill": 40},
  {"name": "job", "type": "categorical", "categories": ["clerk", "smith"], "drop": "first", "unknown": "zero"},
  {"name": "pay", "type": "numeric", "scale": "max-abs", "fill": 0},
  {"name": "who", "type": "label", "classes": [["no", "no."], ["yes"]]}]}
END
    import csv t.csv --schema t.json
    sweep --output schema --check 'dp-import csv t.csv --schema schema -q -f -o in.dp' -- \
        dp-import csv t.csv --infer-schema schema --header -q
}

@test "memory runs out in dp-import arff, libsvm and idx" {
    printf '@relation t\n@attribute a numeric\n@attribute b {x,"y z"}\n@attribute c {yes,no}\n@data\n1,x,yes\n2,"y z",no\n' > t.arff
    printf '1 1:0.5 3:-2\n-1 2:1e-3\n1 1:1 2:2 3:3\n' > t.svm
    printf '\0\0\010\03\0\0\0\02\0\0\0\02\0\0\0\02\01\02\03\04\377\0\0\07' > images
    printf '\0\0\010\01\0\0\0\02\03\011' > labels
    import arff t.arff
    import libsvm t.svm
    import idx images labels
}

@test "memory runs out in the calculator" {
    sweep -- dp-account epsilon --multiplier 2 --delta 1e-5 --rate 0.1 --laps 10 --json
    sweep -- dp-account sigma --epsilon 1 --delta 1e-5 --rate 0.1 --laps 10
    RUN=${RUN/--rate 1/--rate 0.1} a_run
    dp-cat --full stream > frames
    sweep -- dp-account epsilon --delta 1e-5 frames
}

@test "memory runs out in reports, verification and certificates" {
    a_run
    sweep -- dp-account report ledger
    sweep -- dp-account verify ledger
    sweep -- dp-account certify --ledger ledger --model model
    sweep -- dp-account verify ledger --certificate certificate --model model
}

@test "memory runs out in a run with a ledger" {
    a_run
    mkdir before && cp ledger* before/
    local restore=()
    for file in before/*; do restore+=(--restore "$file" "${file#before/}"); done
    sweep "${restore[@]}" --runs 300 --any --ledger ledger --model new -- dp-loop -q --laps 3 --exec fused -o new -- "$RUN"
}

@test "memory runs out in the exact noise, and changes no bit of it" {
    dp-synth regression --rows 40 --cols 2 --seed 1 -o r.dp -q
    sweep -- dp-loop -q --laps 2 --exec fused --seed 1 -- "dp-sample --data r.dp --rate 1 |
        dp-grad --data r.dp --loss squared --clip 1 | dp-noise -z 3 --noise gamma |
        dp-account --epsilon 100 --delta 1e-5 --allow-seeded --no-ledger | dp-step --step 1"
}

@test "memory runs out in a search, and moves no bit of it" {
    local search="dp-linesearch --data small.dp --epsilon 1 --tries 4 --clip 1 --first-step 2"
    sweep -- dp-loop -q --plan '(gradient, search) 1' --exec fused --seed 1 -- "dp-sample --data small.dp --rate 1 |
        dp-grad --on gradient --data small.dp --loss logistic --clip 1 | dp-noise --on gradient -z 3 | $search --on search |
        dp-account --epsilon 100 --delta 1e-5 --allow-seeded --no-ledger | dp-step --on gradient --hold | dp-step --on search"
    sweep -- dp-loop -q --laps 1 --exec fused --seed 1 -- "dp-sample --data small.dp --rate 1 |
        dp-grad --data small.dp --loss logistic --clip 1 --keep-batch | dp-noise -z 3 | $search --same-batch --method noisy-max |
        dp-account --epsilon 100 --delta 1e-5 --allow-seeded --no-ledger | dp-step"
}

@test "memory runs out in a selection, and moves no bit of it" {
    sweep -- dp-loop -q --laps 2 --exec fused --seed 1 -- "dp-breed --data small.dp --offspring 9 --parents 2 |
        dp-sample --data small.dp --mode full | dp-select --data small.dp --loss logistic --epsilon 1 --clip 1 --relative |
        dp-account --epsilon 100 --delta 1e-5 --allow-seeded --no-ledger | dp-step"
}

@test "memory runs out behind a transform, and moves no bit of it" {
    sweep -- dp-loop -q --plan 'moments 1, gradient 2' --exec fused --seed 1 -- "dp-sample --data small.dp --mode full |
        dp-moments --on moments --data small.dp | dp-grad --on gradient --data small.dp --loss logistic --clip 1 |
        dp-noise --on moments -z 3 | dp-noise --on gradient -z 3 |
        dp-account --epsilon 100 --delta 1e-5 --allow-seeded --no-ledger | dp-transform --on moments |
        dp-step --on gradient --step 1 --relative"
}

@test "memory runs out at a temperature, and moves no bit of it" {
    sweep -- dp-loop -q --plan 'gradient 1, temperature 2' --exec fused --seed 1 -- "dp-sample --data small.dp --mode full |
        dp-grad --on gradient --data small.dp --loss logistic --clip 1 | dp-temperature --on temperature --data small.dp | dp-noise -z 3 |
        dp-account --epsilon 100 --delta 1e-5 --allow-seeded --no-ledger | dp-step --on gradient --step 1 |
        dp-step --on temperature --temperature"
}

@test "memory runs out in a minimiser, and a model that comes out is one all the same" {
    # NLopt uses fewer vectors if it gets no memory for all, and ends at another point within the tolerance.
    local run='dp-sample --data small.dp --mode full |
        dp-erm --data small.dp --loss logistic --lambda 1e-2 --non-private | dp-account --non-private | dp-step'
    dp-loop -q --laps 1 -o known --exec fused -- "$run" > stream
    # with a gradient of 1e-6 and lambda = .01 no model is above the least objective by more than 5e-11
    cat > check << 'END'
objective() { dp-eval --private-data --metrics objective --data small.dp --in "$1" | awk 'NR == 2 { print $3 }'; }
awk "BEGIN { d = $(objective found) - $(objective known); exit !(d < 1e-10 && d > -1e-10) }"
END
    sweep --any --output found --check 'sh ./check' -- \
        dp-loop -q --laps 1 -o found --exec fused -- "$run"
}

@test "memory runs out in what reads models and streams" {
    a_run
    sweep -- dp-info small.dp
    sweep -- dp-info --json small.dp
    sweep -- dp-info model
    sweep -- dp-info --json model
    sweep -- dp-cat stream
    sweep -- dp-cat --last --frames stream
    sweep -- dp-eval --data small.dp --private-data -i stream
    sweep -- dp-predict --data small.dp model
    sweep -- dp-export --to json model
    sweep -- dp-cmp model model
}

@test "memory runs out in a line search, and moves no bit of it" {
    sweep -- dp-loop -q --laps 3 --exec fused --seed 1 -- "dp-sample --data small.dp --rate 0.3 |
        dp-grad --data small.dp --loss logistic --clip 1 --keep-batch | dp-noise -z 3 --follow |
        dp-linesearch --same-batch --data small.dp --epsilon 1 --tries 9 --clip 2 --first-step 8 --follow |
        dp-account --adaptive --epsilon 100 --delta 1e-5 --allow-seeded --no-ledger | dp-step |
        dp-adapt -z 3 --policy on-failure --first-step 8 --every 2"
}
