/* The epsilon of the first laps of a run, for many numbers of laps at once. */
#include "priv/pld_question.h"

#include "priv/pld_compose.h"
#include "priv/pld_invert.h"

/* The most transforms of the laps of all parts, for all prefixes. If there were more, a prefix gets the bound of a later
   one. */
enum { TRANSFORMS = 256 };

/* The stride of the rows that are computed, counted from the last one: 1 unless all rows would take too many transforms. */
static size_t stride_of(const struct dp_pld_part *parts, size_t count, size_t n, double *transforms)
{
    for (size_t stride = 1;; stride *= 2) {
        *transforms = 0;
        for (size_t i = (n - 1) % stride; i < n; i += stride) {
            size_t own = 0;
            for (size_t p = 0; p < count; p++)
                own += parts[i * count + p].laps > (i < stride ? 0 : parts[(i - stride) * count + p].laps);
            *transforms += (double)own;
        }
        if (*transforms <= fmax(2 * (double)count, TRANSFORMS) || stride >= n)
            return stride;
    }
}

/* A prefix of the run: a row of parts, with the laps of each. */
static struct dp_pld_question prefix_of(const struct dp_pld_question *a, const struct dp_pld_part *row)
{
    struct dp_pld_question prefix = *a;
    prefix.parts = row;
    prefix.laps = 0;
    for (size_t p = 0; p < a->count; p++)
        prefix.laps += (double)row[p].laps;
    return prefix;
}

/* A contour around *epsilon, the estimate for this prefix, with a few spare frequencies for shorter prefixes. NULL if no
   contour fits. */
static struct dp_pld_inverse *inverse_around(const struct dp_pld_question *a, bool add, double *epsilon)
{
    double mean, variance;
    dp_pld_moment(a, add, 0, &mean, &variance);
    *epsilon = fmax(dp_pld_estimated_epsilon(a, add, a->delta), 0.02 * sqrt(variance));
    struct dp_pld_contour contour = dp_pld_contour_for(a, add, *epsilon, a->delta);
    struct dp_pld_inverse *inverse = NULL;
    for (int tries = 0; tries < 3; tries++) {
        contour.frequencies *= 2;
        dp_pld_inverse_free(inverse);
        inverse = NULL;
        if (contour.frequencies > DP_PLD_MOST_FREQUENCIES)
            break;
        inverse = dp_pld_inverse_new(a->parts, a->count, add, a->deviations, &contour);
        if (inverse == NULL)
            break;
        dp_pld_inverse_take(inverse, a->parts);
        size_t needs = dp_pld_inverse_needs(inverse, dp_pld_contour_error(a, add, &contour, *epsilon, a->delta, DP_PLD_CLOSE));
        if (needs <= contour.frequencies)
            break;
        contour.frequencies = needs < DP_PLD_MOST_FREQUENCIES ? needs : DP_PLD_MOST_FREQUENCIES;
    }
    return inverse;
}

/* One direction by inversion, from the last row back to the first row whose bounds are not close. Returns the number of rows
   that remain. A contour serves as many rows as it can. */
static size_t invert_prefixes(const struct dp_pld_question *a, bool add, size_t left, double *upper)
{
    const struct dp_pld_part *rows = a->parts - (left - 1) * a->count;
    struct dp_pld_inverse *inverse = NULL;
    double guess = NAN;
    bool new = false;
    for (size_t p = 0; p < a->count; p++)
        if (!dp_pld_has_gaussian(&a->parts[p]))
            return left;
    while (left > 0) {
        struct dp_pld_question row = prefix_of(a, rows + (left - 1) * a->count);
        double high = INFINITY, low = 0;
        if (inverse == NULL) {
            inverse = inverse_around(&row, add, &guess);
            new = true;
        }
        if (inverse == NULL)
            break;
        dp_pld_inverse_take(inverse, row.parts);
        dp_pld_inverse_epsilon(inverse, a->delta, guess, &high, &low);
        if (high - low <= DP_PLD_CLOSE * high) {
            upper[left - 1] = fmax(upper[left - 1], high);
            guess = high;
            left--;
            new = false;
            continue;
        }
        dp_pld_inverse_free(inverse);
        inverse = NULL;
        if (new)
            break;
    }
    dp_pld_inverse_free(inverse);
    return left;
}

/* One direction by grids: upper[i] becomes the larger of upper[i] and this direction's bound. */
static void prefixes(const struct dp_pld_question *a, bool add, size_t n, double bias, double *upper)
{
    double mean, variance, transforms;
    dp_pld_moment(a, add, 0, &mean, &variance);
    double epsilon = fmax(dp_pld_estimated_epsilon(a, add, a->delta), 0.02 * sqrt(variance));
    struct dp_pld_window w = dp_pld_grid_window(a, add, epsilon, a->delta);
    dp_pld_moment(a, add, w.s, &mean, &variance);
    /* The mean of fewer laps is at least 0, and their deviation is less. */
    w.bottom = fmin(w.bottom, -8 * sqrt(variance));
    const struct dp_pld_part *rows = a->parts - (n - 1) * a->count;
    size_t stride = stride_of(rows, a->count, n, &transforms);
    bool finest;
    struct dp_pld_aim shared = {epsilon, bias * epsilon, false};
    double h = dp_pld_grid_step(a, add, &w, shared, fmax(transforms / 2, (double)a->count), 0, &finest);
    struct dp_pld_running *running = dp_pld_running_new(a->parts, a->count, add, a->deviations, h, &w);
    for (size_t i = (n - 1) % stride; i < n; i += stride) {
        const struct dp_pld_part *now = rows + i * a->count, *before = i < stride ? NULL : now - stride * a->count;
        struct dp_pld_composed c;
        double bound;
        for (size_t p = 0; p < a->count; p++)
            dp_pld_running_take(running, &a->parts[p], now[p].laps - (before != NULL ? before[p].laps : 0));
        dp_pld_running_read(running, &c);
        dp_pld_composed_epsilon(&c, a->delta, &bound, NULL);
        dp_pld_composed_free(&c);
        for (size_t j = i < stride ? 0 : i - stride + 1; j <= i; j++)
            upper[j] = fmax(upper[j], isnan(bound) ? INFINITY : bound);
    }
    dp_pld_running_free(running);
}

int dp_pld_prefixes(const struct dp_pld_part *parts, size_t count, size_t n, double delta, double *upper, size_t *rough,
                    struct dp_err *err)
{
    struct dp_pld_question a = {.parts = parts + (n - 1) * count, .count = count, .delta = delta};
    int rc = dp_pld_check(&a, err);
    if (rc == DP_OK && !(delta > 0 && delta < 1))
        rc = dp_fail(err, DP_E_RUN, "delta must be between 0 and 1, got %g", delta);
    if (rc != DP_OK)
        return rc;
    bool reached = dp_pld_reaches(&a);
    *rough = n;
    for (size_t i = 0; i < n; i++)
        upper[i] = reached ? 0 : INFINITY;
    if (!reached)
        return DP_OK;
    dp_pld_sketch(&a);
    size_t left = invert_prefixes(&a, false, n, upper), more = a.symmetric ? 0 : invert_prefixes(&a, true, n, upper);
    left = left > more ? left : more;
    /* The last of the rows that remain is the run that is put on a grid. */
    if (left > 0) {
        struct dp_pld_question first = prefix_of(&a, parts + (left - 1) * count);
        double bias = left < n ? 5e-4 : 2e-3; /* short runs are cheap */
        prefixes(&first, false, left, bias, upper);
        if (!a.symmetric)
            prefixes(&first, true, left, bias, upper);
    }
    *rough = left;
    dp_pld_sketch_free(&a);
    return DP_OK;
}
