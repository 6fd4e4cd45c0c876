# Loaded by tests that need a cluster: Slurm with one node, this machine, in a directory of the test, independent of an
# installed Slurm.

# cluster CPUS: starts one with that many simulated processors; skips if that is not possible
cluster() {
    local program there=$PWD/cluster port number
    [ "$(id -u)" = 0 ] || skip "a cluster of one's own needs root"
    for program in munged slurmctld slurmd sbatch; do
        command -v $program > /dev/null || skip "needs $program (Debian: munge, slurmctld, slurmd, slurm-client)"
    done
    mkdir -p "$there/state" "$there/spool"
    (umask 077 && head -c 128 /dev/urandom > "$there/key")
    port=$((20000 + RANDOM % 10000))
    # The scheduler, which runs every second, starts jobs in order; no job is bound to its processors.
    cat > "$there/slurm.conf" << END
ClusterName=one
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$there/munge
CredType=cred/munge
StateSaveLocation=$there/state
SlurmdSpoolDir=$there/spool
SlurmctldPidFile=$there/slurmctld.pid
SlurmdPidFile=$there/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MpiDefault=none
KillWait=2
MinJobAge=600
SlurmdParameters=config_overrides
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=bf_interval=1
NodeName=$(hostname -s) NodeAddr=127.0.0.1 CPUs=$1 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP
END
    export SLURM_CONF=$there/slurm.conf
    CLUSTER=()
    munged --foreground --force --key-file="$there/key" --socket="$there/munge" --pid-file="$there/munge.pid" --seed-file="$there/seed" \
        --log-file="$there/munge.log" > "$there/munged.said" 2>&1 3>&- &
    CLUSTER+=($!)
    for number in $(seq 100); do [ ! -S "$there/munge" ] || break; sleep 0.05; done
    slurmctld -D -i > "$there/slurmctld.said" 2>&1 3>&- &
    CLUSTER+=($!)
    slurmd -D > "$there/slurmd.said" 2>&1 3>&- &
    CLUSTER+=($!)
    for number in $(seq 100); do
        [ "$(timeout 5 sinfo -h -o %t 2> /dev/null)" != idle ] || return 0
        sleep 0.1
    done
    fail "the cluster does not come up: $(tail -n 3 "$there"/*.said)"
}

# no_cluster: ends its jobs, and then the processes that cluster has started, by number
no_cluster() {
    local number
    [ -n "${CLUSTER-}" ] || return 0
    timeout 5 scancel --me > /dev/null 2>&1 || true
    for number in $(seq 50); do
        [ -n "$(timeout 5 squeue -h 2> /dev/null)" ] || break
        sleep 0.1
    done
    kill "${CLUSTER[@]:1}" 2> /dev/null || true
    wait "${CLUSTER[@]:1}" || true
    kill "${CLUSTER[0]}" 2> /dev/null || true
    wait "${CLUSTER[0]}" || true
    CLUSTER=()
}
