/* Draws per second on one core, by scale; and the time for a vector of gamma noise, by dimension. */
#include "bench.h"
#include "math/gamma_norm.h"
#include "math/gaussian.h"
#include "math/laplace.h"

static double seconds(void)
{
    return bench_seconds(CLOCK_THREAD_CPUTIME_ID);
}

int main(void)
{
    enum { DRAWS = 1 << 16 };
    static int64_t out[DRAWS];
    const double scales[] = {0.3, 1e5, 1e6, 1e8, 1e10, 1e12, 0x1p48};
    struct dp_key key;
    char what[80];
    dp_key_derive(&key, 1, "bench", 0);
    for (size_t i = 0; i < sizeof scales / sizeof scales[0]; i++) {
        size_t total = 0, share = scales[i] > 1e13 ? 1024 : DRAWS;
        double start = seconds(), took;
        do {
            if (dp_gaussian_draw(&key, DP_DRAW_NOISE, 1, total, scales[i], out, share) != 0)
                return 1;
            total += share;
            took = seconds() - start;
        } while (took < 0.5);
        snprintf(what, sizeof what, "gaussian, scale %g", scales[i]);
        bench_line(what, "M draws/s", (double)total / took / 1e6);
    }
    double start = seconds();
    if (dp_laplace_draw(&key, DP_DRAW_NOISE, 1, 0, 1e6, out, DRAWS) != 0)
        return 1;
    bench_line("laplace, scale 1e+06", "M draws/s", DRAWS / (seconds() - start) / 1e6);
    for (size_t d = 100; d <= 10000; d *= 10) {
        struct dp_err err;
        start = seconds();
        if (dp_gamma_norm_draw(&key, DP_DRAW_NOISE, 1, 0, 1e6, d, out, &err) != 0)
            return 1;
        snprintf(what, sizeof what, "gamma, %zu dimensions", d);
        bench_line(what, "ms", 1e3 * (seconds() - start));
    }
    return 0;
}
