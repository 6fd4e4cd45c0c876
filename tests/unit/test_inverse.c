/* The inverse of a matrix: its product with the matrix, pivots, and matrices that are nearly singular. */
#include "drawn.h"
#include "unit.h"

#include "math/inverse.h"

enum { MOST = 90 };

static double m[MOST * MOST];
static struct dp_stream stream;

static int setup(void **state)
{
    (void)state;
    stream = stream_of(3, "inverse");
    return 0;
}

static void fill(size_t d)
{
    for (size_t i = 0; i < d * d; i++)
        m[i] = (double)(dp_stream_next(&stream) >> 11) * 0x1p-52 - 1;
}

/* The largest distance of an entry of M A from the unit matrix. */
static double error_of(const double *inverse, size_t d)
{
    double most = 0;
    for (size_t i = 0; i < d; i++)
        for (size_t k = 0; k < d; k++) {
            double sum = i == k ? -1 : 0;
            for (size_t j = 0; j < d; j++)
                sum += m[i * d + j] * inverse[j * d + k];
            most = fmax(most, fabs(sum));
        }
    return most;
}

static void check(size_t d)
{
    double *inverse = dp_inverse(m, d);
    assert_non_null(inverse);
    assert_true(error_of(inverse, d) < 1e-8);
    free(inverse);
}

TEST(products_are_the_unit_matrix)
{
    for (size_t d = 1; d <= MOST; d += 7) {
        fill(d);
        check(d);
        for (size_t i = 0; i < d; i++) /* no pivot is where it is looked for first */
            m[i * d + i] = 0;
        if (d > 1)
            check(d);
        memset(m, 0, sizeof m);
        for (size_t i = 0; i < d; i++)
            m[i * d + (d - 1 - i)] = i % 2 ? 1e150 : -1e150;
        check(d);
    }
}

TEST(nearly_singular_matrices_have_none)
{
    fill(20);
    memcpy(m + 20 * 7, m + 20 * 11, 20 * sizeof *m);
    assert_null(dp_inverse(m, 20));
    m[20 * 7 + 3] += 1e-12;
    assert_null(dp_inverse(m, 20));
    static const double unlike[][4] = {{1, 0, 0, 0x1p-30}, {1, 0, 0, 0x1p-31},  {1, 0, 0, 0},
                                       {NAN, 0, 0, 1},     {1, 0, 0, INFINITY}, {0x1p-1030, 0, 0, 0x1p-1030}};
    for (size_t k = 0; k < sizeof unlike / sizeof *unlike; k++) {
        double *inverse = dp_inverse(unlike[k], 2);
        assert_true((inverse != NULL) == (k == 0));
        free(inverse);
    }
}

TESTS(setup, NULL)
