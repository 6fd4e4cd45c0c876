#include "math/pace.h"

double dp_pace_multiplier(double z, double times, double least, double most)
{
    return fmin(fmax(z / sqrt(times), least), most);
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
        window->first = window->widen * window->largest;
    window->searches = 0;
    window->largest = 0;
}

double dp_pace_bound(double bound, double decay, int64_t steps)
{
    return bound / (1 + decay * (double)steps);
}
