#include "priv/rdp.h"

#include <math.h>

const double dp_rdp_orders[DP_RDP_ORDER_COUNT] = {
    1.08, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2, 2.1, 2.2, 2.3, 2.4, 2.5, 2.6, 2.7, 2.8, 2.9, 3,
    3.1, 3.2, 3.3, 3.4, 3.5, 3.6, 3.7, 3.8, 3.9, 4, 4.1, 4.2, 4.3, 4.4, 4.5, 4.6, 4.7, 4.8, 4.9, 5, 5.1,
    5.2, 5.3, 5.4, 5.5, 5.6, 5.7, 5.8, 5.9, 6, 6.1, 6.2, 6.3, 6.4, 6.5, 6.6, 6.7, 6.8, 6.9, 7, 7.1, 7.2,
    7.3, 7.4, 7.5, 7.6, 7.7, 7.8, 7.9, 8, 8.1, 8.2, 8.3, 8.4, 8.5, 8.6, 8.7, 8.8, 8.9, 9, 9.1, 9.2, 9.3,
    9.4, 9.5, 9.6, 9.7, 9.8, 9.9, 10, 10.1, 10.2, 10.3, 10.4, 10.5, 10.6, 10.7, 10.8, 10.9, 11, 12, 13, 14,
    15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40,
    41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 66, 68,
    70, 72, 74, 76, 78, 80, 82, 84, 86, 88, 90, 92, 94, 96, 98, 100, 102, 104, 106, 108, 110, 112, 114,
    116, 118, 120, 122, 124, 126, 128, 132, 136, 140, 144, 148, 152, 156, 160, 164, 168, 172, 176, 180,
    184, 188, 192, 196, 200, 204, 208, 212, 216, 220, 224, 228, 232, 236, 240, 244, 248, 252, 256, 272,
    288, 304, 320, 336, 352, 368, 384, 400, 416, 432, 448, 464, 480, 496, 512, 544, 576, 608, 640, 672,
    704, 736, 768, 800, 832, 864, 896, 928, 960, 992, 1024, 1152, 1280, 1536, 1792, 2048, 2560, 3072, 4096,
    5120, 6144, 8192,
};

const double dp_rdp_published_orders[DP_RDP_PUBLISHED_COUNT] = {
    2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29,
    30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55,
    56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76, 77, 78, 79, 80, 81,
    82, 83, 84, 85, 86, 87, 88, 89, 90, 91, 92, 93, 94, 95, 96, 97, 98, 99, 100, 101, 102, 103, 104, 105,
    106, 107, 108, 109, 110, 111, 112, 113, 114, 115, 116, 117, 118, 119, 120, 121, 122, 123, 124, 125, 126,
    127, 128, 129,
};

/* Far above the rounding of the sums below: results are upper bounds. */
#define UP (1 + 1e-12)

void dp_rdp_gaussian(double z, const double *orders, size_t n, double *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = z > 0 ? orders[i] / (2 * z * z) * UP : (double)INFINITY;
}

/* ln(e^a + e^b) */
static double log_add(double a, double b)
{
    double high = a > b ? a : b, low = a > b ? b : a;
    return low == -(double)INFINITY ? high : high + log1p(exp(low - high));
}

/* ln(e^x − 1), x ≥ 0 */
static double log_expm1(double x)
{
    return x > 40 ? x : log(expm1(x));
}

/* ln A at a whole order. The terms follow from one another: C(α,k+1)/C(α,k) = (α−k)/(k+1). */
static double log_moment(double q, double z, int order)
{
    double odds = log(q) - log1p(-q), term = order * log1p(-q), sum = -(double)INFINITY;
    for (int k = 0; k <= order; k++) {
        if (k >= 2)
            sum = log_add(sum, term + log_expm1(0.5 * k * (k - 1.0) / (z * z)));
        if (k < order)
            term += log((order - k) / (k + 1.0)) + odds;
    }
    return sum > 40 ? sum + exp(-sum) : log1p(exp(sum));
}

/* ln A is convex in the order, so a chord between whole orders lies above it. */
static double log_moment_between(double q, double z, double order)
{
    int below = (int)floor(order);
    double low = below < 2 ? 0.0 : log_moment(q, z, below);
    if (order == below)
        return low;
    return low + (order - below) * (log_moment(q, z, below + 1) - low);
}

void dp_rdp_sampled_gaussian(double q, double z, const double *orders, size_t n, double *out)
{
    for (size_t i = 0; i < n; i++) {
        double plain = z > 0 ? orders[i] / (2 * z * z) * UP : (double)INFINITY;
        if (q <= 0)
            out[i] = 0;
        else if (q >= 1)
            out[i] = plain;
        else
            out[i] = fmin(plain, log_moment_between(q, z, orders[i]) / (orders[i] - 1) * UP);
    }
}

double dp_rdp_penalty(double order, double delta)
{
    return log1p(-1 / order) - (log(delta) + log(order)) / (order - 1);
}

double dp_rdp_penalty_published(double order, double delta)
{
    return -log(delta) / (order - 1);
}

static double least(const double *orders, const double *rdp, size_t n, double delta, double *order,
                    double (*penalty)(double, double))
{
    double best = (double)INFINITY;
    for (size_t i = 0; i < n; i++) {
        double epsilon = rdp[i] + penalty(orders[i], delta);
        if (epsilon < best) {
            best = epsilon;
            if (order != NULL)
                *order = orders[i];
        }
    }
    return best > 0 ? best * UP : 0;
}

double dp_rdp_epsilon(const double *orders, const double *rdp, size_t n, double delta, double *order)
{
    return least(orders, rdp, n, delta, order, dp_rdp_penalty);
}

double dp_rdp_epsilon_published(const double *orders, const double *rdp, size_t n, double delta, double *order)
{
    return least(orders, rdp, n, delta, order, dp_rdp_penalty_published);
}
