/* dp-erm: the minimiser, for the methods that find it. L-BFGS compares values, which agree to the last bit near the minimum.
 * Newton's method uses only gradients, but converges only from nearby. */
#include "math/newton.h"
#include "stages/erm.h"

static void slope_at(void *self, const double *w, double *slope)
{
    dp_erm_risk_at(self, w, slope);
}

int dp_erm_solve(struct dp_erm_risk *r, double near, double tolerance, struct dp_minimum *found, struct dp_err *err)
{
    struct dp_erm *s = r->state;
    const struct dp_smooth f = {.size = dp_erm_size(s), .at = dp_erm_risk_at, .self = r};
    const struct dp_bowl bowl = {.size = f.size, .slope = slope_at, .bend_at = dp_erm_bend_at, .bend = dp_erm_bend, .self = r};
    int rc = dp_minimise(&f, near, s->most, s->w, found, err);
    int64_t before = found->evaluations;
    bool goes_on = found->end == DP_MINIMUM_STUCK || (found->end == DP_MINIMUM_REACHED && near > tolerance);
    if (rc != DP_OK || !goes_on || s->form.outputs > 1 || before >= s->most)
        return rc;
    rc = dp_newton(&bowl, tolerance, s->most - before, s->w, found, err);
    found->evaluations += before;
    return rc;
}
