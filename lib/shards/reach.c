#include "shards/reach.h"

#include "priv/shares.h"

#define ROUNDING 1e-9 /* exceeds the rounding error of the arithmetic here */

/* Standard deviation of the Gaussian noise that this shard drew, in units of the field; infinite if no bound on the noise is
 * known. */
static double noise_of(const struct dp_record *r)
{
    if (r->query.kind == DP_QUERY_NONE)
        return 0;
    if (r->query.kind != DP_QUERY_GAUSSIAN)
        return (double)INFINITY;
    return r->shares > r->colluding ? dp_shares_scale(r->scale, r->shares, r->colluding) : r->scale;
}

static long double norm(const struct dp_array *sum)
{
    const int64_t *at = sum->data;
    long double squares = 0;
    for (size_t i = 0; i < sum->count; i++)
        squares += (long double)at[i] * (long double)at[i];
    return sqrtl(squares);
}

int dp_reach_check(const struct dp_frame *answer, int64_t rows, int parts, int shard, struct dp_err *err)
{
    for (int i = 0; i < answer->records; i++) {
        const struct dp_record *r = &answer->record[i];
        const struct dp_array *sum = r->of != DP_F_NONE ? dp_frame_array(answer, r->of) : NULL;
        double grid = dp_paid_grid(answer, r->of);
        if (sum == NULL || sum->dtype != DP_I64 || !(r->bound > 0) || !(grid > 0))
            continue;
        double wide = sqrt((double)sum->count);
        double reach =
            (double)rows * (r->bound / grid) + sqrt(parts) * noise_of(r) / grid * (wide + DP_REACH_SIGMAS) + parts * wide / 2;
        bool large = norm(sum) > (long double)(reach * (1 + ROUNDING));
        if (large && shard == 0)
            return dp_fail(
                err, DP_E_UNSAFE,
                "the '%s' of all shards is larger than their rows can make it: a shard has other masks, or gives a wrong "
                "sum",
                dp_fields[r->of].key);
        if (large)
            return dp_fail(err, DP_E_UNSAFE, "shard %d gives a '%s' that is larger than its %lld rows can make it", shard,
                           dp_fields[r->of].key, (long long)rows);
    }
    return DP_OK;
}
