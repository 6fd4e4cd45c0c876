#include "math/pace.h"

double dp_pace_multiplier(double z, double times, double least)
{
    return fmax(z / sqrt(times), least);
}

enum dp_pace_verdict dp_pace_compare(double angle, double average, double most, double least)
{
    if (angle > acos(-1) / 2 || angle > most * average)
        return DP_PACE_NOISY;
    return angle < least * average ? DP_PACE_ALIKE : DP_PACE_BETWEEN;
}

double dp_pace_increment(double z, double held)
{
    double missing = 1 / (z * z) - held;
    /* A difference that is only rounding counts as 0. */
    return missing > 1e-9 * held ? 1 / sqrt(missing) : z;
}

void dp_pace_searched(struct dp_pace_window *window, double step)
{
    window->largest = fmax(window->largest, step);
    if (++window->searches < window->every)
        return;
    if (window->largest > 0)
        window->first = fmin(window->widen * window->largest, window->narrow ? window->first : (double)INFINITY);
    window->searches = 0;
    window->largest = 0;
}
