/* Prints math/gaussian_table.inc, which lib/math/gaussian.c includes: for each row the coefficients, lowest first, of the
   polynomial of degree 7 that meets the normal quantile x(V), erfc(x/√2) = V, at 8 Chebyshev nodes. The build runs it. Nothing
   depends on its correctness: tests/unit/test_gaussian.c proves the error bound for the numbers that it printed. */
#include <mpfr.h>
#include <stdio.h>

#include "math/gaussian.h"

#define N DP_GAUSSIAN_COEFFICIENTS
#define BITS 300

/* x = the positive solution of erfc(x/√2) = v, by Newton's method. */
static void quantile(const mpfr_t v, mpfr_t x)
{
    mpfr_t f, slope;
    mpfr_inits2(BITS, f, slope, (mpfr_ptr)0);
    mpfr_set_zero(x, 1); /* erfc is convex on x > 0, so the steps only grow x */
    for (int i = 0; i < 200; i++) {
        mpfr_sqr(slope, x, MPFR_RNDN);
        mpfr_neg(slope, slope, MPFR_RNDN);
        mpfr_exp(slope, slope, MPFR_RNDN);
        mpfr_const_pi(f, MPFR_RNDN);
        mpfr_sqrt(f, f, MPFR_RNDN);
        mpfr_div(slope, slope, f, MPFR_RNDN);
        mpfr_mul_2ui(slope, slope, 1, MPFR_RNDN);
        mpfr_erfc(f, x, MPFR_RNDN);
        mpfr_sub(f, f, v, MPFR_RNDN);
        mpfr_div(f, f, slope, MPFR_RNDN);
        mpfr_add(x, x, f, MPFR_RNDN);
        if (mpfr_zero_p(f) || mpfr_get_exp(f) < -250)
            break;
    }
    mpfr_set_ui(f, 2, MPFR_RNDN);
    mpfr_sqrt(f, f, MPFR_RNDN);
    mpfr_mul(x, x, f, MPFR_RNDN);
    mpfr_clears(f, slope, (mpfr_ptr)0);
}

int main(void)
{
    mpfr_t node[N], value[N], v, term, c[N];
    mpfr_inits2(BITS, v, term, (mpfr_ptr)0);
    for (int i = 0; i < N; i++)
        mpfr_inits2(BITS, node[i], value[i], c[i], (mpfr_ptr)0);
    for (int i = 0; i < N; i++) {
        mpfr_const_pi(node[i], MPFR_RNDN);
        mpfr_mul_si(node[i], node[i], 2 * i + 1, MPFR_RNDN);
        mpfr_div_si(node[i], node[i], 2 * N, MPFR_RNDN);
        mpfr_cos(node[i], node[i], MPFR_RNDN);
        mpfr_div_si(node[i], node[i], 2 * DP_GAUSSIAN_PARTS, MPFR_RNDN);
    }
    for (int row = 0; row < DP_GAUSSIAN_ROWS; row++) {
        for (int i = 0; i < N; i++) {
            mpfr_add_d(v, node[i], dp_gaussian_row_middle(row), MPFR_RNDN);
            mpfr_mul_d(v, v, dp_gaussian_row_octave(row), MPFR_RNDN);
            quantile(v, value[i]);
        }
        for (int j = 1; j < N; j++) /* divided differences */
            for (int i = N - 1; i >= j; i--) {
                mpfr_sub(value[i], value[i], value[i - 1], MPFR_RNDN);
                mpfr_sub(term, node[i], node[i - j], MPFR_RNDN);
                mpfr_div(value[i], value[i], term, MPFR_RNDN);
            }
        for (int i = 0; i < N; i++)
            mpfr_set_zero(c[i], 1);
        for (int j = N - 1; j >= 0; j--) { /* c = c (t − node j) + value j */
            for (int i = N - 1; i >= 0; i--) {
                mpfr_mul(c[i], c[i], node[j], MPFR_RNDN);
                mpfr_neg(c[i], c[i], MPFR_RNDN);
                if (i > 0)
                    mpfr_add(c[i], c[i], c[i - 1], MPFR_RNDN);
            }
            mpfr_add(c[0], c[0], value[j], MPFR_RNDN);
        }
        putchar('{');
        for (int i = 0; i < N; i++)
            printf("%a%s", mpfr_get_d(c[i], MPFR_RNDN), i == N - 1 ? "},\n" : i == N / 2 - 1 ? ",\n " : ", ");
    }
    return 0;
}
