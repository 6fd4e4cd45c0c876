# shellcheck shell=bash
# Sourced by the scripts here: the sites and their rows, and the machines that stand for them.
. "$(dirname "${BASH_SOURCE[0]}")/../common/common.sh"
export seeds=${SEEDS:-10}
export epsilons=${EPSILONS:-0.1 0.3 1 3}
export delta=1e-5
sites=(private government self-employed)
# work_class SITE: which rows are its, by the second column of the table
work_class() {
    case $1 in
        private) echo '^Private$' ;;
        government) echo '-gov$' ;;
        self-employed) echo '^Self-emp-' ;;
    esac
}
# rows_of SITE FILE
rows_of() { gzip -dc "$2" | awk -F ', *' -v class="$(work_class "$1")" 'NF > 2 && $2 ~ class'; }

# import: the rows of each site, by one schema with public bounds, so that columns and scale agree; and all of them, in the order of the sites,
# to compare with
import() {
    local site
    for site in "${sites[@]}" all; do
        as_data_set "$site" "$site" adult.data.gz
        as_data_set "$site" "$site-test" adult.test.gz
    done
}
# as_data_set SITE NAME FILE
as_data_set() {
    local site wanted=("$1")
    [ "$1" != all ] || wanted=("${sites[@]}")
    [ -d "$out/$2.dp" ] || for site in "${wanted[@]}"; do rows_of "$site" "$raw/adult/$3"; done |
        dp-import csv -q --schema "$top/examples/private-erm/schema-ADULT.json" --population "adult-$2" -o "$out/$2.dp" -
}

# --- machines: network namespaces with cables to a switch where that is allowed, else processes that meet on loopback ----------------------
# switch_up NETWORK: as root, where namespaces can be made and worked in, and the kernel has bridges
switch_up() {
    [ "$(id -u)" = 0 ] && command -v ip > /dev/null && ip netns add "$1-switch" 2> /dev/null || return 1
    ip -n "$1-switch" link add switch type bridge 2> /dev/null && ip -n "$1-switch" link set switch up && return 0
    ip netns del "$1-switch"
    return 1
}
# machines_up: the gate and the sites
machines_up() {
    local machine number=0
    network=''
    if switch_up federated-$$; then
        network=federated-$$
        for machine in gate "${sites[@]}"; do
            number=$((number + 1))
            ip netns add "$network-$machine"
            ip -n $network-switch link add "end$number" type veth peer name cable netns "$network-$machine"
            ip -n $network-switch link set "end$number" master switch up
            ip -n "$network-$machine" address add "10.77.0.$number/24" dev cable
            ip -n "$network-$machine" link set cable up
            ip -n "$network-$machine" link set lo up
        done
        bound="@tcp://*:5555" gate="tcp://10.77.0.1:5555"
    else
        echo "== no network namespaces: all on loopback" >&2
        gate=tcp://127.0.0.1:$((20000 + RANDOM % 10000))
        bound=@$gate
    fi
    keys
}
machines_down() {
    local machine id
    [ -n "${network-}" ] || return 0
    for machine in gate "${sites[@]}"; do
        for id in $(ip netns pids "$network-$machine"); do kill "$id" 2> /dev/null || true; done
    done
    for machine in gate "${sites[@]}" switch; do ip netns del "$network-$machine"; done
}
# on MACHINE COMMAND…
on() {
    if [ -n "$network" ]; then ip netns exec "$network-$1" "${@:2}"; else "${@:2}"; fi
}
# keys: each machine makes its own pair; the gate trusts the sites, and they trust the gate
keys() {
    local site
    [ ! -d "$out/keys" ] || return 0
    mkdir -m 700 "$out/keys"
    for site in gate "${sites[@]}"; do dp-key new "$out/keys/$site" > /dev/null; done
    for site in "${sites[@]}"; do
        dp-key trust "$out/keys/gate" "$site" "$(dp-key show "$out/keys/$site")"
        dp-key trust "$out/keys/$site" gate "$(dp-key show "$out/keys/gate")"
        echo "$site $(dp-key show "$out/keys/$site")" >> "$out/keys/roster" # the sites' own, for masks
    done
}

# together EPSILON SEED MODEL [option…]: trains on the rows of all sites, each of which stay on their machine. at_sites: options of sites
at_sites=()
together() {
    local options=(--rows "$(dp-info --get rows "$out/all.dp")" --epsilon "$1" --delta "$delta" --no-ledger --seed "$2" "${@:4}") site number=0
    local workers=()
    for site in "${sites[@]}"; do
        number=$((number + 1))
        on "$site" federated-fit.sh --at ">$gate" --shard "$number/${#sites[@]}" --data "$out/$site.dp" --keys "$out/keys/$site" "${at_sites[@]}" "${options[@]}" -q &
        workers+=($!)
    done
    on gate federated-fit.sh --at "$bound" --workers ${#sites[@]} --cols "$(dp-info --get cols "$out/all.dp")" --keys "$out/keys/gate" "${options[@]}" -q -o "$3"
    wait "${workers[@]}"
}
# alone SITE EPSILON SEED MODEL: the same on the rows of that site, or on one machine that has all
alone() { fit.sh "$out/$1.dp" --epsilon "$2" --delta "$delta" --no-ledger --seed "$3" -q -o "$4"; }

# accuracy MODEL SITE: on its test rows
accuracy() { dp-eval --last --metrics accuracy --in "$1" --data "$out/$2-test.dp" | awk -F '\t' 'NR == 2 { print $3 }'; }
