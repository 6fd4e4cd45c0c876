/* The choice between the trials of a selection: scores and their noise; and the commands of settings. */
#include "unit.h"
#include "scratch.h"

#include <unistd.h>

#include "base/option.h"
#include "tune/score.h"
#include "tune/settings.h"

/* A data set of one column, as dp-import would write it. */
static void make_rows(const char *directory, const float *x, const double *y, size_t rows, bool classes)
{
    char command[200], path[200];
    snprintf(command, sizeof command, "mkdir %s", directory);
    assert_int_equal(system(command), 0);
    const struct {
        const char *name, *type;
        const void *data;
        size_t size;
        bool matrix;
    } files[] = {{"X.npy", "<f4", x, sizeof *x, true}, {"y.npy", "<f8", y, sizeof *y, false}};
    for (int i = 0; i < 2; i++) {
        char header[118];
        snprintf(path, sizeof path, "%s/%s", directory, files[i].name);
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        int length = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': False, 'shape': (%zu,%s), }",
                              files[i].type, rows, files[i].matrix ? " 1" : "");
        memset(header + length, ' ', sizeof header - (size_t)length);
        header[117] = '\n';
        fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, file);
        fwrite(header, 1, sizeof header, file);
        fwrite(files[i].data, files[i].size, rows, file);
        fclose(file);
    }
    snprintf(path, sizeof path, "%s/dataset.json", directory);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "{\"format\": 1, \"rows\": %zu, \"cols\": 1, \"storage\": \"dense\", \"label\": %s, \"row_norm\": \"none\", "
            "\"private_preprocessing\": [], \"population\": \"p\", \"digest\": \"00112233445566778899aabbccddeeff\"}",
            rows,
            classes ? "{\"kind\": \"classes\", \"name\": \"y\", \"classes\": [\"a\", \"b\"]}"
                    : "{\"kind\": \"real\", \"name\": \"y\", \"scale\": 1, \"offset\": 0}");
    fclose(file);
}

/* Assigns the rows to `persons` persons, each with at most `most` rows. */
static void divide_rows(const char *directory, const int64_t *start, size_t persons, int most)
{
    char command[300], path[200], header[118];
    snprintf(path, sizeof path, "%s/persons.npy", directory);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    int length = snprintf(header, sizeof header, "{'descr': '<i8', 'fortran_order': False, 'shape': (%zu,), }", persons + 1);
    memset(header + length, ' ', sizeof header - (size_t)length);
    header[117] = '\n';
    fwrite("\x93NUMPY\x01\x00\x76\x00", 1, 10, file);
    fwrite(header, 1, sizeof header, file);
    fwrite(start, sizeof *start, persons + 1, file);
    fclose(file);
    snprintf(command, sizeof command,
             "sed -i 's/\"format\": 1/\"format\": 2, \"persons\": %zu, \"rows_per_person\": %d/' %s/dataset.json", persons,
             most, directory);
    assert_int_equal(system(command), 0);
}

/* A linear model of one weight. */
static struct dp_frame *model_of(double weight, int64_t classes)
{
    struct dp_frame *frame;
    double *w;
    frame = dp_frame_new();
    dp_frame_reset(frame, DP_KIND_LAP);
    frame->label = DP_LABEL_RELEASED;
    frame->lap = 1;
    assert_int_equal(dp_frame_make_array(frame, DP_F_MODEL, DP_F64, 1, 1, &w, NULL), DP_OK);
    w[0] = weight;
    dp_frame_set_int(frame, DP_F_CLASSES, classes);
    dp_frame_set_string(frame, DP_F_LOSS, "squared");
    return frame;
}

static struct dp_score score_of(const char *path, enum dp_score_metric metric, double clip, double multiplier)
{
    struct dp_score score = {.path = path, .metric = metric, .clip = clip, .multiplier = multiplier};
    struct dp_err err = {0};
    assert_ok(dp_score_open(&score, &err));
    return score;
}

static int64_t exact(const struct dp_score *score, double weight, int64_t classes)
{
    struct dp_frame *frame = model_of(weight, classes);
    struct dp_err err = {0};
    int64_t sum = -1;
    assert_ok(dp_score_exact(score, frame, &sum, &err));
    dp_frame_free(frame);
    return sum;
}

TEST(a_row_is_worth_one_at_most)
{
    const float x[] = {1, -1, 0.5F, -0.5F, 0.25F};
    const double classes[] = {1, 0, 0, 0, 1}, numbers[] = {1, -1, 0, 5, 1e300};
    make_rows("score-classes.dp", x, classes, 5, true);
    make_rows("score-numbers.dp", x, numbers, 5, false);
    struct dp_score a = score_of("score-classes.dp", DP_SCORE_ACCURACY, NAN, 1);
    assert_true(exact(&a, 1, 2) == 4 * DP_SCORE_ONE);
    assert_true(exact(&a, -1, 2) == 1 * DP_SCORE_ONE);
    dp_score_close(&a);
    /* errors of 0, 0, 0.5, 5.5 and a very large number, clipped at a square of 1 */
    struct dp_score b = score_of("score-numbers.dp", DP_SCORE_SQUARED_ERROR, 1, 1);
    assert_true(exact(&b, 1, 0) == 2 * DP_SCORE_ONE + DP_SCORE_ONE * 3 / 4);
    /* a score that is not a number counts 0 */
    assert_true(exact(&b, NAN, 0) == 0);
    assert_true(exact(&b, INFINITY, 0) == 0);
    assert_true(exact(&b, 1e200, 0) == 0);
    dp_score_close(&b);
}

/* For any model: two persons, one of whom has four rows, score at most two, and the mean is rounded toward zero. */
TEST(a_person_is_worth_one_at_most)
{
    const float x[] = {1, 1, 1, -1, -1};
    const double y[] = {1, 1, 1, 1, 0};
    const int64_t four_and_one[] = {0, 4, 5}, three_and_two[] = {0, 3, 5};
    make_rows("score-persons.dp", x, y, 5, true);
    divide_rows("score-persons.dp", four_and_one, 2, 4);
    struct dp_score s = score_of("score-persons.dp", DP_SCORE_ACCURACY, NAN, 1);
    assert_true(exact(&s, 1, 2) == DP_SCORE_ONE * 3 / 4 + DP_SCORE_ONE);
    assert_true(exact(&s, -1, 2) == DP_SCORE_ONE / 4);
    dp_score_close(&s);
    make_rows("score-others.dp", x, (const double[]){1, 0, 0, 1, 0}, 5, true);
    divide_rows("score-others.dp", three_and_two, 2, 4);
    s = score_of("score-others.dp", DP_SCORE_ACCURACY, NAN, 1);
    assert_true(exact(&s, 1, 2) == DP_SCORE_ONE / 3 + DP_SCORE_ONE / 2);
    dp_score_close(&s);
}

/* Variance and mean of 4,000 scores, each within five of its standard errors. */
TEST(scores_have_the_noise_that_is_charged)
{
    enum { TRIALS = 4000 };
    const float x[] = {1, -1};
    const double y[] = {1, 0};
    struct dp_key key;
    double sum = 0, squares = 0;
    int64_t first = 0, score = 0, same = 0;
    make_rows("score-noise.dp", x, y, 2, true);
    struct dp_score s = score_of("score-noise.dp", DP_SCORE_ACCURACY, NAN, 3);
    struct dp_frame *frame = model_of(1, 2);
    dp_key_derive(&key, 1, "score", 0);
    for (int i = 1; i <= TRIALS; i++) {
        assert_int_equal(dp_score_noised(&s, frame, &key, i, &score, NULL), DP_OK);
        double noise = ((double)score - 2.0 * DP_SCORE_ONE) / DP_SCORE_ONE;
        sum += noise;
        squares += noise * noise;
        first = i == 1 ? score : first;
        same += i > 1 && score == first;
    }
    assert_true(same == 0);
    assert_true(fabs(sum / TRIALS) < 5 * 3 / sqrt(TRIALS));
    assert_true(fabs(squares / TRIALS / 9 - 1) < 5 * sqrt(2.0 / TRIALS));
    dp_frame_free(frame);
    dp_score_close(&s);
}

TEST(commands_have_what_the_setting_has)
{
    struct dp_table grid = {0};
    char *text;
    FILE *file = fopen("tune-grid", "w");
    fputs("# a comment\n\nstep\tclip-1\n0.5 1e-3\n \n7\t  a,b\n", file);
    fclose(file);
    assert_int_equal(dp_settings_open(&grid, "tune-grid", &err), DP_OK);
    assert_int_equal(grid.columns, 2);
    assert_int_equal(grid.count, 2);
    const struct dp_settings_also also = {"/tmp/x", DP_OPT_ABSENT_INT}, seeded = {"/tmp/x", 12};
    assert_int_equal(dp_settings_fill(&grid, 1, "a {step} {clip-1}{step} ${step} {} { step } {trial} {x", &also, &text, &err),
                     DP_OK);
    assert_string_equal(text, "a 7 a,b7 ${step} {} { step } /tmp/x {x");
    free(text);
    assert_int_equal(dp_settings_fill(&grid, 0, "{trial}{seed}{step}{clip-1}", &seeded, &text, &err), DP_OK);
    assert_string_equal(text, "/tmp/x120.51e-3");
    free(text);
    assert_fails(dp_settings_fill(&grid, 0, "{trial}{seed}{step}{clip-1}", &also, &text, &err), DP_E_USAGE,
                 "{seed}: the command has it, and there is no --seed");
    dp_table_free(&grid);
}

TESTS(enter, leave)
