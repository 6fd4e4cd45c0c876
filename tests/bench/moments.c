/* moments ROWS COLS: CPU seconds of one core for the exact second moments of dense rows of norm 1 (math/moments.h). If OpenBLAS
   is installed, its ssyrk, which rounds, is measured on the same size. Both see the same block of rows again and again. */
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>

#include "bench.h"
#include "math/grid.h"
#include "math/moments.h"

enum { BLOCK = 2000, UPPER = 121, TRANSPOSED = 112, ROW_MAJOR = 101 }; /* the numbers of cblas.h */

typedef void ssyrk(int order, int triangle, int transposed, int n, int k, float alpha, const float *a, int lda, float beta,
                   float *c, int ldc);

static double exact(const float *rows, size_t count, size_t cols)
{
    struct dp_moments m;
    int64_t *sum = calloc(dp_moments_size(cols), sizeof *sum);
    if (sum == NULL)
        exit(1);
    dp_moments_open(&m, cols, 1);
    double start = bench_seconds(CLOCK_THREAD_CPUTIME_ID);
    for (size_t i = 0; i < count; i++)
        dp_moments_add(&m, dp_row_dense(rows + i % BLOCK * cols, cols), NULL, 0, sum);
    dp_moments_flush(&m, sum);
    double took = bench_seconds(CLOCK_THREAD_CPUTIME_ID) - start;
    dp_moments_close(&m);
    free(sum);
    return took;
}

static double rounded(ssyrk *multiply, const float *rows, size_t count, size_t cols)
{
    float *c = calloc(cols * cols, sizeof *c);
    if (c == NULL)
        exit(1);
    double start = bench_seconds(CLOCK_THREAD_CPUTIME_ID);
    for (size_t i = 0; i < count; i += BLOCK)
        multiply(ROW_MAJOR, UPPER, TRANSPOSED, (int)cols, (int)(count - i < BLOCK ? count - i : BLOCK), 1, rows, (int)cols, 1,
                 c, (int)cols);
    double took = bench_seconds(CLOCK_THREAD_CPUTIME_ID) - start;
    free(c);
    return took;
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    const size_t count = strtoull(argv[1], NULL, 10), cols = strtoull(argv[2], NULL, 10);
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    void *blas = dlopen("libopenblas.so.0", RTLD_NOW);
    ssyrk *multiply = NULL;
    if (blas != NULL)
        *(void **)&multiply = dlsym(blas, "cblas_ssyrk");
    float *rows = malloc(BLOCK * cols * sizeof *rows);
    if (rows == NULL)
        return 1;
    uint64_t state = 1;
    for (size_t i = 0; i < BLOCK; i++) {
        double norm2 = 0;
        for (size_t j = 0; j < cols; j++) {
            state = state * 6364136223846793005 + 1442695040888963407;
            rows[i * cols + j] = (float)((double)(state >> 11) * 0x1p-53 - 0.5);
            norm2 += pow(rows[i * cols + j], 2);
        }
        for (size_t j = 0; j < cols; j++)
            rows[i * cols + j] *= (float)((1 - 1e-6) / sqrt(norm2));
    }
    bench_line("exact", "CPU s", exact(rows, count, cols));
    if (multiply != NULL)
        bench_line("ssyrk of OpenBLAS", "CPU s", rounded(multiply, rows, count, cols));
    free(rows);
    return 0;
}
