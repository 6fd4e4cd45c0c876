/* The bound by Rényi DP. It is the first answer, and the only one if the grid and the contour integral do not apply. */
#include "priv/pld_question.h"

#include <float.h>

#include "priv/joint.h"
#include "priv/pure.h"
#include "priv/rdp.h"
#include "priv/replaced.h"

/* The largest order of a sampled sum: time grows with its square. Above it a joint part counts as not sampled. */
enum { LARGEST_JOINT = 512 };

/* The largest loss of one lap of a pure or Laplace part, rounded up. */
static double pure_epsilon(const struct dp_pld_part *part)
{
    double epsilon = part->kind == DP_PLD_LAPLACE ? (1 + DBL_EPSILON) / part->multiplier : part->epsilon;
    return dp_pure_sampled(part->rate, epsilon);
}

double dp_pld_most(const struct dp_pld_question *a)
{
    double sum = 0;
    for (size_t i = 0; i < a->count; i++) {
        const struct dp_pld_part *p = &a->parts[i];
        if (dp_pld_has_gaussian(p))
            return INFINITY;
        double t = (double)p->laps, epsilon = pure_epsilon(p), total = t * epsilon;
        if (fma(t, epsilon, -total) > 0)
            total = nextafter(total, INFINITY);
        sum += total;
    }
    return a->count > 1 ? sum * (1 + DBL_EPSILON * (double)a->count) : sum;
}

/* Above the largest order: the curve without sampling. */
static void joint_renyi(const struct dp_pld_part *part, const double *orders, size_t n, double *r)
{
    double order[LARGEST_JOINT + 1], sum[LARGEST_JOINT + 1], pure[LARGEST_JOINT], plain[DP_RDP_ORDER_COUNT];
    for (int l = 0; l <= LARGEST_JOINT; l++)
        order[l] = l;
    dp_rdp_gaussian(part->multiplier, order + 2, LARGEST_JOINT - 1, sum + 2);
    dp_rdp_pure(part->epsilon, order + 2, LARGEST_JOINT - 1, pure);
    for (int l = 2; l <= LARGEST_JOINT; l++)
        sum[l] = (sum[l] + pure[l - 2]) * (1 + DBL_EPSILON);
    dp_rdp_gaussian(part->multiplier, orders, n, plain);
    dp_rdp_pure(part->epsilon, orders, n, pure);
    dp_rdp_sampled_symmetric(part->rate, sum, LARGEST_JOINT, orders, n, r);
    for (size_t i = 0; i < n; i++)
        r[i] = fmin(r[i], (plain[i] + pure[i]) * (1 + DBL_EPSILON));
}

static void part_renyi(const struct dp_pld_part *part, const double *orders, size_t n, double *r)
{
    switch (part->kind) {
    case DP_PLD_JOINT:
        joint_renyi(part, orders, n, r);
        break;
    case DP_PLD_GAUSSIAN:
        dp_rdp_sampled_gaussian(part->rate, part->multiplier, orders, n, r);
        break;
    case DP_PLD_GAUSSIAN_REPLACED:
        dp_rdp_replaced_gaussian(part->rate, part->multiplier, orders, n, r);
        break;
    case DP_PLD_GAUSSIAN_COINS:
        dp_rdp_exchanged_gaussian(part->rate, part->multiplier, orders, n, r);
        break;
    case DP_PLD_LAPLACE:
    case DP_PLD_PURE:
        dp_rdp_pure(pure_epsilon(part), orders, n, r);
        break;
    }
}

void dp_pld_renyi(const struct dp_pld_question *a, const double *orders, size_t n, double *rdp)
{
    double r[DP_RDP_ORDER_COUNT];
    for (size_t i = 0; i < n; i++)
        rdp[i] = 0;
    for (size_t p = 0; p < a->count; p++) {
        part_renyi(&a->parts[p], orders, n, r);
        for (size_t i = 0; i < n; i++)
            rdp[i] += r[i] * (double)a->parts[p].laps * (1 + 2 * DBL_EPSILON * (double)p);
    }
}

double dp_pld_renyi_epsilon(const struct dp_pld_question *a, const double *orders, size_t n)
{
    double rdp[DP_RDP_ORDER_COUNT];
    dp_pld_renyi(a, orders, n, rdp);
    return fmin(dp_rdp_epsilon(orders, rdp, n, a->delta, NULL), dp_pld_most(a));
}
