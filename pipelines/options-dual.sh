# shellcheck shell=bash disable=SC2034
# Sourced by the pipelines of DP-SCD: derived numbers, and a warning. dpline-pipelines(7) has the reasons.

# auto_bounds SIGMA: SIGMA is the noise on v in clips. A dual variable can reach 1; the noise of a lap moves the score of a row of norm 1 by
# 1/15, or by 1/30 for losses whose residuals are large
auto_bounds() {
    local part=15 sigma=$1
    case $loss in squared | huber) part=30 ;; esac
    [ "$clip" != auto ] || clip=$(calculate '1 / epochs')
    [ "$lambda" != auto ] || lambda=$(calculate 'part * sigma * sensitivity * clip / rows')
}

# warn_of_clip: every row is in --epochs laps on average and moves its dual variable by at most --clip in each. The optimal ones are between 0
# and 1 (squared and huber: the residual), near 1 for rows that are hard to fit. For hinge a bound below 1 acts like a larger lambda, and
# does no harm.
warn_of_clip() {
    [ "$loss" != hinge ] && [ "$(calculate 'epochs * clip < 0.999')" = 1 ] || return 0
    say "warning: in $epochs epoch$([ "$epochs" = 1 ] || echo s) --clip $clip keeps dual variables below $(calculate 'epochs * clip'), $loss needs up to 1:" \
        "scores and probabilities will be wrong (--clip $(calculate '1 / epochs'))"
}
