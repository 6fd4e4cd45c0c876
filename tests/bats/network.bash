# Loaded by tests of network traffic: machines that are network namespaces, each with one cable to a switch. All of them, and
# the switch, are in namespaces of this test, so that removing these removes everything.

# network MACHINE…: makes them; skips if that is not possible. The first has the address 10.77.0.1, the second 10.77.0.2 and so
# on.
network() {
    [ "$(id -u)" = 0 ] || skip "network namespaces need root"
    command -v ip > /dev/null || skip "network namespaces need ip (iproute2)"
    local machine number=0
    NETWORK=dpline-$$-$BATS_TEST_NUMBER-$RANDOM
    MACHINES=("$@")
    ip netns add "$NETWORK-switch" 2> /dev/null || { NETWORK='' && skip "network namespaces are not allowed here"; }
    ip -n "$NETWORK-switch" link add switch type bridge 2> /dev/null || { unplug && skip "no bridge in a network namespace here"; }
    ip -n "$NETWORK-switch" link set switch up
    for machine; do
        number=$((number + 1))
        ip netns add "$NETWORK-$machine"
        ip -n "$NETWORK-switch" link add "$machine" type veth peer name cable netns "$NETWORK-$machine"
        ip -n "$NETWORK-switch" link set "$machine" master switch up
        ip -n "$NETWORK-$machine" address add "10.77.0.$number/24" dev cable
        ip -n "$NETWORK-$machine" link set cable up
        ip -n "$NETWORK-$machine" link set lo up
    done
}

# address_of MACHINE
address_of() { ip -n "$NETWORK-$1" -o -4 address show dev cable | awk '{ sub("/.*", "", $4); print $4 }'; }

# on MACHINE COMMAND…: there; become MACHINE COMMAND… &: the same, and $! is the command itself
become() { exec ip netns exec "$NETWORK-$1" "${@:2}"; }
on() { ip netns exec "$NETWORK-$1" "${@:2}"; }

# cut_cable MACHINE, mend_cable MACHINE: at the switch; the machine sees its own end go down and up
cut_cable() { ip -n "$NETWORK-switch" link set "$1" down; }
mend_cable() { ip -n "$NETWORK-switch" link set "$1" up; }

# crash MACHINE: all processes there are killed
crash() {
    local id
    for id in $(ip netns pids "$NETWORK-$1" 2> /dev/null); do kill -KILL "$id" 2> /dev/null || true; done
}

# unplug: ends the processes on the machines, all of which belong to this test, and removes the machines
unplug() {
    local machine
    [ -n "${NETWORK-}" ] || return 0
    for machine in "${MACHINES[@]}"; do crash "$machine"; done
    for machine in "${MACHINES[@]}" switch; do ip netns del "$NETWORK-$machine" 2> /dev/null || true; done
    NETWORK=''
}

# capture MACHINE DEVICE FILE: begins to write what passes there; end_capture ends it
capture() {
    local tries
    ip netns exec "$NETWORK-$1" /usr/bin/python3 "$ROOT/tests/bats/capture.py" "$2" "$3" > "$3.ready" &
    CAPTURE=$!
    for tries in $(seq 100); do
        [ ! -s "$3.ready" ] || return 0
        sleep 0.05
    done
    fail "the capture did not begin"
}
end_capture() {
    kill -TERM "$CAPTURE"
    wait "$CAPTURE"
}

# keys: each machine's own pair in keys/MACHINE; the first trusts the others, and they trust the first
keys() {
    local machine
    mkdir -p keys
    for machine in "${MACHINES[@]}"; do dp-key new "keys/$machine" > /dev/null; done
    for machine in "${MACHINES[@]:1}"; do
        dp-key trust "keys/${MACHINES[0]}" "$machine" "$(dp-key show "keys/$machine")"
        dp-key trust "keys/$machine" "${MACHINES[0]}" "$(dp-key show "keys/${MACHINES[0]}")"
    done
}
