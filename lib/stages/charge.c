#include "stages/charge.h"

#include <math.h>

#include "math/grid.h"

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fabs(b);
}

static int check_sampling(const struct dp_mechanism *m, struct dp_err *err)
{
    if (m->sampler == DP_SAMPLER_NONE || !(m->rate > 0 && m->rate <= 1) || m->rows <= 0)
        return dp_fail(err, DP_E_UNSAFE, "a mechanism record does not say how rows were sampled");
    if (m->sampler == DP_SAMPLER_FULL && m->rate != 1)
        return dp_fail(err, DP_E_UNSAFE, "a mechanism record has every row sampled at a rate of %g", m->rate);
    if (m->sampler == DP_SAMPLER_SHUFFLE) {
        double batch = round(m->rate * (double)m->rows), rows = (double)m->rows, laps = (double)m->epoch_laps;
        if (!(laps >= 1 && batch >= 1 && laps * batch >= rows && (laps - 1) * batch < rows))
            return dp_fail(err, DP_E_UNSAFE, "a mechanism record of shuffled epochs does not say how long an epoch is");
    }
    return DP_OK;
}

static int check_record(const struct dp_mechanism *m, struct dp_err *err)
{
    int rc = check_sampling(m, err);
    if (rc != DP_OK)
        return rc;
    if (m->adjacency == DP_ADJACENCY_NONE || m->release == DP_RELEASE_NONE)
        return dp_fail(err, DP_E_UNSAFE, "a mechanism record does not say what one person can change");
    if (!(m->bound > 0 && isfinite(m->bound)) || !(m->sensitivity > 0 && isfinite(m->sensitivity)))
        return dp_fail(err, DP_E_UNSAFE, "a mechanism record has noise without a bound on the sum");
    double least = m->bound * (m->adjacency == DP_ADJACENCY_REPLACE_ONE ? 2.0 : 1.0) *
                   (m->release == DP_RELEASE_SUM_AND_STATE ? M_SQRT2 : 1.0);
    if (m->sensitivity < least && !near(m->sensitivity, least))
        return dp_fail(err, DP_E_UNSAFE, "a mechanism record states a sensitivity of %g, its bound implies %g", m->sensitivity,
                       least);
    if (m->noise == DP_NOISE_NONE || !(m->multiplier > 0 && isfinite(m->multiplier)) || !(m->scale > 0))
        return dp_fail(err, DP_E_UNSAFE, "a mechanism record has no noise");
    /* The sensitivity of sum and state together is in L2 over two draws of noise, which only Gaussians add up in. */
    if (m->release == DP_RELEASE_SUM_AND_STATE && m->noise != DP_NOISE_GAUSSIAN)
        return dp_fail(err, DP_E_UNSAFE, "a released state has an accountant behind Gaussian noise alone, not %s",
                       dp_noise_names[m->noise]);
    if (!near(m->scale, m->multiplier * m->sensitivity))
        return dp_fail(err, DP_E_UNSAFE, "a mechanism record has noise of scale %g, its multiplier implies %g", m->scale,
                       m->multiplier * m->sensitivity);
    return DP_OK;
}

static bool same_batch(const struct dp_mechanism *a, const struct dp_mechanism *b)
{
    return a->sampler == b->sampler && a->rate == b->rate && a->rows == b->rows && a->epoch_laps == b->epoch_laps &&
           a->adjacency == b->adjacency && a->release == b->release;
}

int dp_charge_check_records(const struct dp_mechanism *records, int count, int64_t lap, struct dp_err *err)
{
    int rc = DP_OK;
    if (count < 1)
        return dp_fail(err, DP_E_UNSAFE, "the frame of lap %lld has no mechanism record", (long long)lap);
    if (count > DP_EVENT_MOST_QUERIES)
        return dp_fail(err, DP_E_UNSAFE, "the frame of lap %lld has %d mechanism records, at most %d can be charged",
                       (long long)lap, count, DP_EVENT_MOST_QUERIES);
    for (int i = 0; rc == DP_OK && i < count; i++) {
        rc = check_record(&records[i], err);
        if (rc == DP_OK && !same_batch(&records[i], &records[0]))
            rc = dp_fail(err, DP_E_UNSAFE, "the mechanism records of lap %lld disagree on how rows were sampled",
                         (long long)lap);
    }
    return rc;
}

int dp_charge_check(const struct dp_frame *frame, struct dp_err *err)
{
    long long lap = (long long)frame->lap;
    const struct dp_array *sum;
    int rc = dp_charge_check_records(frame->mechanism, frame->mechanisms, frame->lap, err);
    if (rc == DP_OK)
        rc = dp_frame_need_array(frame, DP_F_SUM, DP_I64, 2, &sum, err);
    if (rc != DP_OK)
        return rc;
    double bound = dp_frame_real(frame, DP_F_BOUND, 0), grid = dp_frame_real(frame, DP_F_GRID, 0);
    /* The sum is what the first record is about. */
    if (bound != frame->mechanism[0].bound)
        return dp_fail(err, DP_E_UNSAFE, "the clip bounds of lap %lld disagree: %g on the sum, %g in its record", lap, bound,
                       frame->mechanism[0].bound);
    if (grid != dp_grid_for(bound))
        return dp_fail(err, DP_E_UNSAFE, "lap %lld has another grid than its bound implies", lap);
    /* And the count, if there is one, is what the second is about. */
    const struct dp_array *count = dp_frame_array(frame, DP_F_WITHIN);
    if (count != NULL &&
        (frame->mechanisms < 2 || frame->mechanism[1].bound != 0.5 || count->dtype != DP_I64 || count->count != 1))
        return dp_fail(err, DP_E_UNSAFE, "the count of lap %lld has no mechanism record", lap);
    /* The recorded sensitivity is in L2; what Laplace noise hides is L1, and on one number that is the same. */
    for (int i = 0; i < frame->mechanisms; i++)
        if (frame->mechanism[i].noise == DP_NOISE_LAPLACE && sum->count != 1 && !(count != NULL && i == 1))
            return dp_fail(err, DP_E_UNSAFE, "the Laplace noise of lap %lld is on %zu numbers, and its accountant is for one",
                           lap, (size_t)sum->count);
    return DP_OK;
}

/* How the record's rows were chosen, as accountants see it. */
static int sampling_of(const struct dp_mechanism *m, enum dp_sampling *sampling, struct dp_err *err)
{
    bool replace = m->adjacency == DP_ADJACENCY_REPLACE_ONE, visible = m->release == DP_RELEASE_SUM_AND_STATE;
    switch (m->sampler) {
    case DP_SAMPLER_FULL:
        *sampling = DP_SAMPLING_NONE;
        return DP_OK;
    case DP_SAMPLER_SHUFFLE:
        *sampling = DP_SAMPLING_SHUFFLED;
        return DP_OK;
    case DP_SAMPLER_FIXED:
        if (!replace)
            return dp_fail(err, DP_E_UNSAFE,
                           "a Poisson accountant does not cover a fixed sampler: a batch of fixed size "
                           "needs replace-one adjacency");
        /* Given everybody else's membership, one's own is certain: a person's past updates are no mixture then. */
        if (m->release != DP_RELEASE_SUM)
            return dp_fail(err, DP_E_UNSAFE, "a secret or released state behind a fixed sampler has no accountant");
        *sampling = DP_SAMPLING_REPLACED;
        return DP_OK;
    case DP_SAMPLER_POISSON:
        if (visible && replace)
            return dp_fail(err, DP_E_UNSAFE, "a visible batch under replace-one adjacency has no accountant");
        *sampling = visible ? DP_SAMPLING_VISIBLE : replace ? DP_SAMPLING_REPLACED : DP_SAMPLING_POISSON;
        return DP_OK;
    default:
        return dp_fail(err, DP_E_UNSAFE, "no accountant covers a %s sampler", dp_sampler_names[m->sampler]);
    }
}

static struct dp_query query_of(const struct dp_mechanism *m)
{
    static const enum dp_query_kind kinds[] = {[DP_NOISE_GAUSSIAN] = DP_QUERY_GAUSSIAN,
                                               [DP_NOISE_LAPLACE] = DP_QUERY_DISCRETE_LAPLACE,
                                               [DP_NOISE_GAMMA] = DP_QUERY_GAMMA};
    return (struct dp_query){.kind = kinds[m->noise], .multiplier = m->multiplier};
}

int dp_charge_event(const struct dp_mechanism *records, int count, struct dp_event *event, struct dp_err *err)
{
    *event = (struct dp_event){.rate = records[0].rate, .queries = count};
    int rc = sampling_of(&records[0], &event->sampling, err);
    event->epoch_laps = event->sampling == DP_SAMPLING_SHUFFLED ? records[0].epoch_laps : 0;
    for (int i = 0; i < count; i++)
        event->query[i] = query_of(&records[i]);
    return rc;
}

int dp_charge_event_by(enum dp_meter_kind by, const struct dp_mechanism *records, int count, struct dp_event *event,
                       bool *sound, struct dp_err *err)
{
    struct dp_err uncovered = {0};
    int rc = dp_charge_event(records, count, event, &uncovered);
    *sound = rc == DP_OK;
    if (rc != DP_OK && by == DP_METER_RDP) {
        *err = uncovered;
        return rc;
    }
    if (rc != DP_OK)
        *event = dp_event_gaussian(DP_SAMPLING_POISSON, records[0].rate, records[0].multiplier, 0);
    return DP_OK;
}
