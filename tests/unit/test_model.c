/* Models in frames: weights, names, comparison, description; JSON of frames. */
#include "unit.h"

#include "../../bin/info/model.h"
#include "model/compare.h"
#include "wire/json.h"
#include "wire/model.h"

static double *matrix(struct dp_frame *f, enum dp_field field, uint64_t rows, uint64_t cols)
{
    double *data;
    assert_int_equal(dp_frame_make_array(f, field, DP_F64, rows, cols, &data, NULL), 0);
    for (size_t i = 0; i < rows * cols; i++)
        data[i] = (double)i + 1;
    return data;
}

/* 2 × 3, scale 0.5, released in lap 4 */
static struct dp_frame *new_model(void)
{
    struct dp_frame *f;
    f = dp_frame_new();
    dp_frame_reset(f, DP_KIND_LAP);
    f->lap = 4;
    f->records = 1;
    *f->record = (struct dp_record){.of = DP_F_NONE, .sampler = DP_SAMPLER_POISSON, .rate = 0.5, .rows = 10};
    matrix(f, DP_F_MODEL, 2, 3);
    dp_frame_set_real(f, DP_F_SCALE, 0.5);
    dp_frame_set_real(f, DP_F_EPSILON, 0.25);
    dp_frame_set_int(f, DP_F_CLASSES, 2);
    dp_frame_set_string(f, DP_F_LOSS, "hinge");
    return f;
}

TEST(weights_are_scaled)
{
    struct dp_frame *f = new_model();
    size_t outputs, cols;
    double w[6];
    assert_int_equal(dp_model_shape(f, &outputs, &cols, NULL), 0);
    assert_int_equal(outputs, 2);
    assert_int_equal(cols, 3);
    assert_int_equal(dp_model_weights(f, w, NULL), 0);
    assert_true(w[0] == 0.5 && w[5] == 3);
    dp_frame_drop(f, DP_F_SCALE);
    assert_int_equal(dp_model_weights(f, w, NULL), 0);
    assert_true(w[0] == 1 && w[5] == 6);
    double *average = matrix(f, DP_F_AVERAGE, 2, 3);
    average[5] = 60;
    assert_int_equal(dp_model_weights(f, w, NULL), 0);
    assert_true(w[0] == 1 && w[5] == 60);
    dp_frame_free(f);
}

static void no_shape(struct dp_frame *f, const char *message)
{
    struct dp_err err = {0};
    size_t outputs, cols;
    assert_fails(dp_model_shape(f, &outputs, &cols, &err), DP_E_RUN, message);
}

TEST(bad_models)
{
    struct dp_frame *f = new_model();
    double w[6];
    void *data;
    matrix(f, DP_F_AVERAGE, 3, 2);
    no_shape(f, "'average' of lap 4 does not have the shape of the model");
    dp_frame_drop(f, DP_F_AVERAGE);
    dp_frame_make_array(f, DP_F_MODEL, DP_F64, 0, 3, &data, NULL);
    no_shape(f, "the model of lap 4 is empty");
    dp_frame_make_array(f, DP_F_MODEL, DP_F32, 2, 3, &data, NULL);
    no_shape(f, "'model' in the frame of lap 4 is 2-dimensional f4, expected 2-dimensional f8");
    dp_frame_make_array(f, DP_F_MODEL, DP_F64, 6, 0, &data, NULL);
    no_shape(f, "'model' in the frame of lap 4 is 1-dimensional f8, expected 2-dimensional f8");
    dp_frame_drop(f, DP_F_MODEL);
    no_shape(f, "the frame of lap 4 has no 'model'");
    matrix(f, DP_F_MODEL, 2, 3)[4] = (double)NAN;
    assert_fails(dp_model_weights(f, w, &err), DP_E_RUN, "the model of lap 4 is not finite");
    matrix(f, DP_F_MODEL, 2, 3)[4] = 1e308;
    dp_frame_set_real(f, DP_F_SCALE, 10);
    assert_int_equal(dp_model_weights(f, w, &err), DP_E_RUN);
    dp_frame_free(f);
}

TEST(class_names)
{
    struct dp_frame *f = new_model();
    char **names;
    size_t count;
    assert_int_equal(dp_model_names(f, &names, &count, NULL), 0);
    assert_null(names);
    dp_frame_set_string(f, DP_F_LABELS, "[\"<=50K\", \"größer, \\\"50\\\"\"]");
    assert_int_equal(dp_model_names(f, &names, &count, NULL), 0);
    assert_int_equal(count, 2);
    assert_string_equal(names[0], "<=50K");
    assert_string_equal(names[1], "größer, \"50\"");
    dp_model_free_names(names, count);
    const char *const bad[] = {"[]", "{}", "[1]", "[\"a\", 2]", "[\"a\"", "a,b", "\"a\"", "null"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        dp_frame_set_string(f, DP_F_LABELS, bad[i]);
        assert_fails(dp_model_names(f, &names, &count, &err), DP_E_RUN, "'labels' of lap 4 is not a JSON array of names");
        assert_null(names);
    }
    dp_frame_free(f);
}

static const struct dp_model_tolerance exact = {.exact = true};
static const struct dp_model_tolerance exact_weights = {.exact = true, .weights_only = true};

static void expect(const struct dp_frame *a, const struct dp_frame *b, const struct dp_model_tolerance *t, const char *what)
{
    char got[256] = "";
    assert_int_equal(dp_model_compare(a, b, t, got, sizeof got, NULL), what != NULL);
    if (what != NULL)
        assert_string_equal(got, what);
}

TEST(exact_comparison)
{
    struct dp_frame *a = new_model(), *b = new_model();
    double *w = dp_frame_edit_array(b, DP_F_MODEL)->data;
    expect(a, b, &exact, NULL);
    w[4] = nextafter(5, 6);
    expect(a, b, &exact, "model[1, 1]: 5 and 5.000000000000001");
    expect(a, b, &exact_weights, "weight[1, 1]: 2.5 and 2.5000000000000004");
    w[4] = 5;
    dp_frame_set_real(b, DP_F_EPSILON, 0.5);
    expect(a, b, &exact, "epsilon: 0.25 and 0.5");
    expect(a, b, &exact_weights, NULL);
    dp_frame_drop(b, DP_F_EPSILON);
    expect(a, b, &exact, "epsilon: only the first has it");
    expect(b, a, &exact, "epsilon: only the second has it");
    dp_frame_set_real(b, DP_F_EPSILON, 0.25);
    dp_frame_set_bool(b, DP_F_SEEDED, true);
    expect(a, b, &exact, "seeded: only the second has it");
    dp_frame_set_bool(a, DP_F_SEEDED, false);
    expect(a, b, &exact, "seeded: no and yes");
    dp_frame_set_string(b, DP_F_LOSS, "huber");
    expect(a, b, &exact, "loss: 'hinge' and 'huber'");
    b->record->rows = 11;
    expect(a, b, &exact, "rows in record 1");
    b->records = 0;
    expect(a, b, &exact, "records: 1 and 0");
    b->lap = 5;
    expect(a, b, &exact, "lap: 4 and 5");
    matrix(b, DP_F_MODEL, 2, 4);
    expect(a, b, &exact_weights, "weights: 2 × 3 and 2 × 4");
    dp_frame_free(a);
    dp_frame_free(b);
}

TEST(zero_has_a_sign_and_nan_is_itself)
{
    struct dp_frame *a = new_model(), *b = new_model();
    dp_frame_set_real(a, DP_F_GRID, 0.0);
    dp_frame_set_real(b, DP_F_GRID, -0.0);
    expect(a, b, &exact, "grid: 0 and -0");
    dp_frame_set_real(a, DP_F_GRID, (double)NAN);
    dp_frame_set_real(b, DP_F_GRID, (double)NAN);
    expect(a, b, &exact, NULL);
    dp_frame_free(a);
    dp_frame_free(b);
}

TEST(comparison_within_a_tolerance)
{
    struct dp_frame *a = new_model(), *b = new_model();
    double *w = dp_frame_edit_array(b, DP_F_MODEL)->data;
    w[0] = 1.25; /* weights 0.5 and 0.625 */
    expect(a, b, &(struct dp_model_tolerance){.absolute = 0.125}, NULL);
    expect(a, b, &(struct dp_model_tolerance){.absolute = 0.12}, "weight[0, 0]: 0.5 and 0.625");
    expect(a, b, &(struct dp_model_tolerance){.relative = 0.2}, NULL);
    expect(a, b, &(struct dp_model_tolerance){.relative = 0.19}, "weight[0, 0]: 0.5 and 0.625");
    expect(a, b, &(struct dp_model_tolerance){.relative = 0.1, .absolute = 0.0625}, NULL);
    /* Half the model at twice the scale is the same weights. */
    for (int i = 0; i < 6; i++)
        w[i] = (i + 1) / 2.0;
    dp_frame_set_real(b, DP_F_SCALE, 1);
    expect(a, b, &(struct dp_model_tolerance){.absolute = 0}, NULL);
    /* Other fields still count, unless only weights are compared. */
    dp_frame_set_real(b, DP_F_EPSILON, 3);
    expect(a, b, &(struct dp_model_tolerance){.absolute = 1}, "epsilon: 0.25 and 3");
    expect(a, b, &(struct dp_model_tolerance){.absolute = 1, .weights_only = true}, NULL);
    dp_frame_free(a);
    dp_frame_free(b);
}

/* The description of the model, or the message that refuses it; overwritten by the next call. */
static const char *described(const struct dp_frame *f, const char *get, int status)
{
    static char text[1 << 12];
    static struct dp_err err;
    FILE *stream = fmemopen(text, sizeof text, "w");
    assert_int_equal(info_model_describe(f, false, get, stream, &err), status);
    fclose(stream);
    return status == 0 ? text : err.message;
}

static void expect_text(const struct dp_frame *f, const char *get, int status, const char *text)
{
    assert_string_equal(described(f, get, status), text);
}

TEST(description)
{
    struct dp_frame *f = new_model();
    dp_frame_set_real(f, DP_F_DELTA, 1e-5);
    expect_text(f, NULL, 0,
                "model: hinge loss, 2 × 3 weights (outputs × columns)\nlaps: 4\n"
                "privacy: epsilon 0.25, delta 1e-05\n");
    dp_frame_set_real(f, DP_F_LAMBDA, 1e-3);
    dp_frame_set_int(f, DP_F_LAPS, 9);
    dp_frame_set_int(f, DP_F_N, 10);
    dp_frame_set_string(f, DP_F_DATA, "abcd");
    dp_frame_set_string(f, DP_F_PREPROCESSING, "max-abs");
    dp_frame_set_string(f, DP_F_LABELS, "[\"no\",\"yes\"]");
    matrix(f, DP_F_AVERAGE, 2, 3);
    dp_frame_set_int(f, DP_F_AVERAGED, 3);
    dp_frame_set_bool(f, DP_F_SEEDED, true);
    dp_frame_set_real(f, DP_F_EPSILON, 0.99999951);
    expect_text(f, NULL, 0,
                "model: hinge loss, 2 × 3 weights (outputs × columns), lambda 0.001\n"
                "classes: [\"no\",\"yes\"]\n"
                "laps: 4 of 9, the mean of the last 3\n"
                "trained on: data set abcd, 10 rows\n"
                "privacy: epsilon 1, delta 1e-05\n"
                "  a lap before the last: chosen by its results it costs what all laps cost (dp-account certify)\n"
                "  seeded: anybody who knows the seed knows the noise; for experiments, not private\n"
                "  the preparation of the data read private rows, which epsilon leaves out: max-abs\n");
    dp_frame_set_bool(f, DP_F_NON_PRIVATE, true);
    dp_frame_drop(f, DP_F_SEEDED);
    assert_non_null(strstr(described(f, NULL, 0), "\nprivacy: none, it was trained without noise\n"));
    dp_frame_free(f);
}

TEST(single_fields)
{
    struct dp_frame *f = new_model();
    dp_frame_set_bool(f, DP_F_SEEDED, true);
    expect_text(f, "lap", 0, "4\n");
    expect_text(f, "label", 0, "released\n");
    expect_text(f, "epsilon", 0, "0.25\n");
    expect_text(f, "loss", 0, "hinge\n");
    expect_text(f, "classes", 0, "2\n");
    expect_text(f, "seeded", 0, "true\n");
    expect_text(f, "model", 0, "1\n2\n3\n4\n5\n6\n");
    expect_text(f, "delta", DP_E_RUN, "the model has no 'delta'");
    expect_text(f, "colour", DP_E_RUN, "the model has no 'colour'");
    dp_frame_free(f);
}

static void expect_json(const struct dp_frame *f, bool full, const char *text)
{
    char *got = NULL;
    size_t size;
    FILE *stream = open_memstream(&got, &size);
    json_t *root = dp_json_frame(f, full);
    dp_json_print(root, 0, stream);
    fclose(stream);
    json_decref(root);
    assert_string_equal(got, text);
    json_t *back = json_loads(got, 0, NULL);
    assert_non_null(back);
    json_decref(back);
    free(got);
}

TEST(frames_as_json)
{
    struct dp_frame *f;
    f = dp_frame_new();
    dp_frame_reset(f, DP_KIND_ERROR);
    dp_frame_set_int(f, DP_F_STATUS, 3);
    dp_frame_set_string(f, DP_F_MESSAGE, "a \"b\"\n\x01 ü");
    expect_json(f, false, "{\"kind\":\"error\",\"status\":3,\"message\":\"a \\\"b\\\"\\n\\u0001 ü\"}\n");
    dp_frame_reset(f, DP_KIND_HELLO);
    dp_frame_set_string(f, DP_F_SOFTWARE, "\xff\xfe");
    dp_frame_set_real(f, DP_F_EPSILON, 0.1);
    dp_frame_set_real(f, DP_F_DELTA, (double)NAN);
    dp_frame_set_real(f, DP_F_GRID, -(double)INFINITY);
    dp_frame_set_real(f, DP_F_BOUND, 1.0 / 3);
    expect_json(f, false,
                "{\"kind\":\"hello\",\"software\":\"(not "
                "UTF-8)\",\"grid\":\"-Infinity\",\"bound\":0.3333333333333333,"
                "\"epsilon\":0.1,\"delta\":\"NaN\"}\n");
    dp_frame_reset(f, DP_KIND_LAP);
    f->lap = 2;
    f->label = DP_LABEL_NOISED;
    matrix(f, DP_F_MODEL, 2, 3)[1] = (double)INFINITY;
    expect_json(f, false,
                "{\"kind\":\"lap\",\"lap\":2,\"label\":\"noised\",\"records\":[],\"model\":{\"dtype\":\"f8\","
                "\"shape\":[2,3],\"values\":[1,\"Infinity\",3,4],\"more\":2}}\n");
    expect_json(f, true,
                "{\"kind\":\"lap\",\"lap\":2,\"label\":\"noised\",\"records\":[],\"model\":{\"dtype\":\"f8\","
                "\"shape\":[2,3],\"values\":[1,\"Infinity\",3,4,5,6]}}\n");
    dp_frame_reset(f, DP_KIND_END);
    void *data;
    assert_int_equal(dp_frame_make_array(f, DP_F_ROWS, DP_I64, 2, 0, &data, NULL), 0);
    memcpy(data, (int64_t[]){INT64_MIN, INT64_MAX}, 16);
    assert_int_equal(dp_frame_make_array(f, DP_F_X, DP_F32, 1, 0, &data, NULL), 0);
    memcpy(data, (float[]){0.5f}, 4);
    expect_json(f, false,
                "{\"kind\":\"end\",\"rows\":{\"dtype\":\"i8\",\"shape\":[2],\"values\":[-9223372036854775808,"
                "9223372036854775807]},\"X\":{\"dtype\":\"f4\",\"shape\":[1],\"values\":[0.5]}}\n");
    dp_frame_free(f);
}

TESTS(NULL, NULL)
