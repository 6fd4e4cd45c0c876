/* How many Gaussian draws a second one core makes, by scale. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "math/gaussian.h"

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(void)
{
    enum { DRAWS = 1 << 16 };
    static int64_t out[DRAWS];
    const double scales[] = {0.3, 1e5, 1e6, 1e8, 1e10, 1e12, 0x1p48};
    struct dp_key key;
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
        printf("gaussian, scale %-12g %10.3f million draws a second\n", scales[i], (double)total / took / 1e6);
    }
    return 0;
}
