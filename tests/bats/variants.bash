# The ways to train that tests of whole runs use.
PLAN='(whole, part 5) 2' # of the laps of several kinds, 12 in all
SEARCHES='(gradient, search) 6'
TRANSFORMS='moments 1, descent 5, moments 1, descent 5' # behind a transform that is made anew half-way
TEMPERS='moments 1, descent 7, temperature 4'
ROWS='pairs 1, cells 1'
# plan PIPELINE: prints the plan of its laps, nothing if they have no kinds
plan() {
    case $1 in
        *' --on search '*) echo "$SEARCHES" ;;
        *' --on temperature '*) echo "$TEMPERS" ;;
        *' --on moments '*) echo "$TRANSFORMS" ;;
        *' --on pairs '*) echo "$ROWS" ;;
        *' --on '*) echo "$PLAN" ;;
    esac
}
# What sites can mask: sums over rows of which each site has its own, with Gaussian noise in shares. Correlated noise has no shares.
MASKED='parallel threads weights release clip inline gradient gradient-threads gradient-weights gradient-inline gradient-clip
    gradient-adagrad gradient-adaptive gradient-schedule gradient-adam kinds kinds-threads behind behind-threads behind-inline behind-clip behind-rank
    tempered tempered-threads tempered-inline'
# of_site PIPELINE K/N: the stages of that site, with its share of the noise; of_gate PIPELINE: the others
of_site() {
    local left
    left=$(tr -s '\n ' ' ' <<< "${1%dp-account*}")
    left=${left% | }
    left=${left//dp-sample /dp-sample --shard $2 }
    left=${left/--count-multiplier 5/--count-multiplier 9} # a share needs four steps
    echo "${left//dp-noise /dp-noise --share --colluding 1 --allow-seeded }"
}
of_gate() { echo "dp-account${1##*dp-account}"; }
# train OUT EXEC PIPELINE [WHOLE]: the model, and its stream; WHOLE: the pipeline with the stages of sites
train() {
    local laps=(--laps 12) plan
    plan=$(plan "${4-$3}")
    [ -z "$plan" ] || laps=(--plan "$plan")
    timeout 60 dp-loop "${laps[@]}" --seed 11 --exec "$2" -q -o "$1" -- "$3" > "$1.stream"
}
# product_rows OPTION…: products.csv of 600 rows, and products.dp with products of two numbers and two categories, from products.json
product_rows() {
    echo '{"header": true, "columns": [{"name": "a", "type": "numeric", "bounds": [0, 1]}, {"name": "b", "type": "numeric", "bounds": [-3, 3]},
        {"name": "c", "type": "categorical", "categories": ["u", "v", "w"], "unknown": "zero"}, {"name": "d", "type": "categorical", "categories": ["p", "q"], "drop": "first"},
        {"name": "y", "type": "label", "classes": ["no", "yes"]}]}' > products.json
    awk 'BEGIN { srand(5); print "a,b,c,d,y"; for (i = 0; i < 600; i++) { a = rand(); c = substr("uvwz", 1 + int(4 * rand()), 1)
        printf "%.3f,%.2f,%s,%s,%s\n", a, 8 * rand() - 4, c, rand() < .5 ? "p" : "q", ((a > .5) == (c == "u")) ? "yes" : "no" } }' > products.csv
    dp-import csv -s products.json --basis products --products 100 "$@" -q -f -o products.dp products.csv
}
# counted_rows OPTION…: counted.dp of 600 rows, whose columns have cells: bins, missing numbers, texts of no category
counted_rows() {
    echo '{"header": true, "columns": [{"name": "a", "type": "numeric", "bounds": [0, 1], "basis": "bins", "knots": [0.3, 0.6], "indicator": true},
        {"name": "b", "type": "numeric", "bounds": [-3, 3], "basis": "bins", "knots": [-1, 1]}, {"name": "c", "type": "categorical", "categories": ["u", "v", "w"], "unknown": "zero"},
        {"name": "y", "type": "label", "classes": ["no", "yes"]}]}' > counted.json
    awk 'BEGIN { srand(6); print "a,b,c,y"; for (i = 0; i < 600; i++) printf "%s,%.2f,%s,%s\n", i % 9 ? rand() : "", 8 * rand() - 4,
        substr("uvwz", 1 + int(4 * rand()), 1), rand() < .5 ? "yes" : "no" }' > counted.csv
    dp-import csv -s counted.json "$@" -q -f -o counted.dp counted.csv
}
class_weights() { dp-info --get classes "$1" | awk '{ printf "1"; for (k = 2; k <= $1; k++) printf ",%g", 1 / k }'; }
# pipeline DATA LOSS VARIANT: prints the child pipeline. Its gate charges by a filter if it can, which is far faster than exact costs;
# EXACT=yes asks for those.
pipeline() {
    local sample="dp-sample --data $1 --rate 0.1" step="dp-scd-step --data $1 --loss $2 --lambda 1e-3 --loss-width 0.5"
    local noise='dp-noise --multiplier 1.5' gate='dp-account --epsilon 1000 --delta 1e-5 --allow-seeded' more=''
    case $3-${EXACT-} in published-* | shuffle-* | *correlated* | *-yes) ;; *) gate+=' --adaptive' ;; esac
    case $3 in
        parallel) step+=' --clip 0.1' more=' --average tail' ;;
        threads) step+=' --clip 0.1 --threads 3' more=' --average tail' ;;
        weights) step+=" --clip 0.1 --threads 2 --class-weights $(class_weights "$1")" ;;
        release) step+=' --clip 0.1 --release-alpha' ;;
        published) sample+=' --mode shuffle' step+=' --clip 0.1 --release-alpha' ;;
        sequential) step+=' --clip 0.1 --variant sequential' ;;
        primal) sample="dp-sample --data $1 --mode full --columns 4" step+=' --clip 0.1 --variant primal' ;;
        clip) step+=" | dp-clip --data $1 --clip 0.1 --threads 2" ;;
        inline) sample+=' --inline' step="${step/--data $1 /} --clip 0.1" ;;
        shuffle) sample+=' --mode shuffle' step+=' --clip 0.1' ;;
        gradient | gradient-*)
            step="dp-grad --data $1 --loss $2 --lambda 1e-3 --loss-width 0.5 --intercept 0.5 --clip 0.3"
            local walk='--step 0.5 --schedule sqrt:1:1 --momentum 0.5 --average tail'
            case $3 in
                gradient-threads) step+=' --threads 3' ;;
                gradient-weights) step+=" --threads 2 --class-weights $(class_weights "$1")" ;;
                gradient-inline) sample+=' --inline' step="${step/--data $1 /}" ;;
                gradient-clip) step="${step/ --clip 0.3/ --threads 2} | dp-clip --data $1 --clip 0.3 --threads 2" ;;
                gradient-adagrad) walk='--step 2 --optimizer adagrad-norm --project 3 --average polynomial' ;;
                gradient-adaptive)
                    step="${step/ --clip 0.3/} | dp-clip --data $1 --clip 0.3 --adaptive 0.5"
                    noise+=' --count-multiplier 5'
                    ;;
                gradient-correlated*)
                    sample="dp-sample --data $1 --mode cyclic --rate 0.2"
                    noise+=' --correlated 4'
                    case $3 in *-threads) step+=' --threads 3' ;; *-inline) sample+=' --inline' step="${step/--data $1 /}" ;; esac
                    ;;
                gradient-schedule) noise+=' --schedule sqrt:1:1' ;;
                gradient-adam) walk='--step 0.1 --optimizer adam --schedule cosine --average exponential --weight 0.05' ;;
            esac
            echo "$sample | $step | $noise | $gate | dp-step $walk"
            return
            ;;
        kinds | kinds-threads) # of laps: PLAN; scheduled noise on one of them
            local threads=''
            [ $3 = kinds ] || threads=' --threads 3'
            step="dp-grad --data $1 --loss $2 --lambda 1e-3 --loss-width 0.5 --clip 0.3$threads"
            echo "dp-sample --on whole --data $1 --rate 1 | $step --on whole | dp-noise --on whole -z 9 |
                $sample --on part | $step --on part | $noise --schedule sqrt:1:1 --on part |
                $gate | dp-step --on whole --step 0.2 | dp-step --on part --step 0.5 --schedule sqrt:1:1"
            return
            ;;
        behind | behind-*) # a transform, which moments have made
            local at=" --data $1" threads='' more='' sample="dp-sample --data $1"
            case $3 in
                *-threads) threads=' --threads 3' ;;
                *-inline) sample+=' --inline' at='' ;;
                *-clip) more=" | dp-clip --data $1 --clip 0.3$threads --on descent" ;;
            esac
            step="dp-grad$at --loss $2 --lambda 1e-3 --loss-width 0.5 --intercept 0.5 --on descent$threads"
            [ -n "$more" ] || step+=' --clip 0.3'
            local make='dp-transform --on moments '
            [ $3 != behind-rank ] || make+=' --rank 4'
            echo "$sample --mode full --on moments | dp-moments$at --intercept 0.5$threads --on moments |
                $sample --rate 0.4 --on descent | $step$more | dp-noise --on moments -z 3 | $noise --on descent | $gate |
                $make | dp-step --on descent --step 0.5 --relative --momentum 0.5 --average tail"
            return
            ;;
        tempered | tempered-*) # behind a transform, and then the temperature
            local at=" --data $1" threads='' sample="dp-sample --data $1 --mode full"
            case $3 in
                *-threads) threads=' --threads 3' ;;
                *-inline) sample+=' --inline' at='' ;;
            esac
            echo "$sample | dp-moments$at --intercept 0.5$threads --on moments |
                dp-grad$at --loss $2 --intercept 0.5 --clip 0.3 --scale 0.6$threads --on descent | dp-temperature$at$threads --on temperature | dp-noise --on moments -z 3 |
                $noise --on descent | $noise --on temperature | $gate | dp-transform --on moments |
                dp-step --on descent --step 0.5 --relative --average tail | dp-step --temperature --on temperature"
            return
            ;;
        search | search-*) # a gradient is held until a search has found its step; -same: gradient and search of one batch
            local search=" --epsilon 0.5 --tries 6 --clip 1.5 --first-step 4" at=" --data $1" threads='' on=' --on gradient' to=' --on search'
            step="dp-grad --loss $2 --lambda 1e-3 --loss-width 0.5 --intercept 0.5 --clip 0.3"
            case $3 in
                *-least*) search+=' --method noisy-max' ;;
                *-gaussian*) search="${search/--epsilon 0.5/--noise gaussian --rho 0.5} --armijo 0.01 --on-failure last" ;;
                *-same*) search+=' --same-batch --armijo 0.01' step+=' --keep-batch' on='' to='' ;;
                *) search+=' --armijo 0.01 --split 0.7' ;;
            esac
            case $3 in
                *-threads) threads=' --threads 3' ;;
                *-inline) sample+=' --inline' at='' ;;
            esac
            local move="dp-step$on --hold | dp-step$to"
            [ -n "$on" ] || move='dp-step'
            echo "$sample | $step$at$threads$on | $noise$on | dp-linesearch$search$at$threads$to | $gate | $move"
            return
            ;;
        counts | counts-* | rows | rows-inline) # of tables of counted_rows; no loss
            sample="dp-sample --data $1 --mode full" step="dp-count --data $1"
            case $3 in *-inline) sample+=' --inline' ;; esac
            case $3 in
                rows*)
                    echo "$sample | $step --on pairs --tables pairs | $step --on cells --at-most 3 | dp-noise --on pairs -z 9 | dp-noise --on cells -z 9 | $gate | dp-rows --target y"
                    return
                    ;;
                *-laplace*) step+=' --noise laplace' noise='dp-noise --noise laplace --multiplier 9' ;;
            esac
            echo "$sample | $step --tables 'a,c;b;y' --sums a,b | $noise | $gate | dp-table"
            return
            ;;
        sgd)
            echo "$sample | dp-grad --data $1 --loss $2 --lambda 1e-3 --non-private | dp-account --non-private --allow-seeded | dp-step --step 0.5"
            return
            ;;
        select | select-*)
            local at=" --data $1" threads='' sample="dp-sample --data $1 --mode full"
            step="dp-select --loss $2 --lambda 1e-3 --loss-width 0.5 --epsilon 3 --clip 0.5 --relative"
            case $3 in
                select-threads) threads=' --threads 3' ;;
                select-inline) sample+=' --inline' at='' ;;
                select-poisson) sample="dp-sample --data $1 --rate 0.5" step="${step/ --relative/} --adjacency replace-one" ;;
            esac
            echo "dp-breed --data $1 --offspring 9 --parents 3 --intercept 0.5 --decay 0.9 | $sample | $step$at$threads | $gate | dp-step --average tail"
            return
            ;;
        descent* | permutation* | coins*) # -threads, -inline
            local method='descent --iterations 20'
            case $3 in permutation*) method='permutation --passes 3 --batch 40 --decay inverse' ;; coins*) method='coins --passes 3 --batch 40' ;; esac
            sample="dp-sample --data $1 --mode full"
            step="dp-erm --data $1 --loss $2 --lambda 1e-2 --loss-width 0.5 --intercept 0.5 --method $method"
            case $3 in
                *-threads) step+=' --threads 3' ;;
                *-inline) sample+=' --inline' step="${step/--data $1 /}" ;;
            esac
            echo "$sample | $step | $noise | $gate | dp-step"
            return
            ;;
        erm | erm-threads | erm-inline)
            local threads=''
            sample="dp-sample --data $1 --mode full"
            step="dp-erm --data $1 --loss $2 --lambda 1e-3 --loss-width 0.5 --intercept 0.5 --tolerance 1e-7 --non-private"
            case $3 in
                erm-threads) threads=' --threads 3' ;;
                erm-inline) sample+=' --inline' step="${step/--data $1 /}" ;;
            esac
            echo "$sample | $step$threads | dp-account --non-private --allow-seeded | dp-step"
            return
            ;;
        perturbed | perturbed-threads | perturbed-inline)
            local threads=''
            sample="dp-sample --data $1 --mode full"
            step="dp-erm --data $1 --loss $2 --lambda 1e-2 --loss-width 0.5 --intercept 0.5 --multiplier 2"
            case $3 in
                *-threads) threads=' --threads 3' ;;
                *-inline) sample+=' --inline' step="${step/--data $1 /}" ;;
            esac
            echo "$sample | $step$threads | dp-noise -z 1e3 | $gate | dp-step"
            return
            ;;
        non-private)
            echo "dp-sample --data $1 --mode shuffle | $step --variant non-private | dp-account --non-private --allow-seeded | dp-step"
            return
            ;;
    esac
    echo "$sample | $step | $noise | $gate | dp-step$more"
}
# gathered K EXEC DATA PIPELINE: the stages left of dp-noise in K workers; if DATA is a pattern with %k, each worker has a
# separate data set, otherwise a part of the same one
gathered() {
    local left=${4%%| dp-noise*} right="dp-noise${4#*| dp-noise}"
    left=${left//--data whole.dp/--data $3}
    [[ $3 = *%k* ]] || left=${left//dp-sample /dp-sample --shard %k/%K }
    echo "dp-gather --workers $1 --exec $2 --local '$left' | $right"
}
# in_parts DATA LOSS VARIANT: text, the pipeline; one, what it trains on one machine, = 1, 2, 4, 8 workers with parts of DATA
in_parts() {
    local k
    text=$(pipeline "$1" "$2" "$3")
    text=${text/ --allow-seeded/ --allow-seeded --no-ledger}
    train one fused "$text"
    [ "$(stat -c %s one)" -gt 300 ]
    for k in 1 2 4 8; do
        train part fused "$(gathered $k processes "$1" "$text")"
        cmp one part || fail "$3, $2, $k parts"
        cmp one.stream part.stream || fail "$3, $2, $k parts: stream"
    done
}
