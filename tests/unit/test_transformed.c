/* Rows after a transform: products by definition, norms, and independence of a row's z from the other rows. */
#include "drawn.h"
#include "unit.h"

#include "math/panels.h"
#include "stages/transformed.h"

enum { ROWS = 4300, COLS = 37, WIDTH = 21 };

static struct dp_stream stream;
static float x[ROWS * COLS];
static double matrix[WIDTH * (COLS + 1)];
static int64_t everyone[ROWS];

static double uniform(void)
{
    return uniform_of(&stream) - 0.5;
}

static void fill(double size)
{
    stream = stream_of(3, "transformed");
    for (size_t i = 0; i < ROWS * COLS; i++)
        x[i] = uniform() > 0.2 ? 0 : (float)uniform();
    for (size_t i = 0; i < sizeof matrix / sizeof *matrix; i++)
        matrix[i] = size * uniform();
    for (size_t i = 0; i < ROWS; i++)
        everyone[i] = (int64_t)i;
}

/* Row i as a sparse one; values and columns have room for COLS. */
static struct dp_row sparse_row(size_t i, float *values, int32_t *columns)
{
    struct dp_row row = dp_row_sparse(values, columns, 0);
    for (size_t j = 0; j < COLS; j++)
        if (x[i * COLS + j] != 0) {
            values[row.count] = x[i * COLS + j];
            columns[row.count++] = (int32_t)j;
        }
    return row;
}

static double product_of(size_t i, size_t k, size_t cols, double constant)
{
    double sum = 0;
    for (size_t j = 0; j < COLS; j++)
        sum += (double)x[i * COLS + j] * matrix[k * cols + j];
    return cols > COLS ? sum + constant * matrix[k * cols + COLS] : sum;
}

TEST(products_are_sums_in_the_order_of_columns)
{
    fill(3);
    for (size_t cols = COLS; cols <= COLS + 1; cols++)
        for (size_t width = 1; width <= WIDTH; width += 4)
            for (size_t count = 1; count <= 9; count += 2) {
                struct dp_panels panels = {0};
                struct dp_row dense[9], sparse[9];
                float values[9][COLS];
                int32_t columns[9][COLS];
                double a[9 * WIDTH], b[9 * WIDTH];
                dp_panels_open(&panels, matrix, width, cols);
                double *wide = calloc(dp_panels_room(&panels), sizeof *wide);
                assert_non_null(wide);
                for (size_t i = 0; i < count; i++) {
                    dense[i] = dp_row_dense(x + i * COLS, COLS);
                    sparse[i] = sparse_row(i, values[i], columns[i]);
                }
                dp_panels_multiply(&panels, dense, count, COLS, 0.25, wide, a);
                dp_panels_multiply(&panels, sparse, count, COLS, 0.25, wide, b);
                for (size_t i = 0; i < count; i++)
                    for (size_t k = 0; k < width; k++)
                        assert_true(a[i * width + k] == product_of(i, k, cols, 0.25));
                assert_memory_equal(a, b, count * width * sizeof *a);
                dp_panels_close(&panels);
                free(wide);
            }
}

/* Takes rows first … of the batch, which is inline. */
static void take(struct dp_transformed *transformed, struct dp_transform t, size_t first, size_t count)
{
    struct dp_frame *frame;
    struct dp_transformed_batch batch = {
        .count = count, .features = COLS, .constant = 0.5, .id = everyone + first, .x = x + first * COLS};
    frame = dp_frame_new();
    assert_int_equal(dp_transformed_take(transformed, &t, &batch, frame, NULL), 0);
    dp_frame_free(frame);
}

static struct dp_transform transform_of(bool unit, bool uncut)
{
    return (struct dp_transform){.matrix = matrix, .rows = WIDTH, .cols = COLS + 1, .unit = unit, .uncut = uncut};
}

TEST(rows_are_cut_to_norm_1_as_floats)
{
    static const double sizes[] = {1e-320, 1e-30, 1, 1.5, 3, 1e30, 1e150, 1e307};
    for (size_t n = 0; n < sizeof sizes / sizeof *sizes; n++)
        for (int unit = 0; unit < 2; unit++) {
            struct dp_transformed transformed = {.threads = 1};
            fill(sizes[n]);
            take(&transformed, transform_of(unit, false), 0, ROWS);
            for (size_t i = 0; i < ROWS; i++) {
                long double norm2 = 0;
                struct dp_row z = dp_transformed_row(&transformed, i);
                assert_int_equal(z.count, WIDTH);
                for (size_t k = 0; k < WIDTH; k++)
                    norm2 += (long double)z.values[k] * (long double)z.values[k];
                assert_true(norm2 <= 1);
                assert_true(dp_transformed_norm2(&transformed, i) == dp_row_norm2(z));
                if (sizes[n] == 1e30)
                    assert_true(norm2 > 0.999L);
            }
            dp_transformed_close(&transformed);
        }
}

TEST(a_score_is_that_of_the_row_that_was_cut)
{
    for (int how = 0; how < 4; how++) {
        struct dp_transformed transformed = {.threads = 1};
        fill(0.75);
        take(&transformed, transform_of(how & 1, how & 2), 0, ROWS);
        size_t cut = 0;
        for (size_t i = 0; i < ROWS; i++) {
            double s = dp_transformed_cut(&transformed, i), norm2 = 0, length2 = 0.25;
            for (size_t j = 0; j < COLS; j++)
                length2 += (double)x[i * COLS + j] * (double)x[i * COLS + j];
            for (size_t k = 0; k < WIDTH; k++) {
                double product = product_of(i, k, COLS + 1, 0.5);
                norm2 += product * product;
                assert_true(fabs((double)dp_transformed_row(&transformed, i).values[k] - s * product) <=
                            0x1p-24 * fabs(s * product));
            }
            double expected = how & 1 ? 1 / sqrt(length2) : 1;
            cut += norm2 * expected * expected > 1;
            if (!(how & 2))
                expected = fmin(expected, 1 / sqrt(norm2));
            assert_true(fabs(s / expected - 1) < 0x1p-21);
        }
        assert_true(cut > ROWS / 10 && cut < ROWS);
        dp_transformed_close(&transformed);
    }
}

/* With a row for the constant behind the others, and without. */
TEST(scores_of_z_are_those_of_x)
{
    static double tall[(COLS + 2) * (COLS + 1)], w[2 * (COLS + 1)];
    for (size_t rows = COLS + 1; rows <= COLS + 2; rows++) {
        struct dp_transformed transformed = {.threads = 1};
        fill(1);
        for (size_t i = 0; i < sizeof tall / sizeof *tall; i++)
            tall[i] = 0.2 * uniform() + (i % (COLS + 2) == 0);
        for (size_t i = 0; i < sizeof w / sizeof *w; i++)
            w[i] = uniform();
        take(&transformed, (struct dp_transform){.matrix = tall, .rows = rows, .cols = COLS + 1}, 0, ROWS);
        assert_null(transformed.model);
        dp_transformed_turn(&transformed, w, 2);
        assert_non_null(transformed.model);
        for (size_t i = 0; i < ROWS; i++)
            for (size_t k = 0; k < 2; k++) {
                double score = 0.5 * w[k * (COLS + 1) + COLS];
                for (size_t j = 0; j < COLS; j++)
                    score += (double)x[i * COLS + j] * w[k * (COLS + 1) + j];
                score *= dp_transformed_cut(&transformed, i);
                assert_true(fabs(dp_row_dot(dp_transformed_row(&transformed, i), transformed.model + k * rows) - score) < 1e-6);
            }
        memcpy(tall, tall + COLS + 1, (COLS + 1) * sizeof *tall); /* a singular matrix: scores are made of x */
        take(&transformed, (struct dp_transform){.matrix = tall, .rows = rows, .cols = COLS + 1}, 0, ROWS);
        dp_transformed_turn(&transformed, w, 2);
        assert_null(transformed.model);
        dp_transformed_close(&transformed);
    }
}

/* The same z of row a + i of one and of row b + i of the other, for count rows. */
static void assert_same_z(const struct dp_transformed *one, size_t a, const struct dp_transformed *other, size_t b,
                          size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_memory_equal(dp_transformed_row(one, a + i).values, dp_transformed_row(other, b + i).values,
                            WIDTH * sizeof(float));
}

TEST(z_does_not_depend_on_threads_or_the_rest_of_the_batch)
{
    struct dp_transformed all = {.threads = 1}, three = {.threads = 3}, part = {.threads = 2};
    fill(2);
    take(&all, transform_of(false, false), 0, ROWS);
    take(&three, transform_of(false, false), 0, ROWS);
    assert_same_z(&all, 0, &three, 0, ROWS);
    assert_memory_equal(all.cut, three.cut, ROWS * sizeof *all.cut);
    for (size_t first = 0; first < ROWS; first += 67) {
        size_t count = ROWS - first < 67 ? ROWS - first : 67;
        take(&part, transform_of(false, false), first, count);
        assert_same_z(&all, first, &part, 0, count);
    }
    matrix[5] += 0x1p-40; /* another transform: rows are computed again */
    take(&three, transform_of(false, false), 0, ROWS);
    assert_memory_not_equal(all.cut, three.cut, ROWS * sizeof *all.cut);
    matrix[5] -= 0x1p-40;
    take(&three, transform_of(false, false), 0, ROWS);
    assert_same_z(&all, 0, &three, 0, ROWS);
    dp_transformed_close(&all);
    dp_transformed_close(&three);
    dp_transformed_close(&part);
}

TEST(rows_and_transforms_that_are_none)
{
    struct dp_transformed transformed = {.threads = 1};
    struct dp_frame *frame;
    fill(2);
    x[3 * COLS + 4] = NAN;
    x[4 * COLS + 4] = INFINITY;
    take(&transformed, transform_of(false, false), 0, ROWS);
    for (size_t i = 3; i < 5; i++)
        for (size_t k = 0; k < WIDTH; k++)
            assert_true(dp_transformed_row(&transformed, i).values[k] == 0);
    assert_true(dp_transformed_norm2(&transformed, 5) > 0);
    frame = dp_frame_new();
    frame->lap = 9;
    matrix[7] = NAN;
    struct dp_transform t = transform_of(false, false);
    struct dp_transformed_batch batch = {.count = 1, .features = COLS, .id = everyone, .x = x};
    assert_fails(dp_transformed_take(&transformed, &t, &batch, frame, &err), DP_E_RUN, "the transform of lap 9 is not finite");
    dp_frame_free(frame);
    dp_transformed_close(&transformed);
}

TESTS(NULL, NULL)
