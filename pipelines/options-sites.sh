# shellcheck shell=bash disable=SC2034
# Sourced by the pipelines over sites that keep their rows: which site this machine is, who adds noise, and the limits of a site.
usages=('--workers K --rows N --at ENDPOINT [options]' '--shard I/K --rows N --at ENDPOINT --data DIR [options]')
to_sites=''
note='The first is the gate, which has no rows and needs --ledger or --no-ledger; the second is a site. Give both the same options.'

options_of_sites() {
    option workers '' K "the gate: number of sites" whole
    option shard '' I/K "a site: its number, and the number of sites" text
    option rows '' N "rows of all sites together; public" whole
    option at '' ENDPOINT "address of the gate, such as tcp://gate:5555; the gate binds, a site connects" text
    option budget '' E "a site: epsilon of all runs on its people, needed if its ledger has no budget" number
    flag parts "a site: its rows are part I of K of those in --data"
    flag distributed-noise "each site adds a share of the noise, so that the gate sees no sum without noise"
    option colluding 0 C "enough noise for the gate and C sites that know each other's noise" count
    option mask '' ROSTER "a site: hide its sums with the sites in this file (dp-worker --mask); needs --distributed-noise" text
    option lost 0 L "a site, with --mask: continue without up to L sites" count
    option on-lost stop HOW "stop|wait|continue: the gate, when a site is lost" choice
    option timeout 60 S "the gate: seconds until a site is lost" number
    options_of_port
}

options_of_port() {
    option keys '' DIR "keys (see dp-key)" text
    option server '' NAME "name of the other machine's key, if several are trusted" text
    flag insecure-plaintext "on tcp without keys, for tests"
}

# where: the gate has --workers, a site has --shard; $ports are the options of dp-gather
where() {
    case ${workers:+gate}${shard:+site} in
        gate) [ -z "$data$parts$server$budget$mask" ] || fail "--data, --parts, --server, --mask and --budget are a site's, --workers is the gate's" ;;
        site) [[ $shard =~ ^[1-9][0-9]*/[1-9][0-9]*$ ]] || fail "--shard: must be I/K, got '$shard'"
            [ -n "$data" ] || fail "--data is required"
            refuse "the gate's" init resume
            [ -n "$to_sites" ] || refuse "the gate's" model ;;
        *) fail "--workers, for the gate, or --shard, for a site, is required" ;;
    esac
    [ -n "$at" ] || fail "--at is required"
    [ -n "$rows" ] || fail "--rows is required: of all sites together"
    [ -n "$shard$ledger$no_ledger$seed$print" ] ||
        fail "--ledger is required: the gate has no data set with a ledger, and without one the sites would pay for nothing (--no-ledger goes without)"
    [ -z "$mask" ] || [ -n "$distributed_noise" ] || fail "--mask needs --distributed-noise: the gate would see an exact total"
    part=${parts:+ --shard $shard}
    port=(--at "$at" ${insecure_plaintext:+"$insecure_plaintext"} ${keys:+--keys "$keys"} ${server:+--server "$server"})
    [ -z "$workers" ] || port+=(--workers "$workers" --on-lost "$on_lost" --timeout "$timeout")
    quote_port
}

# quote_port: the words of $port, as $ports in the text of a pipeline
quote_port() {
    local word
    ports=''
    for word in "${port[@]}"; do ports+=" $(in_text "$word")"; done
}

# refuse WHOSE OPTION…: refuses options that are not for this machine
refuse() {
    local word
    for word in "${@:2}"; do [ -z "${!word}" ] || fail "$(sed 's/^/--/; s/^--model$/-o/' <<< "$word") is $1"; done
}

# place_noise SIGMA: the gate adds all noise, and each site notes in its own ledger that the gate has promised this; or each site adds a
# share, and notes that. Parts of one data set have one owner, whose ledger the gate has.
place_noise() {
    local noise=" |
  dp-noise    --multiplier $1"
    noise_of_gate=$noise noise_of_site=''
    site_account=" |
  dp-site-account --multiplier $1 --epsilon $epsilon --delta $delta$gate"
    if [ -n "$distributed_noise" ]; then
        noise_of_gate='' noise_of_site="$noise --share --colluding $colluding${seeded:+ $seeded}"
        site_account=" |
  dp-site-account --epsilon $epsilon --delta $delta$gate"
        say_view "$1" "$rate" "$laps"
    fi
    [ -z "$parts" ] || site_account=''
}

# limit_site: all runs on a site's people keep to a budget in its ledger, for any requests of a gather and any number of starts of its worker.
# A site keeps no ledger for parts of one data set, whose ledger is the gate's, for seeded runs, and with --no-ledger.
limit_site() {
    local file=${ledger:-$data/ledger} known where=()
    [ -z "$parts$seed$no_ledger" ] || return 0
    [ -z "$registry" ] || where+=(--registry "$registry")
    [ -z "$no_registry" ] || where+=(--no-registry)
    known=$(dp-account report --json --data "$data" "${where[@]}" "${ledger:-$data}" 2> /dev/null | sed -n '/"budget": {/,$ s/.*"epsilon": *\([^,]*\),*/\1/p' | head -n 1) || true
    if [ -n "$known" ]; then
        [ -z "$budget" ] || [ "$(calculate 'known == budget')" = 1 ] || fail "--budget: $file has one of epsilon $known for these people"
    elif [ -z "$budget" ]; then
        fail "--budget: $file has no budget for these people yet: say how much epsilon all runs on them may spend, at least --epsilon $epsilon"
    else
        dp-account budget --data "$data" --epsilon "$budget" --delta "$delta" --adjacency "$adjacency" \
            --run-epsilon "$epsilon" --rate "$rate" --laps "$laps" "${where[@]}" "${ledger:-$data}" >&2 || exit
    fi
}

# say_view SIGMA RATE LAPS: what the gate learns of a person here from sums with a share of the noise, or from their total
say_view() {
    local sigma=$1 sites=${shard#*/} view=$epsilon why='only the total of all sites: no more than a reader of the model'
    [ -n "$shard" ] && [ "$colluding" -lt "$sites" ] || return 0 # dp-noise says why not
    if [ -z "$mask" ]; then
        why="this site's sums with a share of the noise (--mask hides them)"
        view=$(dp-account epsilon --multiplier "$(calculate 'sigma / sqrt(sites - colluding)' %.9g)" --rate "$2" --laps "$3" \
            --delta "$delta" --adjacency "$adjacency") || exit
    fi
    say "the gate learns epsilon $view of a person here: it sees $why"
}

# work PIPELINE: runs the pipeline of a site until the gate ends the run
work() {
    set -- "${port[@]}" --shard "$shard" ${mask:+--mask "$mask" --lost "$lost"} --exec "$exec" ${seed:+--allow-seeded} ${checkpoint:+--checkpoint "$checkpoint"} \
        ${checkpoint_every:+--checkpoint-every "$checkpoint_every"} -- "$(without_holes "$1")"
    if [ -n "$print" ]; then
        show dp-worker "$@"
    elif [ -z "$to_sites" ]; then
        limit_site && exec dp-worker "$@"
    else
        limit_site
        local status=0
        attend dp-worker "$@" || status=$?
        case $status in 0 | 3) get ;; esac
        exit $status
    fi
}
