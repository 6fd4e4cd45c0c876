/* Used by the programs of tests/bench: a clock, a median, and the output line of a figure. */
#pragma once
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* Seconds of the clock CLOCK: CLOCK_MONOTONIC, or CLOCK_THREAD_CPUTIME_ID if one thread computes. */
static inline double bench_seconds(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static inline int bench_ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The middle of n values, which it sorts. */
static inline double bench_median(double *values, size_t n)
{
    qsort(values, n, sizeof *values, bench_ascending);
    return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

/* One value, as tests/bench/run collects them: what was measured, its unit, the number. */
static inline void bench_line(const char *what, const char *unit, double value)
{
    printf("%s\t%s\t%.6g\n", what, unit, value);
}
