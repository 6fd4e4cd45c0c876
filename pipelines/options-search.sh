# shellcheck shell=bash disable=SC2034
# Sourced by the pipelines with a private line search: their options, and how gradients and searches share the budget.

# options_of_search SHARE TRIES POLICY
options_of_search() {
    option share "$1" S "part of the budget for searches" part
    option search-epsilon '' E "epsilon of a search on its batch (default: from its share)" number
    option first-step 50 ETA "largest step to try" number
    option tries "$2" M "most steps of a search" whole
    option loss-clip 2 C "bound on one person's loss in a search" number
    option policy "$3" WHEN "none|on-failure|adaptive: when gradients or searches get less noise" choice
    option growth 0.3 XI "part by which their budget then grows" number
}

# options of dp-linesearch --method above-threshold
options_of_armijo() {
    option beta 0.8 BETA "each step is this part of the one before" number
    option armijo 0.5 A "part of the predicted decrease that a step must reach" real
    option noise laplace KIND "laplace|gaussian: noise of searches" choice
}

# laps_of_search: --epochs auto means a lap of gradients for each 50 of epsilon times the rows, from 30 to 300
laps_of_search() {
    [ "$epochs" != auto ] || laps=$(calculate 'least(300, most(30, int(epsilon * rows / 50)))')
    [ "$epochs" = auto ] || laps=$(laps_of "$rows")
    if [ "$policy" != none ]; then # nobody knows the run beforehand
        gate+=" --adaptive" accountant="--accountant rdp"
    fi
}

# in_turns SIGMA: the laps of a run that searches for its steps. With the multiplier SIGMA the gradients would use the whole budget.
# A gradient of multiplier z costs about as much as a search of epsilon 1 / z, so they share the budget as 1 - S to S.
in_turns() {
    local sigma=$1
    plan="(gradient, search) $laps"
    multiplier=${multiplier:-$(calculate '1.00001 * sigma / sqrt(1 - share)')} # of six digits
    search_epsilon=${search_epsilon:-$(calculate '0.99999 * sqrt(share) / sigma')}
    case $noise in
        laplace) searched="--epsilon $search_epsilon" ;;
        *) searched="--noise $noise --rho $(calculate 'search_epsilon ^ 2 / 2')" ;;
    esac
    chosen="--first-step $first_step" # what dp-adapt chooses
    clipped="--clip $clip" averaged=''
    if [ "$policy" != none ]; then
        chosen+=" --multiplier $multiplier --policy $policy --growth $growth"
        averaged=--average-gradients
    fi
    if [ "${clip_decay:-none}" != none ]; then
        chosen+=" --clip $clip --clip-decay $clip_decay"
        case ${network-} in
            '') clipped="| dp-clip --on gradient --data $dir --clip $clip --follow" ;;
            *) clipped+=' --follow' ;;
        esac
    fi
}
noise=laplace accountant=''
