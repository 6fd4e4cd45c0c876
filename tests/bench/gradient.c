/* Compares one lap of private gradients with its two matrix products: softmax regression, 60000 × 784, ten classes,
   Poisson batches of 256 rows on average, fused. And the cost of clipping every example, against plain SGD. $BLAS names a BLAS
   with the cblas interface to open; otherwise OpenBLAS if it is installed, else GSL's. */
#include <dlfcn.h>

#include "line.h"

#include "math/grid.h"
#include "math/tally.h"
#include "math/loss.h"

enum { ROWS = 60000, COLS = 784, CLASSES = 10, BATCH = 256, WARM = 100, LAPS = 400 };
#define RATE "256/60000"

static double seconds(void)
{
    return bench_seconds(CLOCK_THREAD_CPUTIME_ID);
}

/* --- what is measured ------------------------------------------------------------------------------------------- */
enum what {
    BLAS_F32,
    BLAS_F64,
    BLAS_GATHERED,
    DOT,
    SOFTMAX,
    CLIP,
    ADD,
    LAP,
    SAMPLE,
    GRAD,
    NOISE,
    ACCOUNT,
    STEP,
    SAMPLE_PLAIN,
    GRAD_PLAIN,
    ACCOUNT_PLAIN,
    STEP_PLAIN,
    MEASURES
};
static const char *const names[MEASURES] = {
    "BLAS, two products, float32",
    "BLAS, two products, float64",
    "BLAS, float32, rows gathered first",
    "kernel: scores and norms (dp_rows_dot)",
    "kernel: slopes of softmax",
    "kernel: clips",
    "kernel: sum on the grid (dp_tally_add)",
    "whole lap, fused",
    "its dp-sample",
    "its dp-grad --clip 1",
    "its dp-noise",
    "its dp-account",
    "its dp-step",
    "plain lap, its dp-sample",
    "plain lap, its dp-grad --non-private",
    "plain lap, its dp-account --non-private",
    "plain lap, its dp-step",
};
static double took[MEASURES][LAPS];

static double median(enum what what)
{
    return bench_median(took[what], LAPS);
}

/* --- BLAS --------------------------------------------------------------------------------------------------------- */
enum { ROW_MAJOR = 101, PLAIN = 111, TRANSPOSED = 112 };
struct blas {
    void (*sgemm)(int, int, int, int, int, int, float, const float *, int, const float *, int, float, float *, int);
    void (*dgemm)(int, int, int, int, int, int, double, const double *, int, const double *, int, double, double *, int);
};

static const char *find_blas(struct blas *blas)
{
    static const char *const candidates[] = {"libopenblas.so.0", "libblas.so.3", "libgslcblas.so.0"};
    const char *chosen = getenv("BLAS");
    setenv("OPENBLAS_NUM_THREADS", "1", 1);
    setenv("OMP_NUM_THREADS", "1", 1);
    for (size_t i = 0; i < (chosen != NULL ? 1 : sizeof candidates / sizeof *candidates); i++) {
        const char *name = chosen != NULL ? chosen : candidates[i];
        void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
        if (library == NULL)
            continue;
        *(void **)&blas->sgemm = dlsym(library, "cblas_sgemm");
        *(void **)&blas->dgemm = dlsym(library, "cblas_dgemm");
        char *(*config)(void);
        *(void **)&config = dlsym(library, "openblas_get_config");
        if (blas->sgemm != NULL && blas->dgemm != NULL)
            return config != NULL ? config() : name;
    }
    return NULL;
}

/* X·W and Gᵀ·X */
static void products_f32(const struct blas *blas, const float *x, const float *w, const float *g, float *scores, float *sum)
{
    blas->sgemm(ROW_MAJOR, PLAIN, PLAIN, BATCH, CLASSES, COLS, 1, x, COLS, w, CLASSES, 0, scores, CLASSES);
    blas->sgemm(ROW_MAJOR, TRANSPOSED, PLAIN, CLASSES, COLS, BATCH, 1, g, CLASSES, x, COLS, 0, sum, COLS);
}

static void products_f64(const struct blas *blas, const double *x, const double *w, const double *g, double *scores,
                         double *sum)
{
    blas->dgemm(ROW_MAJOR, PLAIN, PLAIN, BATCH, CLASSES, COLS, 1, x, COLS, w, CLASSES, 0, scores, CLASSES);
    blas->dgemm(ROW_MAJOR, TRANSPOSED, PLAIN, CLASSES, COLS, BATCH, 1, g, CLASSES, x, COLS, 0, sum, COLS);
}

static void measure_blas(const struct blas *blas, const struct dp_dataset *d, const int64_t *id, int lap)
{
    static float x[BATCH * COLS], w[COLS * CLASSES], g[BATCH * CLASSES], scores[BATCH * CLASSES], sum[CLASSES * COLS];
    static double x2[BATCH * COLS], w2[COLS * CLASSES], g2[BATCH * CLASSES], scores2[BATCH * CLASSES], sum2[CLASSES * COLS];
    for (size_t j = 0; j < COLS * CLASSES; j++)
        w2[j] = w[j] = (float)(j % 7) - 3;
    for (size_t j = 0; j < BATCH * CLASSES; j++)
        g2[j] = g[j] = (float)(j % 5) - 2;
    double start = seconds();
    for (size_t i = 0; i < BATCH; i++)
        memcpy(x + i * COLS, dp_dataset_row(d, (size_t)id[i]).values, COLS * sizeof *x);
    products_f32(blas, x, w, g, scores, sum);
    took[BLAS_GATHERED][lap] = seconds() - start;
    start = seconds(); /* now everything is in the cache */
    products_f32(blas, x, w, g, scores, sum);
    took[BLAS_F32][lap] = seconds() - start;
    for (size_t j = 0; j < BATCH * COLS; j++)
        x2[j] = (double)x[j];
    products_f64(blas, x2, w2, g2, scores2, sum2);
    start = seconds();
    products_f64(blas, x2, w2, g2, scores2, sum2);
    took[BLAS_F64][lap] = seconds() - start;
}

/* --- only the kernels, on rows in the cache ----------------------------------------------------------------------- */
static void measure_kernels(const struct dp_dataset *d, const int64_t *id, int lap)
{
    static double w[CLASSES * COLS], zeta[BATCH * CLASSES], norm2[BATCH];
    static float c[BATCH * CLASSES];
    static int64_t sum[CLASSES * COLS];
    static struct dp_tally tally;
    struct dp_row rows[BATCH];
    double at[5];
    for (size_t j = 0; j < CLASSES * COLS; j++)
        w[j] = (double)(j % 7) - 3;
    for (int again = 0; again < 2; again++) {
        for (size_t i = 0; i < BATCH; i++)
            rows[i] = dp_dataset_row(d, (size_t)id[i]);
        at[0] = seconds();
        for (size_t i = 0; i < BATCH; i += DP_ROWS)
            dp_rows_dot(rows + i, DP_ROWS, NULL, w, CLASSES, COLS, zeta + i * CLASSES, norm2 + i);
        at[1] = seconds();
        for (size_t i = 0; i < BATCH; i++)
            dp_softmax_slope(zeta + i * CLASSES, CLASSES, (size_t)d->y[id[i]], zeta + i * CLASSES);
        at[2] = seconds();
        for (size_t i = 0; i < BATCH; i++)
            dp_grid_clip(zeta + i * CLASSES, CLASSES, 1, norm2[i], COLS, c + i * CLASSES);
        at[3] = seconds();
        dp_tally_begin(&tally, CLASSES, COLS, 0, dp_grid_for(1));
        for (size_t i = 0; i < BATCH; i += DP_ROWS)
            dp_tally_add(&tally, c + i * CLASSES, rows + i, DP_ROWS);
        dp_tally_end(&tally, sum);
        at[4] = seconds();
    }
    for (int i = 0; i < 4; i++)
        took[DOT + i][lap] = at[i + 1] - at[i];
}

/* Rows like images: a fifth of the entries are not zero, norm 1. */
static int write_row(struct dp_writer *writer, int i, struct dp_err *err)
{
    static unsigned char bytes[2 * COLS];
    double x[COLS];
    struct dp_key key;
    dp_key_derive(&key, 1, "bench", 0);
    dp_draw(&key, DP_DRAW_NOISE, (uint64_t)i, 0, bytes, sizeof bytes);
    for (size_t j = 0; j < COLS; j++)
        x[j] = bytes[j] < 51 ? (double)bytes[COLS + j] / 255 : 0;
    return dp_writer_row(writer, x, bytes[0] % CLASSES, err);
}

/* A lap of a line, whose parts are measured as `what` and what follows it */
static int take_lap(struct line *line, int64_t lap, enum what what, int at, struct dp_err *err)
{
    double times[5];
    int rc = line_lap(line, lap, times, err);
    for (int i = 0; i < line->parts; i++)
        took[(int)what + i][at] = times[i];
    return rc;
}

static void ratio(const char *what, double over, double under)
{
    bench_line(what, "ratio", over / under);
}

static struct blas blas;

static void report(void)
{
    for (int i = blas.sgemm != NULL ? 0 : DOT; i < MEASURES; i++)
        bench_line(names[i], "µs", 1e6 * median((enum what)i));
    double private = 0, plain = 0, kernels = median(DOT) + median(ADD), without = kernels + median(SOFTMAX);
    for (int i = SAMPLE; i <= STEP; i++)
    private += median((enum what)i);
    for (int i = SAMPLE_PLAIN; i <= STEP_PLAIN; i++)
        plain += median((enum what)i);
    if (blas.sgemm != NULL) {
        ratio("dp-grad to two float32 products", median(GRAD), median(BLAS_F32));
        ratio("dp-grad to two float64 products", median(GRAD), median(BLAS_F64));
        ratio("dp-grad to two float32 products of rows gathered first", median(GRAD), median(BLAS_GATHERED));
        ratio("whole lap to two float32 products", median(LAP), median(BLAS_F32));
        ratio("both kernels to two float32 products", kernels, median(BLAS_F32));
    }
    ratio("dp-grad --clip 1 to --non-private", median(GRAD), median(GRAD_PLAIN));
    ratio("private lap to plain SGD, noise and gate too", private, plain);
    ratio("kernels with clip to without", without + median(CLIP), without);
}

#define STAGE_SAMPLE "dp-sample --data '%s' --rate " RATE
#define STAGE_GRAD "dp-grad --data '%s' --loss softmax --clip 1 --threads 1"
#define STAGE_GATE "dp-account --epsilon 1000 --delta 1e-5 --allow-seeded"

static int measure(const char *path, struct dp_err *err)
{
    static const char *const whole[] = {STAGE_SAMPLE " | " STAGE_GRAD " | dp-noise -z 1 | " STAGE_GATE " | dp-step --step 0.5"};
    static const char *const private[] = {STAGE_SAMPLE, STAGE_GRAD, "dp-noise -z 1", STAGE_GATE, "dp-step --step 0.5"};
    static const char *const plain[] = {STAGE_SAMPLE, "dp-grad --data '%s' --loss softmax --non-private --threads 1",
                                        "dp-account --non-private --allow-seeded", "dp-step --step 0.5"};
    struct line line[3] = {0};
    struct dp_dataset *d = NULL;
    struct dp_stream stream;
    struct dp_key key;
    int64_t id[BATCH];
    dp_key_derive(&key, 1, "bench", 1);
    dp_stream_start(&stream, &key, DP_DRAW_BATCH, 0);
    int rc = write_rows(path, ROWS, COLS, CLASSES, write_row, err);
    rc = rc ?: dp_dataset_open(&d, path, err);
    /* Separate batches: the rows of another line's batches would be in the cache already. */
    rc = rc ?: line_open(&line[0], whole, 1, WARM + LAPS, 1, path, err);
    rc = rc ?: line_open(&line[1], private, 5, WARM + LAPS, 2, path, err);
    rc = rc ?: line_open(&line[2], plain, 4, WARM + LAPS, 3, path, err);
    for (int lap = 1; rc == DP_OK && lap <= WARM + LAPS; lap++) {
        int at = lap > WARM ? lap - WARM - 1 : 0;
        for (size_t i = 0; i < BATCH; i++)
            id[i] = (int64_t)dp_stream_below(&stream, ROWS);
        if (blas.sgemm != NULL)
            measure_blas(&blas, d, id, at);
        measure_kernels(d, id, at);
        rc = take_lap(&line[0], lap, LAP, at, err);
        rc = rc ?: take_lap(&line[1], lap, SAMPLE, at, err);
        rc = rc ?: take_lap(&line[2], lap, SAMPLE_PLAIN, at, err);
    }
    for (int i = 0; i < 3; i++)
        line_close(&line[i]);
    dp_dataset_close(d);
    return rc;
}

int main(void)
{
    const char *name = find_blas(&blas);
    printf("the BLAS is %s\tnote\tnote\n", name != NULL ? name : "missing");
    int rc = in_directory("gradient", measure);
    if (rc == DP_OK)
        report();
    return rc != DP_OK;
}
