/* Sums of losses along a line: any rows, any number of threads, and the largest change that one person can make. */
#include "drawn.h"
#include "unit.h"

#include "math/grid.h"
#include "stages/along.h"

enum { ROWS = 700, COLS = 9 };

static float x[ROWS * COLS];
static double y[ROWS];
static struct dp_stream stream;

static double uniform(void)
{
    return uniform_of(&stream);
}

static void start(int64_t seed)
{
    stream = stream_of(seed, "along");
}

static struct dp_batch batch_of(size_t first, size_t count, float intercept)
{
    return (struct dp_batch){.count = count,
                             .features = COLS,
                             .cols = COLS + (intercept != 0 ? 1 : 0),
                             .intercept = intercept,
                             .x = x + first * COLS,
                             .y = y + first};
}

static void fill(const struct dp_line *line)
{
    for (size_t i = 0; i < ROWS * COLS; i++)
        x[i] = (float)(uniform() - 0.5);
    for (size_t i = 0; i < ROWS; i++)
        y[i] = line->classes > 0               ? floor(uniform() * (double)line->classes)
               : line->loss == DP_LOSS_POISSON ? floor(4 * uniform())
                                               : uniform();
}

static double loss_of(const struct dp_line *line, size_t i, const double *w, size_t cols, float intercept)
{
    double u[4], sum = 0;
    for (size_t k = 0; k < line->outputs; k++) {
        u[k] = (double)intercept * (intercept != 0 ? w[k * cols + COLS] : 0);
        for (size_t j = 0; j < COLS; j++)
            u[k] += (double)x[i * COLS + j] * w[k * cols + j];
        sum += dp_loss_value(line->loss, line->width, dp_loss_target(y[i], line->classes, line->outputs, k), u[k]);
    }
    if (line->loss == DP_LOSS_SOFTMAX)
        return dp_softmax_value(u, line->outputs, (size_t)y[i]);
    return sum + (line->loss == DP_LOSS_POISSON && y[i] > 0 ? y[i] * log(y[i]) - y[i] : 0);
}

/* The sums match the definition, up to one grid step per row, for batches of any size and any number of threads. */
TEST(sums_are_those_of_the_definition)
{
    const size_t sizes[] = {0, 1, 7, 8, 9, 255, 256, 257, ROWS};
    double w[40], d[40], moved[40];
    start(1);
    for (int round = 0; round < 9 * DP_LOSS_COUNT; round++) {
        enum dp_loss loss = (enum dp_loss)(round % DP_LOSS_COUNT);
        bool several = dp_loss_is_classification(loss) && (loss == DP_LOSS_SOFTMAX || round % 2 == 0);
        size_t outputs = several ? 4 : 1, count = sizes[round / DP_LOSS_COUNT];
        struct dp_line line = {loss, 0.5, several ? 4 : dp_loss_is_classification(loss) ? 2 : 0, outputs};
        float intercept = round % 3 == 0 ? 0.75f : 0;
        double eta = uniform(), bound = 2 + 4 * uniform(), step = dp_grid_for(bound), fall = 0, sum = 0;
        struct dp_form form = dp_form_for(&dp_family_linear, COLS, outputs, (double)intercept);
        struct dp_batch batch = batch_of(0, count, intercept);
        fill(&line);
        for (size_t j = 0; j < form.rows * form.cols; j++) {
            w[j] = 4 * uniform() - 2;
            d[j] = 4 * uniform() - 2;
            moved[j] = w[j] - eta * d[j];
        }
        for (size_t i = 0; i < count; i++) {
            double from = fmin(fmax(loss_of(&line, i, w, form.cols, intercept), 0), bound);
            double to = fmin(fmax(loss_of(&line, i, moved, form.cols, intercept), 0), bound);
            fall += from - to;
            sum += to;
        }
        int64_t got[2][2];
        for (int threads = 1; threads <= 3; threads += 2) {
            struct dp_along along = {0};
            dp_along_open(&along, &line, &form, bound, threads);
            dp_along_take(&along, &batch, w, d);
            got[threads / 2][0] = dp_along_fall(&along, eta);
            got[threads / 2][1] = dp_along_sum(&along, eta);
            assert_int_equal(dp_along_fall(&along, 0), 0);
            dp_along_close(&along);
        }
        assert_memory_equal(got[0], got[1], sizeof got[0]);
        assert_true(fabs((double)got[0][0] * step - fall) <= (double)count * step * 1.01);
        assert_true(fabs((double)got[0][1] * step - sum) <= (double)count * step * 1.01);
        assert_true(count < 100 || (fabs(fall) > 0.01 && sum > 1));
    }
}

/* One row more or less, with any content, moves a fall by at most bound / grid in either direction, and a sum by 0 to bound /
   grid. */
TEST(a_person_moves_a_sum_by_the_bound_at_most)
{
    const double odd[] = {0, 1, -1, 3e38, -3e38, 1e-45, NAN, INFINITY, -INFINITY, 1e6};
    const double odd_labels[] = {0, 1, 2, -1, 0.5, 1e300, NAN, INFINITY};
    enum { OTHERS = 20 };
    double w[40], d[40];
    int64_t largest = 0, smallest = 0;
    start(2);
    for (int round = 0; round < 4000; round++) {
        enum dp_loss loss = (enum dp_loss)(round % DP_LOSS_COUNT);
        bool several = dp_loss_is_classification(loss) && (loss == DP_LOSS_SOFTMAX || round % 2 == 0);
        struct dp_line line = {loss, 0.5, several ? 4 : dp_loss_is_classification(loss) ? 2 : 0, several ? 4 : 1};
        struct dp_form form = dp_form_for(&dp_family_linear, COLS, line.outputs, 0);
        double eta = ldexp(uniform(), (int)dp_stream_below(&stream, 30) - 10), bound = 1 + uniform();
        struct dp_batch with = batch_of(0, OTHERS, 0), without = batch_of(1, OTHERS - 1, 0);
        struct dp_along along = {0};
        fill(&line);
        for (size_t j = 0; j < COLS && round % 3 != 0; j++)
            x[j] = (float)odd[dp_stream_below(&stream, round % 3 == 1 ? 6 : 10)];
        if (round % 5 == 0)
            y[0] = odd_labels[dp_stream_below(&stream, 8)];
        for (size_t j = 0; j < form.rows * form.cols; j++) {
            w[j] = 4 * uniform() - 2;
            d[j] = 4 * uniform() - 2;
        }
        int64_t most = (int64_t)floor(bound / dp_grid_for(bound)), fall, sum;
        dp_along_open(&along, &line, &form, bound, 1);
        dp_along_take(&along, &with, w, d);
        fall = dp_along_fall(&along, eta);
        sum = dp_along_sum(&along, eta);
        dp_along_take(&along, &without, w, d);
        fall -= dp_along_fall(&along, eta);
        sum -= dp_along_sum(&along, eta);
        assert_true(fall >= -most && fall <= most);
        assert_true(sum >= 0 && sum <= most);
        largest = fall > largest ? fall : largest;
        smallest = fall < smallest ? fall : smallest;
        dp_along_close(&along);
    }
    assert_true(largest > 1 << 20 && smallest < -(1 << 20)); /* the bound is nearly reached */
}

/* The clipped loss of row i by a network's scores. */
static double network_loss(const struct dp_line *line, const struct dp_form *form, void *room, const double *w, size_t i,
                           double bound)
{
    double u[4];
    struct dp_row row = {.count = COLS, .values = x + i * COLS};
    form->family->score(form, w, &row, 1, NULL, u, NULL, room);
    double loss = line->loss == DP_LOSS_SOFTMAX ? dp_softmax_value(u, line->outputs, (size_t)y[i])
                                                : dp_loss_value(line->loss, line->width, y[i], u[0]);
    return fmin(fmax(loss, 0), bound);
}

/* The same for a network, which scores the rows again at each step size. One person, with any content, changes a sum as
   above. */
TEST(sums_of_a_network_are_those_of_the_definition)
{
    const double odd[] = {0, 1, -1, 3e38, -3e38, 1e-45, NAN, INFINITY, -INFINITY, 1e6};
    double w[128], d[128], moved[128];
    start(3);
    for (int round = 0; round < 60; round++) {
        bool several = round % 2 == 0;
        struct dp_line line = {several ? DP_LOSS_SOFTMAX : DP_LOSS_SQUARED, 1, several ? 4 : 0, several ? 4 : 1};
        struct dp_form form;
        struct dp_along along = {0};
        void *room;
        size_t count = (size_t)round * 9;
        double eta = uniform(), bound = 2 + uniform(), grid = dp_grid_for(bound), fall = 0, sum = 0;
        int64_t most = (int64_t)floor(bound / grid), got[2][3];
        assert_int_equal(
            dp_form_network(&form, several ? "3x3x1; conv 2 2x2 tanh; fc 3 relu; fc 4" : "9; fc 5 tanh; fc 1", &err), DP_OK);
        assert_true(form.cols <= 128);
        room = dp_form_room(&form);
        fill(&line);
        for (size_t j = 0; j < form.cols; j++) {
            w[j] = 2 * uniform() - 1;
            d[j] = 2 * uniform() - 1;
            moved[j] = w[j] - eta * d[j];
        }
        for (size_t i = 0; i < count; i++) {
            double to = network_loss(&line, &form, room, moved, i, bound);
            fall += network_loss(&line, &form, room, w, i, bound) - to;
            sum += to;
        }
        struct dp_batch all = batch_of(0, count, 0), others = batch_of(1, count > 0 ? count - 1 : 0, 0);
        for (int threads = 1; threads <= 3; threads += 2) {
            dp_along_open(&along, &line, &form, bound, threads);
            dp_along_take(&along, &all, w, d);
            got[threads / 2][0] = dp_along_fall(&along, eta);
            got[threads / 2][1] = dp_along_sum(&along, eta);
            got[threads / 2][2] = dp_along_fall(&along, 0);
            dp_along_close(&along);
        }
        assert_memory_equal(got[0], got[1], sizeof got[0]);
        assert_int_equal(got[0][2], 0);
        assert_true(fabs((double)got[0][0] * grid - fall) <= (double)count * grid * 1.01);
        assert_true(fabs((double)got[0][1] * grid - sum) <= (double)count * grid * 1.01);
        assert_true(count < 100 || (fabs(fall) > 0.01 && sum > 1));
        for (size_t j = 0; j < COLS; j++)
            x[j] = (float)odd[dp_stream_below(&stream, 10)];
        if (count > 0) {
            dp_along_open(&along, &line, &form, bound, 1);
            dp_along_take(&along, &all, w, d);
            int64_t one = dp_along_fall(&along, eta), own = dp_along_sum(&along, eta);
            dp_along_take(&along, &others, w, d);
            one -= dp_along_fall(&along, eta);
            own -= dp_along_sum(&along, eta);
            assert_true(one >= -most && one <= most && own >= 0 && own <= most);
            dp_along_close(&along);
        }
        dp_form_leave(&form, room);
    }
}

TESTS(NULL, NULL)
