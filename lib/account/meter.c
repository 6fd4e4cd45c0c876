#include "account/meter.h"

#include "base/mem.h"
#include "account/curve.h"
#include "priv/mixture.h"
#include "priv/rdp.h"

struct part {
    struct dp_event event;
    int64_t laps;
    double curve[DP_RDP_ORDER_COUNT]; /* r of one event, per order */
};

struct dp_meter {
    double delta;
    double penalty[DP_RDP_ORDER_COUNT]; /* conversion, per order */
    double *rest;                       /* Σ of the curves of all parts except the last charged one, per order */
    struct part *part;
    size_t parts, capacity, last;
};

void dp_meter_at(struct dp_meter *m, double delta)
{
    m->delta = delta;
    for (size_t i = 0; i < DP_RDP_ORDER_COUNT; i++)
        m->penalty[i] = dp_rdp_penalty(dp_rdp_orders[i], delta);
}

int dp_meter_new(struct dp_meter **meter, double delta, struct dp_err *err)
{
    if (!(delta > 0 && delta < 1))
        return dp_fail(err, DP_E_RUN, "the accountant needs 0 < delta < 1");
    struct dp_meter *m = dp_new(1, sizeof *m);
    *m = (struct dp_meter){0};
    dp_meter_at(m, delta);
    m->rest = dp_new(DP_RDP_ORDER_COUNT, sizeof(double));
    *meter = m;
    return DP_OK;
}

void dp_meter_free(struct dp_meter *meter)
{
    if (meter == NULL)
        return;
    free(meter->rest);
    free(meter->part);
    free(meter);
}

static double times(const struct part *part)
{
    return (double)dp_event_times(&part->event, part->laps);
}

/* Makes part `index` the part that laps are added to. */
static void select_part(struct dp_meter *m, size_t index)
{
    m->last = index;
    for (size_t i = 0; i < DP_RDP_ORDER_COUNT; i++) {
        m->rest[i] = 0;
        for (size_t p = 0; p < m->parts; p++)
            if (p != index && m->part[p].laps > 0)
                m->rest[i] += times(&m->part[p]) * m->part[p].curve[i];
    }
}

static int add_part(struct dp_meter *m, const struct dp_event *event, struct dp_err *err)
{
    struct dp_event charged = *event;
    int rc = dp_event_check(event, err);
    if (rc != DP_OK)
        return rc;
    dp_extend(&m->part, &m->capacity, m->parts + 1, sizeof *m->part);
    charged.epoch_laps = charged.sampling == DP_SAMPLING_SHUFFLED ? charged.epoch_laps : 0;
    struct part *part = &m->part[m->parts];
    *part = (struct part){.event = *event};
    rc = dp_event_curve(&charged, dp_rdp_orders, DP_RDP_ORDER_COUNT, part->curve, err);
    if (rc == DP_OK)
        m->parts++;
    return rc;
}

int dp_meter_charge(struct dp_meter *m, const struct dp_event *event, int64_t laps, struct dp_err *err)
{
    size_t index = 0;
    if (laps < 0)
        return dp_fail(err, DP_E_RUN, "cannot account for %lld laps", (long long)laps);
    while (index < m->parts && !dp_event_same(&m->part[index].event, event))
        index++;
    bool new = index == m->parts;
    int rc = new ? add_part(m, event, err) : DP_OK;
    if (rc != DP_OK)
        return rc;
    if (new || index != m->last)
        select_part(m, index);
    m->part[index].laps += laps;
    return DP_OK;
}

void dp_meter_clear(struct dp_meter *m)
{
    for (size_t p = 0; p < m->parts; p++)
        m->part[p].laps = 0;
    if (m->parts > 0)
        select_part(m, m->last);
}

double dp_meter_epsilon(const struct dp_meter *m)
{
    double best = (double)INFINITY;
    if (m->parts == 0)
        return 0;
    const struct part *part = &m->part[m->last];
    double gaussian;
    if (m->parts == 1 && part->event.sampling == DP_SAMPLING_VISIBLE && dp_event_is_gaussian(&part->event, &gaussian))
        return part->laps > 0 ? dp_mixture_epsilon(part->laps, part->event.rate, gaussian, m->delta) : 0;
    double n = times(part);
    for (size_t i = 0; i < DP_RDP_ORDER_COUNT; i++) {
        double own = part->laps > 0 ? n * part->curve[i] : 0, all = m->rest[i] + own + m->penalty[i];
        best = all < best ? all : best; /* fmin would take longer than the rest */
    }
    bool any = part->laps > 0;
    for (size_t p = 0; p < m->parts && !any; p++)
        any = m->part[p].laps > 0;
    /* A margin larger than the rounding error of products and sums. */
    return any && best > 0 ? best * (1 + 1e-15 * (double)(m->parts + 1)) : 0;
}
