#include "audit/sampler.h"

#include <gsl/gsl_randist.h>

#include "audit/bound.h"
#include "base/mem.h"

void dp_audit_sampler_open(struct dp_audit_sampler *s, const struct dp_record *record)
{
    *s = (struct dp_audit_sampler){.record = *record, .words = (size_t)record->rows / 64 + 1};
    s->now = dp_new(s->words, sizeof *s->now);
    s->before = dp_new(s->words, sizeof *s->now);
    s->opening = dp_new(s->words, sizeof *s->now);
    s->epoch = dp_new(s->words, sizeof *s->now);
}

void dp_audit_sampler_close(struct dp_audit_sampler *s)
{
    free(s->now);
    free(s->before);
    free(s->opening);
    free(s->epoch);
    *s = (struct dp_audit_sampler){0};
}

static uint64_t in_both(const uint64_t *a, const uint64_t *b, size_t words)
{
    uint64_t count = 0;
    for (size_t i = 0; i < words; i++)
        count += (uint64_t)__builtin_popcountll(a[i] & b[i]);
    return count;
}

static void count_pairs(struct dp_audit_sampler *s, int64_t lap)
{
    uint64_t rows = (uint64_t)s->record.rows;
    s->in.successes += s->size;
    s->in.trials += rows;
    if (s->batches % 2 == 0) {
        s->twice.successes += in_both(s->now, s->before, s->words);
        s->twice.trials += rows;
        s->equal.successes += s->size == s->before_size;
        s->equal.trials++;
    }
    if (lap != 1)
        return;
    s->runs++;
    if (s->runs % 2 == 0) {
        s->again.successes += in_both(s->now, s->opening, s->words);
        s->again.trials += rows;
    }
    memcpy(s->opening, s->now, s->words * sizeof *s->now);
}

static int check_parts(struct dp_audit_sampler *s, int64_t lap, struct dp_err *err)
{
    const struct dp_record *m = &s->record;
    size_t expected = (size_t)llround(m->rate * (double)m->rows);
    if ((m->sampler == DP_SAMPLER_FULL || m->sampler == DP_SAMPLER_FIXED) && s->size != expected)
        return dp_fail(err, DP_E_RUN, "lap %lld has %zu rows, and a %s sampler of rate %g takes %zu", (long long)lap, s->size,
                       dp_sampler_names[m->sampler], m->rate, expected);
    if ((m->sampler != DP_SAMPLER_SHUFFLE && m->sampler != DP_SAMPLER_CYCLIC) || m->epoch_laps < 1)
        return DP_OK;
    if ((lap - 1) % m->epoch_laps == 0)
        memset(s->epoch, 0, s->words * sizeof *s->epoch);
    if (in_both(s->now, s->epoch, s->words) > 0)
        return dp_fail(err, DP_E_RUN, "lap %lld has rows that its epoch has had already", (long long)lap);
    for (size_t i = 0; i < s->words; i++)
        s->epoch[i] |= s->now[i];
    return DP_OK;
}

int dp_audit_sampler_note(struct dp_audit_sampler *s, int64_t lap, const int64_t *id, size_t count, struct dp_err *err)
{
    uint64_t *swap = s->before;
    s->before = s->now;
    s->now = swap;
    s->before_size = s->size;
    s->size = count;
    s->batches++;
    memset(s->now, 0, s->words * sizeof *s->now);
    for (size_t i = 0; i < count; i++) {
        if (id[i] < 0 || id[i] >= s->record.rows)
            return dp_fail(err, DP_E_RUN, "a row number of lap %lld is out of range", (long long)lap);
        uint64_t bit = (uint64_t)1 << (id[i] % 64);
        if (s->now[id[i] / 64] & bit)
            return dp_fail(err, DP_E_RUN, "a row is twice in the batch of lap %lld", (long long)lap);
        s->now[id[i] / 64] |= bit;
    }
    if (s->record.sampler == DP_SAMPLER_POISSON)
        count_pairs(s, lap);
    return check_parts(s, lap, err);
}

/* Pr[two independent Bin(n, q) are equal], summed over all sizes that matter. */
static double equal_sizes(double n, double q)
{
    double width = 12 * sqrt(n * q * (1 - q)) + 40, sum = 0;
    double low = fmax(0, floor(n * q - width)), high = fmin(n, ceil(n * q + width));
    for (double k = low; k <= high; k++) {
        double p = gsl_ran_binomial_pdf((unsigned)k, q, (unsigned)n);
        sum += p * p;
    }
    return fmin(1, sum);
}

int dp_audit_sampler_judge(const struct dp_audit_sampler *s, double confidence, struct dp_err *err)
{
    double q = s->record.rate;
    if (s->record.sampler != DP_SAMPLER_POISSON || s->record.rows >= UINT32_MAX)
        return DP_OK;
    const struct {
        const struct dp_audit_count *count;
        double p;
        const char *what;
    } test[] = {
        {&s->in, q, "rows in batches"},
        {&s->twice, q * q, "rows in both of two consecutive batches"},
        {&s->again, q * q, "rows in both first batches of two runs"},
        {&s->equal, equal_sizes((double)s->record.rows, q), "times two batches of one size"},
    };
    double each = 1 - (1 - confidence) / 4;
    for (size_t i = 0; i < sizeof test / sizeof *test; i++) {
        const struct dp_audit_count *c = test[i].count;
        if (dp_audit_unlikely(c->successes, c->trials, test[i].p, each))
            return dp_fail(err, DP_E_RUN,
                           "the batches are not Poisson samples of rate %g: %llu %s, expected %.6g (confidence %g)", q,
                           (unsigned long long)c->successes, test[i].what, test[i].p * (double)c->trials, confidence);
    }
    return DP_OK;
}
