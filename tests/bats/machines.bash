# Seeded runs of each method, whose models have the same bytes on every machine. Needs variants.bash.

# machine_data: data sets, and the commands of pipelines, in the current directory. Digests of data sets have salts, so all machines
# read the same.
machine_data() {
    dp-synth classification --rows 600 --cols 9 --seed 3 -o two.dp -q
    dp-synth classification --rows 600 --cols 9 --classes 4 --seed 4 -o four.dp -q
    dp-synth regression --rows 600 --cols 9 --seed 5 -o real.dp -q
    local common=(--seed 5 --epsilon 2 --no-ledger --no-registry --allow-weak --print) data
    for data in two four real; do
        dpline fit --data $data.dp "${common[@]}" -o "OUT/fit-$data" > fit-$data.command
    done
    dpline dp-sgd --data two.dp "${common[@]}" --epochs 1 --network '9; fc 8 tanh; fc 1' -o OUT/network > network.command
    dpline outpert-gd --data two.dp "${common[@]}" --noise gamma --intercept 0.7 -o OUT/gamma > gamma.command
    dpline agd --data two.dp "${common[@]}" -o OUT/agd > agd.command
}

# machine_models OUT: trains them all, into OUT
machine_models() {
    local variant command
    mkdir -p "$1"
    for variant in parallel release sequential primal gradient-adagrad gradient-schedule gradient-adam gradient-adaptive kinds behind behind-rank \
        search search-gaussian select descent permutation coins perturbed; do
        train "$1/$variant" fused "$(pipeline two.dp logistic $variant)"
    done
    train "$1/tempered" fused "$(pipeline four.dp softmax tempered)"
    for command in *.command; do
        bash -c "$(sed "s|OUT/|$1/|g" "$command")" > /dev/null
    done
    rm -f "$1"/*.stream
}

# weights MODEL: a digest of them, which does not depend on names and salts
weights() { dp-cat --last --full "$1" | grep -o '"model":{[^}]*}' | sha256sum | cut -c 1-16; }

# made_up: digests of data that dp-synth makes; it leaves them
made_up() {
    rm -rf p.csv r.dp c.dp
    dp-synth patients --rows 200 --seed 2 -q -o p.csv
    dp-synth regression --rows 2000 --cols 8 --seed 9 -q -o r.dp
    dp-synth classification --rows 2000 --cols 8 --classes 3 --seed 9 -q -o c.dp
    sha256sum p.csv r.dp/X.npy r.dp/y.npy c.dp/X.npy c.dp/y.npy
}
