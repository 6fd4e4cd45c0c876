# shellcheck shell=bash disable=SC2034,SC2154
# Sourced by the pipelines: their common options. A pipeline sets its own defaults first, then calls `options "$@"`.
name=${DPLINE_NAME:-${0##*/}} # dpline(1) says what it was called as
unset DPLINE_NAME

usage() {
    if [ -n "$apart" ]; then
        cat << END
Usage: $name --send ENDPOINT --receive ENDPOINT --rows N [options]
       $name --in ENDPOINT --out ENDPOINT --data DIR [options]
$summary
The first keeps the model and has no rows; the second has the rows. Both are given the same options.
  --send ENDPOINT  where the model goes, as @tcp://*:5555; @ binds, > connects
  --receive ENDPOINT   where it comes back from
  --rows N         how many rows the other machine has; public
  --in ENDPOINT    where the model comes from, as '>tcp://host:5555'
  --out ENDPOINT   where it goes back to
  --data DIR       data set (see dp-import)
  --keys DIR       keys (see dp-key)
  --server NAME    connecting: the key of the other machine, where several are trusted
  --patience S     seconds that the other machine is waited for (default 30)
  --insecure-plaintext   on tcp without keys, for tests
END
    elif [ -n "$sites" ]; then
        cat << END
Usage: $name --workers K --rows N --at ENDPOINT [options]
       $name --shard I/K --rows N --at ENDPOINT --data DIR [options]
$summary
The first is the gate, which has no rows; the second is a site. Both are given the same options.
  --workers K      the gate: how many sites there are
  --shard I/K      a site: which of them it is
  --rows N         rows of all sites together; public
  --at ENDPOINT    where they meet, as tcp://gate:5555; the gate binds, a site connects
  --data DIR       a site: its own rows (see dp-import)
  --budget E       a site: epsilon of all runs on its people, needed where its ledger has no budget
  --parts          a site: its rows are part I of K of those in DIR
  --distributed-noise  each site adds a share of the noise: the gate sees no sum without
  --colluding C    enough for the gate and C sites that know each other's noise (default $colluding)
  --on-lost HOW    the gate: stop, wait or continue without it when a site is gone (default $on_lost)
  --timeout S      the gate: seconds until it is (default $timeout)
  --keys DIR       keys (see dp-key)
  --server NAME    a site: the key of the gate, where several are trusted
  --insecure-plaintext   on tcp without keys, for tests
END
    else
        cat << END
Usage: $name --data DIR [options]
$summary
  --data DIR       data set (see dp-import)
END
    fi
    cat << END
  --loss LOSS      $losses
                   (default $default_losses)
  --lambda L       L2 regularisation (default $lambda)
  --epsilon E      privacy budget (default $epsilon)
  --delta D        (default $delta)
  --epochs E       passes over the data (default $epochs)
  --batch B        expected rows per lap (default $batch)
  --clip C         bound on one person's update (default $clip)
  --multiplier Z   noise multiplier (default: the smallest that keeps to the budget)
  --adjacency HOW  null-record|replace-one: what one person can change (default $adjacency)
END
    [ -z "$sigma_prime_scale" ] || echo "  --sigma-prime-scale S   less cautious subproblems (default $sigma_prime_scale)"
    [ -z "$step" ] || cat << END
  --step ETA       step size (default $step)
  --schedule B     divide it by b_t: $schedules (default $schedule)
END
    [ -z "$radius" ] || cat << END
  --radius D       largest distance of the weights from zero (default $radius)
  --constants C    tight|2014: how much noise (default $constants)
END
    [ -z "$rounds" ] || cat << END
  --rounds R       laps of the run (default $rounds: up to --epochs)
  --smoothness BETA   of the objective, where the step size changes (default $smoothness)
END
    [ -z "$first_step" ] || cat << END
  --share S        part of the budget that is spent on searches (default $share)
  --search-epsilon E   epsilon of a search on its batch (default: what its share pays for)
  --first-step ETA largest step that is tried (default $first_step)
  --tries M        steps that a search tries at most (default $tries)
  --loss-clip C    bound on one person's loss in a search (default $loss_clip)
  --policy WHEN    none|on-failure|adaptive: when gradients get less noise (default $policy)
  --growth XI      by which part their rho grows then (default $growth)
END
    [ -z "$armijo" ] || cat << END
  --beta BETA      each step is this part of the one before (default $beta)
  --armijo A       part of the promised decrease that is asked for (default $armijo)
  --noise KIND     laplace|gaussian: of searches (default $noise)
END
    [ -z "$distance" ] || cat << END
  --noise KIND     gaussian|gamma: with gamma epsilon holds without a delta (default $noise)
  --distance D     guess of how far from zero the minimum is, for how far to go (default $distance)
END
    [ -z "$published" ] || echo "  --as-published   the steps, the sensitivity and the noise of the paper"
    [ -z "$order" ] || cat << END
  --order HOW      permutation or coins: how rows come into batches (default $order)
  --step ETA       step size (default: by --distance)
END
    [ -z "$norm" ] || cat << END
  --norm R         largest norm of a row (default $norm)
  --loss-width W   of smooth-hinge, huber and huberised-hinge (default $loss_width)
END
    [ -z "$slack" ] || echo "  --slack M        noise on the minimum, in units of what it may be missed by (default $slack)"
    [ -z "$clip_decay" ] || echo "  --clip-decay Z   after t steps the clip is divided by 1 + Z t (default $clip_decay)"
    [ -z "$offspring" ] || cat << END
  --offspring M    candidates in each lap (default $offspring)
  --parents P      models that they are bred of (default $parents)
  --mutation S     by how much an entry changes at most in the first lap (default $mutation)
  --decay PART     in each lap it is this part of the last one's (default $decay)
END
    [ -z "$step$tolerance$first_step$radius$offspring$norm" ] || echo "  --intercept V    value of a constant column to append, 0 for none (default $intercept)"
    [ -z "$tolerance" ] || echo "  --tolerance G    largest norm of the gradient in the end (default $tolerance)"
    cat << END
  --ledger FILE    write what is spent there (default: the ledger of the data set)
  --no-ledger      write nothing down; every frame and the model say so
  --registry DIR   where it stands which ledgers a population has
                   (default: \$DPLINE_REGISTRY, else ~/.local/state/dpline)
  --no-registry    neither look nor write there
  --partial        train as long as the budget of the data set allows
  --init FILE      start from this model; what it has cost is added
  --checkpoint DIR keep there what the run can be resumed from
  --checkpoint-every K   laps from one checkpoint to the next (default 1000)
  --resume DIR     go on from there, with the same options
  --exec HOW       auto|processes|fused (default $exec)
  --threads N      (default $threads)
  --seed S         reproducible, not private
  -o, --model FILE write the model there; without it every lap's model goes to standard output
  --print          print the command instead of running it
  -q, --quiet      no progress, no warning, no summary
  -h, --help       this page
  --version        the version

The manual: man dpline-pipelines
END
}

fail() {
    echo "$name: $*" >&2
    exit 2
}
say() { [ -n "$quiet" ] || echo "$name: $*" >&2; }
calculate() { awk "BEGIN { OFMT = \"%.6g\"; print ($1) }"; }

number() { [[ $1 =~ ^([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$ && ${1%%[eE]*} = *[1-9]* ]]; }

# parse ARGUMENT…: an option --a-b sets the variable a_b
parse() {
    local option word
    while [ $# -gt 0 ]; do
        case $1 in
            -h | --help) usage && exit 0 ;;
            --version) word=$(dp-loop --version) && echo "$name ${word#dp-loop }" && exit 0 ;;
            -q | --quiet) quiet=-q && shift && continue ;;
            --print) print=1 && shift && continue ;;
            --as-published*) [ -n "$published" ] || fail "unknown option '${1%%=*}' (try --help)" ;;&
            --as-published) published=yes && shift && continue ;;
            --parts* | --distributed-noise*) [ -n "$sites" ] || fail "unknown option '${1%%=*}' (try --help)" ;;&
            --insecure-plaintext*) [ -n "$sites$apart" ] || fail "unknown option '${1%%=*}' (try --help)" ;;&
            --parts) parts=yes && shift && continue ;;
            --distributed-noise) distributed=yes && shift && continue ;;
            --insecure-plaintext) port=("$1") && shift && continue ;;
            --no-ledger | --partial) gate+=" $1" && shift && continue ;;
            --no-registry) no_registry=$1 && shift && continue ;;
            --help=* | --version=* | --quiet=* | --print=* | --no-ledger=* | --no-registry=* | --partial=* | --as-published=* | --parts=* | \
                --distributed-noise=* | --insecure-plaintext=*) fail "${1%%=*}: takes no value" ;;
            -o) set -- --model "${@:2}" ;;&
            -o?*) set -- --model "${1#-o}" "${@:2}" ;;
            --*=*) set -- "${1%%=*}" "${1#*=}" "${@:2}" ;;
            -*) [ $# -lt 2 ] || [[ $2 != -[[:alpha:]-]* ]] || set -- "$1" ;; # an option is not a value
            *) { [ -n "$operand" ] && [ -z "${!operand}" ]; } || fail "unexpected argument '$1' (try --help)"
                printf -v "$operand" %s "$1"
                shift && continue ;;
        esac
        option=$1 word=${1#--} word=${word//-/_}
        [[ " $taken " == *" $word "* && $option == --* ]] || fail "unknown option '$option' (try --help)"
        [ $# -ge 2 ] || fail "${option/#--model/-o}: needs a value"
        printf -v "$word" %s "$2"
        shift 2
    done
}

# quote WORD: as one word for sh, which does not know the $'...' of bash
quote() {
    local mark="'" escaped="'\\''"
    case $1 in
        '' | *[!A-Za-z0-9_.,:/+=@%-]*) printf "'%s'" "${1//"$mark"/"$escaped"}" ;;
        *) printf %s "$1" ;;
    esac
}

# quote_options: what every pipeline has, as the text of a pipeline has it
quote_options() {
    dir=$(quote "$data")
    seeded=${seed:+--allow-seeded}
    gate+="${ledger:+ --ledger $(quote "$ledger")}${registry:+ --registry $(quote "$registry")}${no_registry:+ $no_registry}${seeded:+ $seeded}"
    adjacency=$(quote "$adjacency")
    sensitivity=1 # in clips
    [ "$adjacency" != replace-one ] || sensitivity=2
}

options() {
    taken+=" ${sigma_prime_scale:+sigma_prime_scale} ${step:+step schedule intercept} ${tolerance:+intercept tolerance}"
    taken+="${sites:+ workers shard rows at budget colluding on_lost timeout keys server}${apart:+ send receive rows in out keys server patience}"
    taken+="${offspring:+ offspring parents mutation decay intercept}"
    taken+="${radius:+ radius constants intercept}${rounds:+ rounds smoothness}"
    taken+="${distance:+ noise distance}${order:+ order step}${norm:+ intercept norm loss_width}${slack:+ slack}"
    taken+="${first_step:+ share search_epsilon first_step tries loss_clip policy growth intercept}${armijo:+ beta armijo noise}${clip_decay:+ clip_decay}"
    default_losses="$loss; ${regression:-squared} for a regression${many_classes:+, $many_classes for three classes or more}"
    local two_classes=$loss own_epochs=$epochs own_batch=$batch classes word
    loss=
    parse "$@"
    [ -z "$sites" ] || site_or_gate
    [ -z "$apart" ] || loop_or_rows
    [ -n "$data$rows" ] || fail "--data is required"
    for word in budget epochs clip multiplier search_epsilon first_step loss_clip clip_decay radius smoothness slack offspring parents mutation decay \
        distance norm loss_width; do
        [[ -z ${!word} || ${!word} = auto || ${!word} = none ]] || number "${!word}" || fail "--${word//_/-}: must be a number > 0, got '${!word}'"
    done
    [ -z "$distance" ] || [[ $noise = gaussian || $noise = gamma ]] || fail "--noise: must be gaussian or gamma, got '$noise'"
    [ "$epochs" != auto ] || [ "$own_epochs" = auto ] || fail "--epochs: must be a number > 0, got 'auto'"
    [[ $batch = "$own_batch" || $batch =~ ^[1-9][0-9]*$ ]] || fail "--batch: must be a whole number >= 1, got '$batch'"
    rows=${rows:-$(dp-info --get persons "$data")} || exit
    classes=2 # the gate has none
    [ -z "$data" ] || classes=$(dp-info --get classes "$data") || exit
    if [ -z "$loss" ]; then
        case $classes in
            0) loss=${regression:-squared} ;;
            2) loss=$two_classes ;;
            *) loss=${many_classes:-$two_classes}
                [ -n "$many_classes" ] || say "$classes classes: $loss for one against the rest each (dp-sgd.sh has softmax)" ;;
        esac
    fi
    [ "$batch" != auto ] || batch=$(((rows + 9) / 10))
    [ "$batch" != all ] || batch=$rows
    [ "$batch" -le "$rows" ] || batch=$rows
    rate=$batch/$rows
    laps=$(laps_of "$rows")
    by=$(quote "$schedule")
    quote_options
    if [ "${policy:-none} ${clip_decay:-none}" != "none none" ]; then # nobody knows the run beforehand
        gate+=" --adaptive" accountant="--accountant rdp"
    fi
}

# site_or_gate: of a run over sites, the gate has --workers, a site has --shard
site_or_gate() {
    local word
    case ${workers:+gate}${shard:+site} in
        gate) [[ $workers =~ ^[1-9][0-9]*$ ]] || fail "--workers: must be a whole number >= 1, got '$workers'"
            [ -z "$data$parts$server$budget" ] || fail "--data, --parts, --server and --budget are a site's, --workers is the gate's" ;;
        site) [[ $shard =~ ^[1-9][0-9]*/[1-9][0-9]*$ ]] || fail "--shard: must be I/K, got '$shard'"
            [ -n "$data" ] || fail "--data is required"
            refuse "the gate's" model init resume ;;
        *) fail "--workers, for the gate, or --shard, for a site, is required" ;;
    esac
    [ -n "$at" ] || fail "--at is required"
    [[ $rows =~ ^[1-9][0-9]*$ ]] || fail "--rows: of all sites together, must be a whole number >= 1, got '$rows'"
    [[ $colluding =~ ^[0-9]+$ ]] || fail "--colluding: must be a whole number >= 0, got '$colluding'"
    part=${parts:+ --shard $shard}
    port=(--at "$at" "${port[@]}" ${keys:+--keys "$keys"} ${server:+--server "$server"})
    [ -z "$workers" ] || port+=(--workers "$workers" --on-lost "$on_lost" --timeout "$timeout")
    quote_port
}

# loop_or_rows: of a run on two machines
loop_or_rows() {
    if [ -n "$data" ]; then
        { [ -n "$in" ] && [ -n "$out" ]; } || fail "--in and --out are required beside --data"
        refuse "for the machine without --data" send receive rows model init
    else
        { [ -n "$send" ] && [ -n "$receive" ]; } || fail "--send and --receive are required, or --data, --in and --out"
        [[ $rows =~ ^[1-9][0-9]*$ ]] || fail "--rows: of the other machine, must be a whole number >= 1, got '$rows'"
        refuse "for the machine that has --data" in out
    fi
    refuse "not to be had over two machines" checkpoint resume
    port=("${port[@]}" ${keys:+--keys "$keys"} ${server:+--server "$server"} ${patience:+--patience "$patience"})
    quote_port
}
quote_port() {
    local word
    for word in "${port[@]}"; do ports+=" $(quote "$word")"; done
}

# refuse WHOSE OPTION…: what has no place here
refuse() {
    local word
    for word in "${@:2}"; do [ -z "${!word}" ] || fail "$(sed 's/^/--/; s/^--model$/-o/' <<< "$word") is $1"; done
}

# laps_of ITEMS: how many laps of --batch make --epochs passes over so many rows or columns; auto is one for each 50 of epsilon times
# the items, 30 to 300 in all
laps_of() {
    if [ "$epochs" = auto ]; then
        awk "BEGIN { laps = int($epsilon * $1 / 50); print (laps < 30 ? 30 : laps > 300 ? 300 : laps) }"
    else
        awk "BEGIN { laps = $epochs * $1 / $batch; print int(laps) + (laps > int(laps)) }"
    fi
}

# weights: how many the model has
weights() {
    local columns classes
    columns=$(dp-info --get cols "$data") && classes=$(dp-info --get classes "$data") || exit
    calculate "($columns + ($intercept != 0)) * ($classes > 2 ? $classes : 1)"
}

# whole NUMBER: rounded up, and at least 1
whole() { awk "BEGIN { x = ($1); print (x > 1 ? int(x) + (x > int(x)) : 1) }"; }

# bound_of_loss: the largest gradient of a row's loss, in pull, and the smoothness of the objective, in beta, as dp-erm has them
bound_of_loss() {
    local square="($norm ^ 2 + $intercept ^ 2)" outputs=1 g=$loss_width classes
    classes=$(dp-info --get classes "$data") || exit
    [ "$classes" -le 2 ] || outputs=$classes
    [ "$g" != auto ] || case $loss in huberised-hinge) g=.5 ;; *) g=1 ;; esac
    case $loss in
        logistic) pull="$outputs" beta=.25 ;;
        huber) pull="$outputs * $g ^ 2" beta=1 ;;
        smooth-hinge) pull="$outputs" beta="1 / $g" ;;
        huberised-hinge) pull="$outputs" beta=".5 / $g" ;;
        *) pull=2 beta=.5 ;;
    esac
    pull=$(calculate "sqrt($square * $pull)") beta=$(calculate "$square * $beta + $lambda")
    width=''
    [ "$loss_width" = auto ] || width=" --loss-width $loss_width"
}

# once: the noise of one release of every row, in sigma
once() {
    case $noise in
        gaussian) sigma=${multiplier:-$(dp-account sigma --mechanism output --epsilon "$epsilon" --delta "$delta" --laps 1)} ;;
        gamma) number "$epsilon" || fail "--epsilon: must be a number > 0, got '$epsilon'"
            sigma=${multiplier:-$(calculate "1.00001 / $epsilon")} ;; # of six digits
    esac
}

# way: how far to descend, steps times step size. Steps bring the objective down by about D^2 / (2 way) without strong convexity; the noise
# raises it in proportion to the square of its scale, pull * way / rows. What is least of the sum; of a weight whose curvature is a
# hundredth. Beyond a few 1 / lambda nothing is left to descend.
way() {
    local far=$sigma
    [ "$noise" != gamma ] || far="$sigma * sqrt($(weights) + 1)"
    awk "BEGIN { way = ($distance * $rows / ($sensitivity * $pull * $far)) ^ (2 / 3)
        if ($lambda > 0 && way > 4 / $lambda) way = 4 / $lambda
        printf \"%.12g\", way }"
}

# attend ...: dp-loop, which also gets the signals that are sent to this script alone. In the foreground the shell would die of them
# at once, or keep them to the end of the run.
attend() {
    local signal status=0 run
    dp-loop "$@" <&0 &
    run=$!
    # shellcheck disable=SC2064 # the number of now
    for signal in INT TERM HUP QUIT; do trap "kill -$signal $run 2> /dev/null" $signal; done
    wait $run || status=$?
    while kill -0 $run 2> /dev/null; do # a signal has ended the wait, not the run
        status=0
        wait $run || status=$?
    done
    trap - INT TERM HUP QUIT
    return $status
}

# place_noise SIGMA: the gate adds all of it, and each site notes in its own ledger that it has promised to; or each site adds a share, and
# notes that. Parts of one data set have one owner, whose ledger the gate has.
place_noise() {
    local noise=" |
  dp-noise    --multiplier $1"
    noise_of_gate=$noise noise_of_site=''
    consent=" |
  dp-consent  --multiplier $1 --epsilon $epsilon --delta $delta$gate"
    if [ -n "$distributed" ]; then
        noise_of_gate='' noise_of_site="$noise --share --colluding $colluding${seeded:+ $seeded}"
        consent=" |
  dp-consent  --epsilon $epsilon --delta $delta$gate"
    fi
    [ -z "$parts" ] || consent=''
}

# limit_site: whatever a gather asks of a site, and however often its worker is started, all runs on its people keep to a budget in its ledger.
# Nothing is written down of parts of one data set, whose ledger is the gate's, of seeded runs, and with --no-ledger.
limit_site() {
    local file=${ledger:-$data/ledger} known where=()
    [[ -z $parts$seed && $gate != *--no-ledger* ]] || return 0
    [ -z "$registry" ] || where+=(--registry "$registry")
    [ -z "$no_registry" ] || where+=(--no-registry)
    known=$(dp-account report --json --data "$data" "${where[@]}" "${ledger:-$data}" 2> /dev/null | sed -n '/"budget": {/,$ s/.*"epsilon": *\([^,]*\),*/\1/p' | head -n 1) || true
    if [ -n "$known" ]; then
        [ -z "$budget" ] || [ "$(calculate "$known == $budget")" = 1 ] || fail "--budget: $file has one of epsilon $known for these people"
    elif [ -z "$budget" ]; then
        fail "--budget: $file has no budget for these people yet: say how much epsilon all runs on them may spend, at least --epsilon $epsilon"
    else
        dp-account budget --data "$data" --epsilon "$budget" --delta "$delta" --adjacency "$adjacency" \
            --run-epsilon "$epsilon" --rate "$rate" --laps "$laps" "${where[@]}" "${ledger:-$data}" >&2 || exit
    fi
}

# work PIPELINE: that of a site, until the gate ends the run
work() {
    set -- "${port[@]}" --shard "$shard" --exec "$exec" ${seed:+--allow-seeded} ${checkpoint:+--checkpoint "$checkpoint"} \
        ${checkpoint_every:+--checkpoint-every "$checkpoint_every"} -- "$1"
    if [ -n "$print" ]; then show dp-worker "$@"; else limit_site && exec dp-worker "$@"; fi
}

# stages PIPELINE: that of a machine which another one hands the model
stages() {
    if [ -n "$print" ]; then
        printf '%s\n' "$1"
    else
        exec bash -o pipefail -c "$1"
    fi
}

# show WORD…: a command, as text
show() {
    local word
    printf %s "$1"
    for word in "${@:2}"; do printf ' %s' "$(quote "$word")"; done
    printf '\n'
}

# loop [dp-loop options] PIPELINE, or the options that say where else it is: with -o only the model is written, without it the stream of models.
loop() {
    local status=0
    [ -n "$apart" ] || set -- "${@:1:$#-1}" -- "${*: -1}"
    set -- ${checkpoint:+--checkpoint "$checkpoint"} ${checkpoint_every:+--checkpoint-every "$checkpoint_every"} \
        ${resume:+--resume "$resume"} "$@"
    if [ -n "$plan" ]; then set -- --plan "$plan" "$@"; else set -- --laps "$laps" "$@"; fi
    set -- ${init:+--init "$init"} ${seed:+--seed "$seed"} ${quiet:+-q} ${model:+--model "$model"} "$@"
    [ -n "$apart" ] || set -- --exec "$exec" "$@"
    if [ -n "$print" ]; then
        show dp-loop "$@"
    elif [ -n "$model" ]; then
        attend "$@" > /dev/null || status=$?
        case $status in 0 | 3) spent ;; esac
        exit $status
    else
        exec dp-loop "$@"
    fi
}

# in_turns SIGMA: the laps of a run that searches for its steps. SIGMA is the multiplier with which gradients alone spend the budget.
# A gradient of multiplier z costs about as much as a search of epsilon 1 / z, so they share the budget as 1 - S to S.
in_turns() {
    [[ $share =~ ^0?\.[0-9]*[1-9][0-9]*$ ]] || fail "--share: must be between 0 and 1, got '$share'"
    plan="(gradient, search) $laps"
    multiplier=${multiplier:-$(calculate "1.00001 * $1 / sqrt(1 - $share)")} # of six digits
    search_epsilon=${search_epsilon:-$(calculate "0.99999 * sqrt($share) / $1")}
    case $noise in
        laplace) searched="--epsilon $search_epsilon" ;;
        *) searched="--noise $(quote "$noise") --rho $(calculate "$search_epsilon ^ 2 / 2")" ;;
    esac
    chosen="--first-step $first_step" # what dp-adapt chooses
    clipped="--clip $clip" averaged=''
    if [ "$policy" != none ]; then
        chosen+=" --multiplier $multiplier --policy $(quote "$policy") --growth $growth"
        averaged=--average-gradients
    fi
    if [ "${clip_decay:-none}" != none ]; then
        chosen+=" --clip $clip --clip-decay $clip_decay"
        clipped="| dp-clip --on gradient --data $dir --clip $clip --follow"
    fi
}

# by_loss CLASSES NUMBERS: the first for a loss that bounds its dual variables, the second for one whose residuals are large
by_loss() { case $loss in squared | huber) echo "$2" ;; *) echo "$1" ;; esac; }

# warn_of_clip: every row is in --epochs laps on average and moves its dual variable by at most --clip in each. The optimal ones
# are between 0 and 1 (squared and huber: the residual), near 1 for rows that are hard to fit. For hinge a lower bound than 1 is a
# larger lambda, and does no harm.
warn_of_clip() {
    [ "$loss" != hinge ] && [ "$(calculate "$epochs * $clip < 0.999")" = 1 ] || return 0
    say "warning: in $epochs epoch$([ "$epochs" = 1 ] || echo s) --clip $clip keeps dual variables below $(calculate "$epochs * $clip"), $loss needs up to 1:" \
        "scores and probabilities will be wrong (--clip $(calculate "1 / $epochs"))"
}

# spent: what the model says of itself, in one line
spent() {
    local cost laps
    laps=$(dp-info --get lap "$model" 2> /dev/null) || return 0 # the budget did not last for a lap
    cost=$(dp-info "$model" | sed -n 's/^privacy: //; s/^none, it was/not private,/; T; p')
    say "$cost${seed:+ (seeded: not private)}; $laps lap$([ "$laps" = 1 ] || echo s); the model is in $model"
}

here=$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")
if ! command -v dp-loop > /dev/null; then
    for bin in "$here/../../../bin" "$here/../build/bin"; do
        [ ! -x "$bin/dp-loop" ] || PATH=$bin:$PATH
    done
    command -v dp-loop > /dev/null || fail "dp-loop is not in PATH"
fi

losses='squared|hinge|logistic|smooth-hinge|huber'
schedules='constant, inverse, sqrt:A:C, linear[:E], cosine[:E], first:K:B or a file'
taken='data loss lambda epsilon delta epochs batch clip multiplier adjacency ledger registry init checkpoint checkpoint_every resume exec threads seed model'
# gradients have a step size, coordinate descent has sigma', a minimiser has a tolerance; the pipeline sets what it has
sigma_prime_scale='' tolerance='' radius='' constants='' rounds='' smoothness='' offspring='' parents='' mutation='' decay='' first_step='' search_epsilon='' loss_clip='' armijo='' clip_decay='' policy='' accountant='' published='' slack='' distance='' order='' norm='' loss_width='' regression='' operand='' noise=laplace plan='' step='' schedule=constant intercept=0 many_classes=''
sites='' workers='' shard='' rows='' at='' budget='' parts='' distributed='' colluding=0 on_lost=stop timeout=60 keys='' server='' part='' ports='' port=()
apart='' patience='' send='' receive='' in='' out=''
data='' model='' ledger='' registry='' no_registry='' gate='' init='' checkpoint='' checkpoint_every='' resume='' seed='' quiet='' print='' exec=auto threads=1 adjacency=null-record multiplier=''
