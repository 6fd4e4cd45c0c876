# How much less noise ADP-SGD's bound has than DP-SGD's at equal epsilon, for steps eta / b_t in T laps:
#   awk -v b=sqrt:20:1 -v T=11700 -f gain.awk
# prints M_dp / M_adp. The variance that reaches the model is a sum of alpha_t^2 / b_t^2, and the price in sigma^2 of a plan of noise is
# by the paper's composition a sum of 1 / alpha_t^2; M is their product:
#   alpha_t = 1:        M_dp  = T sum 1 / b_t^2
#   alpha_t^2 = b_t:    M_adp = (sum 1 / b_t)^2, the least there is, by Cauchy and Schwarz.
# With -v zdp=Z -v zadp=Z1, the multiplier of DP-SGD and that of lap 1 of ADP-SGD that an accountant asks for, the ratio of
#   zdp^2 sum 1 / b_t^2    and    zadp^2 sum (b_t / b_1) / b_t^2
# is printed as well: the same gain, without the paper's composition; and ADP-SGD's multiplier of the last lap.
# With -v laps=N: N lines of t, closer together at first, and sqrt(b_t / b_1) instead.
function b_of(t) {
    if (form[1] == "sqrt") return sqrt(form[2] + form[3] * t)
    if (form[1] == "linear") return 1 / (1 - (1 - form[2]) * (sqrt(t) - 1) / (sqrt(T + 1) - 1))
    return 1
}
BEGIN {
    split(b, form, ":")
    if (laps) {
        for (i = 0; i < laps; i++) {
            t = 1 + int((i / (laps - 1)) ^ 2 * (T - 1) + .5)
            printf "%d\t%.9g\n", t, sqrt(b_of(t) / b_of(1))
        }
        exit
    }
    for (t = 1; t <= T; t++) {
        first += 1 / b_of(t)
        second += 1 / b_of(t) ^ 2
    }
    printf "%.3f", T * second / first ^ 2
    if (zdp) printf "\t%.3f\t%.3f", zdp ^ 2 * second / (zadp ^ 2 * first / b_of(1)), zadp * sqrt(b_of(T) / b_of(1))
    printf "\n"
}
