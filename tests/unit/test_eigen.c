/* Eigenvalues and eigenvectors against GSL's and against M v = λ v, and that their bytes are the same on every machine. */
#include "drawn.h"
#include "unit.h"

#include <gsl/gsl_eigen.h>
#include <gsl/gsl_sort_vector.h>

#include "math/eigen.h"
#include "math/whiten.h"

enum { MOST = 120 };

static double m[MOST * MOST], kept[MOST * MOST], values[MOST];
static struct dp_stream stream;

static double uniform(void)
{
    return (double)(dp_stream_next(&stream) >> 11) * 0x1p-52 - 1;
}

static int setup(void **state)
{
    (void)state;
    stream = stream_of(3, "eigen");
    return 0;
}

/* m = a sum of `rank` outer products, the j-th column of which has the size decay^j, minus `less` on the diagonal. */
static void random_matrix(size_t n, size_t rank, double decay, double less)
{
    memset(m, 0, sizeof m);
    for (size_t i = 0; i < n; i++)
        m[i * n + i] = -less;
    for (size_t k = 0; k < rank; k++) {
        double x[MOST], size = 1;
        for (size_t j = 0; j < n; j++, size *= decay)
            x[j] = uniform() * size;
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++)
                m[i * n + j] += x[i] * x[j];
    }
}

/* Solves m, and checks the answer by itself and against GSL's eigenvalues. */
static void check(size_t n)
{
    memcpy(kept, m, sizeof m);
    assert_int_equal(dp_eigen(m, n, values, NULL), DP_OK);
    double largest = fmax(fabs(values[0]), fabs(values[n - 1])), tolerance = 4 * (double)(n + 4) * 0x1p-52;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j <= i; j++) {
            double product = 0;
            for (size_t k = 0; k < n; k++)
                product += m[i * n + k] * m[j * n + k];
            assert_near(product, i == j, tolerance);
        }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double product = 0;
            for (size_t k = 0; k < n; k++)
                product += kept[j * n + k] * m[i * n + k];
            assert_true(fabs(product - values[i] * m[i * n + j]) <= tolerance * largest);
        }
    static double copy[MOST * MOST], expected[MOST];
    memcpy(copy, kept, sizeof copy);
    gsl_matrix_view matrix = gsl_matrix_view_array(copy, n, n);
    gsl_vector_view vector = gsl_vector_view_array(expected, n);
    gsl_eigen_symm_workspace *work = gsl_eigen_symm_alloc(n);
    gsl_eigen_symm(&matrix.matrix, &vector.vector, work);
    gsl_eigen_symm_free(work);
    gsl_sort_vector(&vector.vector);
    for (size_t i = 0; i < n; i++) {
        assert_true(i == 0 || values[i] <= values[i - 1]);
        assert_true(fabs(values[i] - expected[n - 1 - i]) <= tolerance * largest);
    }
}

TEST_IN(random_matrices, setup, NULL)
{
    for (size_t n = 1; n < 40; n++) {
        random_matrix(n, 2 * n, 1, 0);
        check(n);
        random_matrix(n, 2 * n, 0.5, 1); /* columns of many sizes, and eigenvalues below 0 */
        check(n);
        random_matrix(n, n / 3, 1, 0); /* many eigenvalues of 0 */
        check(n);
    }
    random_matrix(MOST, 200, 0.98, 0);
    check(MOST);
}

TEST(matrices_with_equal_eigenvalues)
{
    const size_t n = 24;
    for (int kind = 0; kind < 8; kind++) {
        memset(m, 0, sizeof m);
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < n; j++) {
                double apart = fabs((double)i - (double)j), same = i == j, middle = fabs((double)i - (double)(n - 1) / 2);
                m[i * n + j] = kind == 0   ? 0
                               : kind == 1 ? same
                               : kind == 2 ? 1
                               : kind == 3 ? same * (i < n / 2 ? -3 : 5)
                               : kind == 4 ? (i / 2 == j / 2) + same
                               : kind == 5 ? (i + j + 1 == n)
                               : kind == 6 ? (apart < 1 ? middle : apart < 2) /* Wilkinson's: pairs that nearly agree */
                                           : (apart > 0 && apart < 2) * 1e-70;
            }
        check(n);
    }
}

TEST_IN(huge_and_tiny_matrices, setup, NULL)
{
    const size_t n = 20;
    static double plain[MOST * MOST], plain_values[MOST];
    random_matrix(n, 30, 0.7, 0);
    for (int power = -900; power <= 900; power += 300) {
        double vectors[20 * 20], here[20];
        for (size_t i = 0; i < n * n; i++)
            vectors[i] = ldexp(m[i], power);
        assert_int_equal(dp_eigen(vectors, n, here, &err), DP_OK);
        if (power == -900) {
            memcpy(plain, vectors, sizeof vectors);
            memcpy(plain_values, here, sizeof here);
        }
        assert_memory_equal(vectors, plain, sizeof vectors);
        for (size_t i = 0; i < n; i++)
            assert_true(here[i] == ldexp(plain_values[i], power + 900));
    }
    /* Rows of very different sizes: some squares underflow. */
    random_matrix(n, 30, 1e-7, 0);
    check(n);
    random_matrix(n, 30, 1e7, 0);
    check(n);
}

static uint64_t digest(const double *numbers, size_t count)
{
    uint64_t sum = 0xcbf29ce484222325;
    for (size_t i = 0; i < count; i++) {
        uint64_t bits;
        memcpy(&bits, numbers + i, sizeof bits);
        for (int k = 0; k < 64; k += 8)
            sum = (sum ^ (bits >> k & 255)) * 0x100000001b3;
    }
    return sum;
}

/* The digests are part of the promise of README: the weights of a model have the same bytes on every machine. */
TEST_IN(bytes_are_those_of_every_machine, setup, NULL)
{
    static double transform[MOST * MOST];
    const size_t n = 60;
    random_matrix(n, 90, 0.95, 0.5);
    memcpy(kept, m, sizeof m);
    assert_int_equal(dp_eigen(m, n, values, &err), DP_OK);
    uint64_t vectors = digest(m, n * n), sums[2];
    for (size_t keep = 0; keep <= 7; keep += 7) {
        struct dp_whitening how = {.rows = 90, .floor = 0.3, .radius = 0.7, .keep = keep};
        double effective, curvature;
        memcpy(m, kept, sizeof m);
        assert_int_equal(dp_whiten(&how, m, n, transform, &effective, &curvature, &err), DP_OK);
        sums[keep / 7] = digest(transform, (keep > 0 ? keep : n) * n) ^ digest(&curvature, 1);
    }
    char got[128];
    snprintf(got, sizeof got, "%016llx %016llx %016llx %016llx", (unsigned long long)digest(values, n),
             (unsigned long long)vectors, (unsigned long long)sums[0], (unsigned long long)sums[1]);
    assert_string_equal(got, "21b4ea7c9ac33d11 1d4aad70471a9559 37e0294f48e84ce7 c9d1cfdc1454397b");
}

TESTS(NULL, NULL)
