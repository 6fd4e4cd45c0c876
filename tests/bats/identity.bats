# The central test: the bytes of the model do not depend on how the pipeline is run.
load helper
load variants

prepare() {
    dp-synth classification --rows 600 --cols 9 --seed 3 -o two.dp -q
    dp-synth classification --rows 600 --cols 9 --classes 4 --seed 4 -o four.dp -q
    dp-synth regression --rows 600 --cols 9 --seed 5 -o real.dp -q
}

# fused = processes, stream and model
same() {
    local text
    text=$(pipeline "$@")
    train fused fused "$text"
    train processes processes "$text"
    cmp fused processes
    cmp fused.stream processes.stream
    [ "$(stat -c %s fused)" -gt 300 ]
}

# and on three threads, fused and as processes, and with rows inline
ways() {
    same "$@"
    train three fused "$(pipeline "${@:1:2}" "$3-threads")"
    train three-processes processes "$(pipeline "${@:1:2}" "$3-threads")"
    train inline fused "$(pipeline "${@:1:2}" "$3-inline")"
    for other in three three-processes inline; do cmp fused $other; done
}

@test "processes = fused: parallel, every loss, two classes" {
    for loss in $(some squared hinge logistic smooth-hinge huber); do same two.dp $loss parallel; done
}

@test "processes = fused: parallel, every loss, four classes" {
    for loss in $(some squared hinge logistic smooth-hinge huber); do same four.dp $loss parallel; done
}

@test "processes = fused: parallel, regression" {
    for loss in $(some squared huber); do same real.dp $loss parallel; done
}

@test "processes = fused: exact costs of laps of one and of several kinds, of searches and choices" {
    EXACT=yes
    for variant in parallel gradient-schedule kinds search search-gaussian select-poisson behind; do same two.dp logistic $variant; done
}

@test "processes = fused: alpha released, and as published, every loss" {
    for loss in $(some squared hinge logistic smooth-hinge huber); do
        same four.dp $loss release
        same two.dp $loss published
    done
}

@test "processes = fused: sequential, every loss" {
    for loss in $(some squared hinge logistic smooth-hinge huber); do same four.dp $loss sequential; done
}

@test "processes = fused: primal, every smooth loss" {
    for loss in $(some squared logistic smooth-hinge huber); do same four.dp $loss primal; done
}

@test "processes = fused: non-private, every loss" {
    for loss in $(some squared hinge logistic smooth-hinge huber); do same four.dp $loss non-private; done
}

@test "processes = fused: dp-clip as a stage of its own, shuffled epochs" {
    for loss in $(some hinge logistic); do
        same four.dp $loss clip
        same two.dp $loss shuffle
    done
}

@test "processes = fused: gradients, every loss and optimiser, as a stage with dp-clip, and without privacy" {
    for loss in $(some squared hinge logistic smooth-hinge huber huberised-hinge softmax); do same four.dp $loss gradient; done
    for loss in $(some logistic huberised-hinge); do same two.dp $loss gradient; done
    for loss in $(some squared huber); do same real.dp $loss gradient; done
    for variant in gradient-clip gradient-adaptive gradient-schedule gradient-adagrad gradient-adam sgd; do same four.dp softmax $variant; done
    ways two.dp logistic gradient-correlated
}

@test "behind a transform: processes = fused, on any number of threads, inline and not, sparse and dense" {
    dp-synth classification --rows 600 --cols 9 --classes 4 --seed 4 --storage csr -o sparse.dp -q
    for loss in $(some squared logistic huberised-hinge); do
        same four.dp $loss behind
        same two.dp $loss behind-rank
        same two.dp $loss behind-clip
        train one fused "$(pipeline four.dp $loss behind)"
        for variant in threads inline; do
            train $variant fused "$(pipeline four.dp $loss behind-$variant)"
            cmp one $variant
        done
        train sparse fused "$(pipeline sparse.dp $loss behind)"
        dp-cmp --weights-only one sparse
        train three-processes processes "$(pipeline four.dp $loss behind-threads)"
        cmp threads three-processes
    done
}

@test "temperature: processes = fused, on any number of threads, inline and not, sparse and dense" {
    dp-synth classification --rows 600 --cols 9 --classes 4 --seed 4 --storage csr -o sparse.dp -q
    for what in $(some four.dp:softmax two.dp:logistic four.dp:logistic); do
        same ${what/:/ } tempered
        train one fused "$(pipeline ${what/:/ } tempered)"
        for variant in threads inline; do
            train $variant fused "$(pipeline ${what/:/ } tempered-$variant)"
            cmp one $variant
        done
        train three-processes processes "$(pipeline ${what/:/ } tempered-threads)"
        cmp one three-processes
    done
    train one fused "$(pipeline four.dp softmax tempered)"
    train sparse fused "$(pipeline sparse.dp softmax tempered)"
    dp-cmp --weights-only one sparse
}

@test "persons with several rows: processes = fused, on any number of threads, inline and not" {
    dp-synth classification --rows 600 --cols 9 --seed 3 --rows-per-person 4 -o many-two.dp -q
    dp-synth classification --rows 600 --cols 9 --classes 4 --seed 4 --rows-per-person 11 -o many-four.dp -q # more than a block
    for what in $(some many-two.dp:logistic many-four.dp:softmax many-four.dp:hinge); do
        for variant in gradient gradient-adaptive behind behind-clip; do same ${what/:/ } $variant; done
        for variant in gradient behind $([[ $what == *hinge ]] || echo tempered); do
            train one fused "$(pipeline ${what/:/ } $variant)"
            for more in threads inline; do
                train $more fused "$(pipeline ${what/:/ } $variant-$more)"
                cmp one $more
            done
            train three-processes processes "$(pipeline ${what/:/ } $variant-threads)"
            cmp one three-processes
        done
        train clip fused "$(pipeline ${what/:/ } gradient-clip)"
        train single fused "$(pipeline ${what/:/ } gradient-clip | sed 's/ --threads 2//g')"
        cmp clip single
    done
}

@test "persons with several rows: to the last bit of the weights however rows are stored" {
    for rows in 4 11; do
        for storage in 'dense --storage dense' 'csr --storage csr' 'narrow --quantise' 'wide --quantise --storage dense'; do
            set -- $storage
            dp-synth classification --rows 600 --cols 9 --classes 4 --seed 4 --rows-per-person $rows "${@:2}" -o $1.dp -q -f
        done
        for variant in gradient behind; do
            for data in dense csr narrow wide; do train $data fused "$(pipeline $data.dp logistic $variant)"; done
            dp-cmp --weights-only dense csr
            dp-cmp --weights-only narrow wide
        done
    done
}

@test "persons of one row each: the bytes of rows" {
    dp-synth classification --rows 600 --cols 9 --classes 4 --seed 4 --rows-per-person 1 -o ones.dp -q
    dp-synth classification --rows 600 --cols 9 --classes 4 --seed 4 --rows-per-person 1 -o most.dp -q
    # each has one row, and might have three: the stages go by person
    jq '.rows_per_person = 3' most.dp/dataset.json > new && mv new most.dp/dataset.json
    for variant in gradient gradient-clip gradient-adaptive behind tempered; do
        for data in four ones most; do train $data fused "$(pipeline $data.dp softmax $variant)"; done
        dp-cmp --weights-only four ones
        dp-cmp --weights-only four most
    done
}

@test "laps of several kinds: processes = fused, on any number of threads" {
    for loss in $(some logistic softmax); do
        same four.dp $loss kinds
        train one fused "$(pipeline four.dp $loss kinds)"
        train three fused "$(pipeline four.dp $loss kinds-threads)"
        train three-processes processes "$(pipeline four.dp $loss kinds-threads)"
        cmp one three
        cmp one three-processes
    done
}

@test "searches: processes = fused, on any number of threads, inline = by reference" {
    for what in two.dp:logistic:search four.dp:softmax:search-least four.dp:hinge:search-gaussian real.dp:huber:search-same \
        four.dp:logistic:search-same; do
        IFS=: read -r data loss variant <<< "$what"
        ways "$data" "$loss" "$variant"
        [ "$(dp-cat --kind lap fused.stream | grep -o '"step_size":[0-9.]*' | sort -u | wc -l)" -gt 2 ] # it does move
    done
}

@test "selections: processes = fused, on any number of threads, inline = by reference" {
    for what in $(some two.dp:logistic four.dp:softmax four.dp:hinge real.dp:huber real.dp:squared); do
        IFS=: read -r data loss <<< "$what"
        same "$data" "$loss" select-poisson
        ways "$data" "$loss" select
        [ "$(dp-cat --kind lap fused.stream | grep -o '"choice":[^}]*' | sort -u | wc -l)" -gt 2 ]
    done
}

@test "perturbed objectives: processes = fused, on any number of threads, inline = by reference" {
    dp-synth classification --rows 1500 --cols 9 --seed 4 -o many.dp -q # more parts than threads
    for what in $(some many.dp:logistic many.dp:smooth-hinge two.dp:huberised-hinge real.dp:huber); do
        ways ${what/:/ } perturbed
    done
}

@test "minimisers: processes = fused, on any number of threads, inline = by reference, every loss with a gradient" {
    dp-synth classification --rows 1500 --cols 9 --classes 4 --seed 4 -o many.dp -q # more parts than threads
    for what in $(some many.dp:softmax many.dp:logistic two.dp:smooth-hinge two.dp:huberised-hinge real.dp:huber real.dp:squared); do
        ways ${what/:/ } erm
    done
}

@test "descents with a bound: processes = fused, on any number of threads, inline = by reference, every loss they take" {
    dp-synth classification --rows 1500 --cols 9 --classes 4 --seed 4 -o many.dp -q
    for what in $(some many.dp:softmax many.dp:logistic two.dp:smooth-hinge two.dp:huberised-hinge real.dp:huber); do
        for how in descent permutation coins; do
            ways ${what/:/ } $how
        done
    done
}

@test "gradients on any number of threads" {
    for loss in $(some logistic softmax); do
        train one fused "$(pipeline four.dp $loss gradient)"
        train three fused "$(pipeline four.dp $loss gradient-threads)"
        train three-processes processes "$(pipeline four.dp $loss gradient-threads)"
        cmp one three
        cmp one three-processes
        weighted=$(pipeline four.dp $loss gradient-weights)
        train weighted fused "$weighted"
        train weighted-processes processes "${weighted/--threads 2/--threads 1}"
        train weighted-inline fused "$(sed 's/--rate 0.1/& --inline/; s/--data [^ ]* --loss/--loss/' <<< "$weighted")"
        cmp weighted weighted-processes
        cmp weighted weighted-inline
        run -1 cmp -s one weighted
    done
}

@test "rows inline = rows by reference" {
    train reference fused "$(pipeline four.dp hinge parallel)"
    train inline fused "$(pipeline four.dp hinge inline) --average tail"
    train inline-processes processes "$(pipeline four.dp hinge inline) --average tail"
    cmp reference inline
    cmp inline inline-processes
    weighted=$(pipeline four.dp hinge weights)
    train weighted fused "$weighted"
    train weighted-inline processes "$(sed 's/--rate 0.1/& --inline/; s/--data [^ ]* --loss/--loss/; s/--threads 2/--threads 1/' <<< "$weighted")"
    cmp weighted weighted-inline
}

@test "sparse storage = dense storage, inline = by reference, to the last bit of the weights" {
    dp-synth classification --rows 600 --cols 9 --classes 4 --seed 4 --storage csr -o sparse.dp -q
    for variant in parallel sequential non-private; do
        for loss in $(some hinge logistic); do
            train dense fused "$(pipeline four.dp $loss $variant)"
            train sparse fused "$(pipeline sparse.dp $loss $variant)"
            train inline fused "$(pipeline sparse.dp $loss $variant | sed 's/--data sparse.dp --loss/--loss/; s/ | dp-scd-step/ --inline | dp-scd-step/')"
            dp-cmp --weights-only dense sparse
            cmp sparse inline
        done
    done
}

@test "any number of threads" {
    for loss in $(some squared hinge logistic); do
        train one fused "$(pipeline four.dp $loss parallel)"
        train three fused "$(pipeline four.dp $loss threads)"
        train three-processes processes "$(pipeline four.dp $loss threads)"
        cmp one three
        cmp one three-processes
    done
}

@test "products of categories: one model by processes, threads, rows inline, a socket and any instructions; a table is scored as its rows" {
    mkdir -m 700 s
    for how in '--row-norm unit' '--row-norm bounds --quantise'; do
        product_rows $how
        for what in 'hinge parallel threads' 'logistic gradient gradient-threads gradient-inline' 'logistic behind behind-threads behind-inline'; do
            set -- $what
            text=$(pipeline products.dp $1 $2)
            train fused fused "$text"
            train processes processes "$text"
            train cut auto "$(cut_at 2 "$text" "ipc://$PWD/s/cut")"
            for other in processes cut; do cmp fused $other || fail "$2 $how: $other"; done
            for more in "${@:3}"; do
                train $more fused "$(pipeline products.dp $1 $more)"
                cmp fused $more || fail "$more $how"
            done
            for isa in $(instructions); do
                DPLINE_ISA=$isa train $isa fused "$text"
                cmp fused $isa || fail "$2 $how: $isa"
            done
        done
        dp-predict --scores fused products.dp > rows
        dp-predict --scores fused products.csv | cmp - rows
        dp-predict --scores --schema products.json fused products.csv | cmp - rows
        assert_equal "$(wc -l < rows)" 601
    done
}

@test "tables and rows: the same numbers by processes, rows inline, a socket at any place, a sparse data set and any instructions" {
    mkdir -m 700 s
    counted_rows
    local text n isa
    for variant in counts counts-laplace rows; do
        text=$(pipeline counted.dp '' $variant)
        same counted.dp '' $variant
        train inline fused "$(pipeline counted.dp '' $variant-inline)"
        cmp fused inline
        for n in $(seq "$(tr -cd '|' <<< "$text" | wc -c)"); do
            train cut auto "$(cut_at "$n" "$text" "ipc://$PWD/s/$variant-$n")"
            cmp fused cut || fail "$variant cut at $n"
        done
        for isa in $(instructions); do
            DPLINE_ISA=$isa train $isa fused "$text"
            cmp fused $isa || fail "$variant $isa"
            [ $variant != rows ] || DPLINE_ISA=$isa dp-rows draw --rows 900 --threads 1 $isa > $isa.csv
            [ $variant != rows ] || dp-rows draw --rows 900 --threads 3 fused | cmp - $isa.csv
        done
        dp-cat --full --last fused | jq -c .model > dense
        counted_rows --storage csr
        train sparse fused "$text"
        dp-cat --full --last sparse | jq -c .model | cmp - dense
        counted_rows
    done
}

# The ends of rows of 105 columns fill no register.
@test "any instructions that the CPU has" {
    dp-synth classification --rows 900 --cols 105 --seed 3 -o wide.dp -q
    dp-synth classification --rows 900 --cols 105 --classes 5 --seed 4 -o five.dp -q
    dp-synth classification --rows 900 --cols 105 --classes 5 --seed 4 --storage csr -o sparse.dp -q
    for what in wide:hinge:parallel wide:logistic:release wide:squared:clip five:hinge:parallel five:logistic:sequential \
        five:softmax:gradient-clip wide:logistic:gradient wide:hinge:non-private five:logistic:behind five:softmax:tempered sparse:logistic:gradient \
        wide:logistic:search wide:huberised-hinge:search-gaussian five:softmax:search sparse:logistic:behind; do
        IFS=: read -r data loss variant <<< "$what"
        for isa in $(instructions); do
            DPLINE_ISA=$isa train $isa fused "$(pipeline $data.dp $loss $variant)"
            cmp portable $isa
            cmp portable.stream $isa.stream
        done
    done
    for command in 'dp-noise --multiplier 1' 'dp-info wide.dp'; do
        DPLINE_ISA=sse run $command
        assert_failure 2
        assert_output --partial "DPLINE_ISA: 'sse' is not portable, avx2 or avx512"
    done
}

@test "as many threads as pay" {
    dp-synth classification --rows 12000 --cols 105 --seed 3 -o large.dp -q
    sample='dp-sample --data large.dp --rate 0.9' end='dp-noise -z 1 | dp-account --epsilon 1000 --delta 1e-5 --allow-seeded'
    for step in 'dp-scd-step --data large.dp --loss hinge --lambda 1e-3 --clip 0.1' \
        'dp-grad --data large.dp --loss logistic --clip 0.1' \
        'dp-grad --data large.dp --loss logistic | dp-clip --data large.dp --clip 0.1'; do
        walk='dp-step --step 1'
        [[ $step != dp-scd* ]] || walk=dp-step
        train auto fused "$sample | $step | $end | $walk"
        train word fused "$sample | ${step/--data/--threads auto --data} | $end | $walk"
        train one fused "$sample | ${step//--data/--threads 1 --data} | $end | $walk"
        cmp auto one
        cmp word one
    done
}

@test "dp-clip after dp-scd-step = dp-scd-step --clip, when nothing is clipped" {
    small_data
    token 3
    step='dp-scd-step --data small.dp --loss squared --lambda 1e-3'
    dp-sample --data small.dp --rate 0.2 < token.frames | tee raw.frames | $step --clip 50 > inside.frames
    $step < raw.frames | dp-clip --data small.dp --clip 50 > outside.frames
    # alpha moved alike, too: the second and third lap depend on it
    diff <(dp-cat --full --kind lap inside.frames) <(dp-cat --full --kind lap outside.frames)
    $step < raw.frames | dp-clip --data small.dp --clip 0.01 > clipped.frames
    run diff <(dp-cat --full --kind lap inside.frames) <(dp-cat --full --kind lap clipped.frames)
    assert_failure
}

# cut_at N TEXT PORT [OPTIONS]: the pipeline with its Nth '|' replaced by a ZeroMQ socket
cut_at() {
    local n=$1 port=$3 more=$4 text='' i=0 stage
    while IFS= read -r -d '|' stage; do
        i=$((i + 1))
        [ $i -ne $n ] || stage+=" --out $port $more "
        [ $i -ne $((n + 1)) ] || stage+=" --in $port $more "
        text+="${text:+ | }$stage"
    done <<< "$2|"
    echo "$text"
}

# Each of the first three variants is cut at every place, the others at two, which change from one to the next.
@test "cut at any | by ZeroMQ over ipc" {
    mkdir -m 700 s
    local seen=0
    for variant in parallel release sequential primal clip non-private gradient-clip gradient-adaptive gradient-schedule gradient-adam gradient-correlated kinds behind tempered sgd erm perturbed search search-same select descent permutation; do
        case $variant in
            perturbed) text=$(pipeline two.dp logistic $variant) ;;
            descent | permutation | tempered) text=$(pipeline four.dp softmax $variant) ;;
            *) text=$(pipeline four.dp squared $variant) ;;
        esac
        train whole fused "$text"
        pipes=$(tr -cd '|' <<< "$text" | wc -c)
        places=$(seq "$pipes")
        [ $seen -lt 3 ] || places=$(printf '%s\n' $((1 + seen % pipes)) $((1 + (seen + pipes / 2) % pipes)) | sort -u)
        seen=$((seen + 1))
        for n in $(some $places); do
            train cut auto "$(cut_at "$n" "$text" "ipc://$PWD/s/$variant-$n")"
            cmp whole cut || fail "$variant cut at $n differs"
        done
    done
}

@test "cut at any | by ZeroMQ over loopback tcp, for every loss" {
    port=$(free_port 200)
    for loss in $(some squared hinge logistic smooth-hinge huber); do
        text=$(pipeline two.dp $loss parallel)
        train whole fused "$text"
        for n in $(some 1 2 3 4); do
            port=$((port + 1))
            train cut auto "$(cut_at "$n" "$text" "tcp://127.0.0.1:$port" --insecure-plaintext)"
            cmp whole cut || fail "$loss cut at $n differs"
        done
    done
}

@test "the loop itself may be cut: --send and --receive" {
    text=$(pipeline two.dp hinge parallel)
    train whole fused "$text"
    mkdir -m 700 s
    a=ipc://$PWD/s/a b=ipc://$PWD/s/b
    first=${text%%|*} rest=${text#*|}
    timeout 60 bash -c "$first --in $a | $rest --out $b" &
    timeout 60 dp-loop --laps 12 --seed 11 --send "$a" --receive "$b" -o cut > /dev/null
    wait
    cmp whole cut
}

@test "a foreign command in the child makes it run as processes, with the same bytes" {
    text=$(pipeline two.dp hinge parallel)
    train whole fused "$text"
    train teed auto "${text/| dp-noise/| tee copy.frames | dp-noise}"
    cmp whole teed
    assert_file_not_empty copy.frames
    complains 2 "dp-loop: --exec=fused: 'cat' is not a dp stage" \
        dp-loop --laps 2 --exec fused -- "dp-sample --data two.dp | cat"
}

@test "without a seed two runs differ; the same seed gives the same bytes; another gives others" {
    text=$(pipeline two.dp hinge parallel)
    train one fused "$text"
    train two fused "$text"
    cmp one two
    dp-loop --laps 12 --seed 12 -o other -- "$text" > /dev/null
    run cmp one other
    assert_failure 1
    text=$(EXACT=yes pipeline two.dp hinge parallel)
    dp-loop --laps 12 -o fresh1 -- "$text" > /dev/null
    dp-loop --laps 12 -o fresh2 -- "$text" > /dev/null
    run cmp fresh1 fresh2
    assert_failure 1
}
