# Shards as an array of jobs of Slurm.
load helper
load slurm

teardown() { no_cluster; }

@test "the cluster of the test runs an array of jobs, side by side" {
    cluster 4
    cat > job << 'END'
#!/bin/sh
touch here.$SLURM_ARRAY_TASK_ID
until [ -e here.0 ] && [ -e here.1 ] && [ -e here.2 ]; do sleep 0.1; done
END
    within 30 sbatch --wait --array=0-2 --output=/dev/null job
    assert_success
    assert_file_exist here.2
}

@test "slurm.sh: --help, --version, missing and bad options, and the job as text" {
    small_data 300
    version=$(dp-loop --version)
    run slurm.sh --help
    assert_success
    assert_line --index 0 "Usage: slurm.sh --workers K --data DIR -o FILE [options]"
    run slurm.sh --version
    assert_output "slurm.sh ${version#dp-loop }"
    complains 2 "slurm.sh: --workers: must be a whole number >= 1, got ''" slurm.sh
    complains 2 "slurm.sh: --workers: must be a whole number >= 1, got '0'" slurm.sh --workers 0
    complains 2 "slurm.sh: --data is required" slurm.sh --workers 2
    complains 2 "slurm.sh: -o is required" slurm.sh --workers 2 --data small.dp
    complains 2 "slurm.sh: -o: needs a value" slurm.sh --workers 2 --data small.dp -o
    complains 2 "slurm.sh: --rows: is not to be said, the tasks agree on it" slurm.sh --workers 2 --data small.dp -o model --rows 5
    complains 2 "slurm.sh: --pipeline: must be federated-scd or federated-sgd, got 'scd'" slurm.sh --workers 2 --data small.dp -o model --pipeline scd
    slurm.sh --workers 2 --data small.dp -o "a model" --epsilon 2 --print > job
    bash -n job
    grep -q -- "--rows 300 --epsilon 2$" job
    grep -qF -- "-o $(printf %q "$PWD/a model") --ledger $PWD/small.dp/ledger" job
    slurm.sh --workers 2 --data small.dp -o model --no-ledger --print > job
    run -1 grep -q -- '--ledger' job
}

@test "slurm.sh: an array of jobs makes the model of one machine, and leaves nothing behind" {
    cluster 4
    small_data 400
    mkdir shared
    for pipeline in scd sgd; do
        options="--epochs 4 --batch 50 --epsilon 5 --seed 1"
        within 120 slurm.sh --workers 3 --data small.dp --shared shared --pipeline federated-$pipeline $options -o model
        assert_success
        ${pipeline/sgd/dp-sgd}.sh --data small.dp $options -q -o one
        cmp model one
        assert_equal "$(ls -A shared)" ''
    done
}

@test "slurm.sh: the ledger of the data set is charged once, and a task that fails ends all" {
    cluster 4
    small_data 400
    mkdir shared
    within 120 slurm.sh --workers 2 --data small.dp --shared shared --epochs 1 --batch 100 -o model
    assert_success
    run dp-account report small.dp/ledger
    assert_output --partial '4 laps'
    assert_output --partial '1 run'
    within 120 slurm.sh --workers 2 --data small.dp --shared shared --loss poisson -o none
    [ "$status" != 0 ] || fail "it went on"
    assert_output --regexp 'task [12]: dp-scd-step: --loss: must be one of .*, got .poisson.'
    assert_output --regexp 'task 0: dp-gather: the worker of shard [12] of 2 has failed'
    assert_equal "$(timeout 5 squeue --noheader)" ''
    assert_not_exists none
}
