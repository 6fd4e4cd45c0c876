# shellcheck shell=bash disable=SC2034
# Sourced by the pipelines that release one model at the end: bounds on a row's gradient, and the length of a descent.

options_of_bounds() {
    option intercept 0 V "value of a constant column to append, 0 for none" real
    option norm 1 R "largest norm of a row" number
    option loss-width auto W "width of smooth-hinge, huber and huberised-hinge" number
}

# bound_of_loss: the largest gradient of a row's loss, in pull, and the smoothness of the objective, in beta
bound_of_loss() {
    local bounds classes words
    classes=$(dp-info --get classes "$data") || exit
    width=''
    [ "$loss_width" = auto ] || width=" --loss-width $loss_width"
    read -ra words <<< "$width"
    bounds=$(dp-account sensitivity --loss "$loss" "${words[@]}" --norm "$norm" --intercept "$intercept" \
        --outputs $((classes > 2 ? classes : 1)) --strong-convexity "$lambda") || exit
    read -r pull beta <<< "$bounds"
}

# weights: the number of weights of the model
weights() {
    local columns classes
    columns=$(dp-info --get cols "$data") && classes=$(dp-info --get classes "$data") || exit
    calculate '(columns + (intercept != 0)) * (classes > 2 ? classes : 1)'
}

# once: sets sigma to the noise of one release of every row
once() {
    case $noise in
        gaussian) sigma=${multiplier:-$(dp-account sigma --mechanism output --epsilon "$epsilon" --delta "$delta" --laps 1)} ;;
        gamma) sigma=${multiplier:-$(calculate '1.00001 / epsilon')} ;; # of six digits
    esac
}

# way: the length of the descent, steps times step size. Without strong convexity steps bring the objective to within about D^2 / (2 way) of
# the minimum; the noise raises it in proportion to the square of its scale, pull * way / rows. This takes the way with the least sum, for
# a weight whose curvature is a hundredth. Beyond a few 1 / lambda there is nothing left to descend.
way() {
    local mean=0 # of the squared norm of gamma noise, in squares of its scale, without the first
    [ "$noise" != gamma ] || mean=$(weights)
    calculate 'least((distance * rows / (sensitivity * pull * sigma * sqrt(mean + 1))) ^ (2 / 3), lambda > 0 ? 4 / lambda : 1e300)' %.12g
}
