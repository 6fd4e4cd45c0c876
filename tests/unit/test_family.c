/* Families of models, methods and sums: the meaning of the numbers in a frame. */
#include "unit.h"

#include "model/method.h"
#include "model/sum.h"

static struct dp_frame *new_frame(void)
{
    struct dp_frame *f;
    f = dp_frame_new();
    dp_frame_reset(f, DP_KIND_LAP);
    f->lap = 3;
    return f;
}

static double *set_model(struct dp_frame *f, uint64_t rows, uint64_t cols)
{
    double *data;
    assert_int_equal(dp_frame_make_array(f, DP_F_MODEL, DP_F64, rows, cols, &data, NULL), 0);
    for (size_t i = 0; i < rows * cols; i++)
        data[i] = (double)i + 1;
    return data;
}

TEST(the_form_of_a_linear_model)
{
    struct dp_form form = dp_form_for(&dp_family_linear, 5, 3, 0);
    assert_true(form.rows == 3 && form.cols == 5);
    form = dp_form_for(&dp_family_linear, 5, 3, 0.5);
    assert_true(form.rows == 3 && form.cols == 6);
    struct dp_frame *f = new_frame();
    set_model(f, 3, 6);
    assert_int_equal(dp_form_read(&form, f, NULL), 0);
    assert_ptr_equal(form.family, &dp_family_linear); /* the family of a frame that names no family */
    assert_true(form.features == 6 && form.outputs == 3 && form.intercept == 0);
    dp_frame_set_string(f, DP_F_FAMILY, "linear");
    dp_frame_set_real(f, DP_F_INTERCEPT, 0.5);
    assert_int_equal(dp_form_read(&form, f, NULL), 0);
    assert_true(form.features == 5 && form.outputs == 3 && form.intercept == 0.5);
    dp_frame_free(f);
}

TEST(a_family_that_is_unknown)
{
    struct dp_form form;
    struct dp_frame *f = new_frame();
    set_model(f, 3, 6);
    dp_frame_set_string(f, DP_F_FAMILY, "tree");
    assert_fails(dp_form_read(&form, f, &err), DP_E_RUN, "the model is of the family 'tree', which is unknown here");
    dp_frame_free(f);
}

TEST(linear_scores)
{
    const float dense[] = {1, -2, 0.5f}, one[] = {4};
    const int32_t at[] = {2};
    const struct dp_row rows[] = {dp_row_dense(dense, 3), dp_row_sparse(one, at, 1)};
    const double w[] = {1, 2, 3, 100, -1, 0, 4, 1000};
    struct dp_form form = dp_form_for(&dp_family_linear, 3, 2, 0.25);
    double u[4];
    form.family->score(&form, w, rows, 2, NULL, u, NULL, NULL);
    assert_true(u[0] == 1 - 4 + 1.5 + 25 && u[1] == -1 + 2 + 250 && u[2] == 12 + 25 && u[3] == 16 + 250);
    form = dp_form_for(&dp_family_linear, 4, 2, 0); /* the same matrix, without a constant column */
    form.family->score(&form, w, rows + 1, 1, NULL, u, NULL, NULL);
    assert_true(u[0] == 12 && u[1] == 16);
}

TEST(the_form_of_a_network)
{
    const float x[] = {1, 2, 3};
    const struct dp_row row = dp_row_dense(x, 3);
    struct dp_form form, read;
    struct dp_frame *f = new_frame();
    const double *p;
    double u[2], again[2];
    void *room;
    assert_int_equal(dp_form_network(&form, "3; fc 4 tanh; fc 2", NULL), 0);
    assert_true(form.rows == 1 && form.cols == 26 && form.features == 3 && form.outputs == 2);
    assert_int_equal(dp_form_model(&form, f, &p, NULL), 0);
    dp_frame_set_string(f, DP_F_FAMILY, "network");
    assert_fails(dp_form_read(&read, f, &err), DP_E_RUN,
                 "network, column 1: first comes the number of columns, or HEIGHTxWIDTHxCHANNELS");
    dp_frame_set_string(f, DP_F_NETWORK, "3; fc 4 tanh; fc 2");
    assert_int_equal(dp_form_read(&read, f, NULL), 0);
    assert_true(read.family == &dp_family_network && read.features == 3 && read.outputs == 2);
    for (int i = 0; i < 2; i++) {
        room = dp_form_room(&read);
        read.family->score(&read, p, &row, 1, NULL, i == 0 ? u : again, NULL, room);
        dp_form_leave(&read, room);
    }
    assert_true(isfinite(u[0]) && u[0] != u[1] && u[0] == again[0]);
    dp_frame_set_string(f, DP_F_NETWORK, "3; fc 5 tanh; fc 2");
    assert_fails(dp_form_read(&read, f, &err), DP_E_RUN, "the model of lap 3 is 1 × 26, which no network model is");
    dp_frame_free(f);
}

TEST(where_a_run_begins)
{
    const double zeros[12] = {0}, *model;
    struct dp_form form = dp_form_for(&dp_family_linear, 5, 2, 1);
    struct dp_frame *f = new_frame();
    assert_int_equal(dp_form_model(&form, f, &model, NULL), 0);
    assert_memory_equal(model, zeros, sizeof zeros);
    set_model(f, 2, 6);
    assert_int_equal(dp_form_model(&form, f, &model, NULL), 0);
    assert_true(model[11] == 12); /* the model of the frame stays */
    set_model(f, 2, 5);
    assert_fails(dp_form_model(&form, f, &model, &err), DP_E_RUN, "the model is 2 × 5, the data needs 2 × 6");
    dp_frame_free(f);
}

static void no_start(struct dp_frame *f, const struct dp_training *t, const char *message)
{
    struct dp_err err = {0};
    assert_fails(dp_training_announce(t, f, &err), DP_E_RUN, message);
}

TEST(what_a_stage_says_of_a_model)
{
    struct dp_training t = {.method = &dp_method_scd_dual,
                            .family = &dp_family_linear,
                            .loss = DP_LOSS_HUBER,
                            .width = 0.5,
                            .lambda = 1e-3,
                            .scale = 0.125};
    struct dp_frame *f = new_frame();
    assert_false(dp_method_gradients(f));
    assert_int_equal(dp_training_announce(&t, f, NULL), 0);
    assert_string_equal(dp_frame_text(f, DP_F_METHOD, ""), "scd-dual");
    assert_string_equal(dp_frame_text(f, DP_F_FAMILY, ""), "linear");
    assert_string_equal(dp_frame_text(f, DP_F_LOSS, ""), "huber");
    assert_true(dp_frame_real(f, DP_F_LOSS_WIDTH, 0) == 0.5 && dp_frame_real(f, DP_F_LAMBDA, 0) == 1e-3 &&
                dp_frame_real(f, DP_F_SCALE, 0) == 0.125);
    assert_false(dp_method_gradients(f));
    /* a model to continue with */
    set_model(f, 1, 2);
    assert_int_equal(dp_training_announce(&t, f, NULL), 0);
    t.intercept = 0.5;
    no_start(f, &t, "--intercept: 0.5, but the model to start from has 0");
    t.intercept = 0;
    t.scale = 0.25;
    no_start(f, &t, "the model to start from has another scale of its weights, by lambda, rows or --scale");
    dp_frame_set_string(f, DP_F_FAMILY, "net");
    no_start(f, &t, "the model to start from is of another family");
    dp_frame_drop(f, DP_F_FAMILY);
    t.scale = 0.125;
    assert_int_equal(dp_training_announce(&t, f, NULL), 0);
    t.method = &dp_method_gradient;
    no_start(f, &t, "the model to start from was trained by another method");
    dp_frame_drop(f, DP_F_MODEL);
    assert_int_equal(dp_training_announce(&t, f, NULL), 0);
    assert_true(dp_method_gradients(f));
    t.method = &dp_method_erm;
    t.intercept = 0.5;
    assert_int_equal(dp_training_announce(&t, f, NULL), 0);
    assert_true(!dp_method_gradients(f) && dp_frame_real(f, DP_F_INTERCEPT, 0) == 0.5);
    dp_frame_set_string(f, DP_F_METHOD, "of one's own");
    assert_false(dp_method_gradients(f));
    dp_frame_free(f);
}

static void set_sum(struct dp_frame *f, uint64_t rows, uint64_t cols)
{
    int64_t *data;
    assert_int_equal(dp_frame_make_array(f, DP_F_SUM, DP_I64, rows, cols, &data, NULL), 0);
    for (size_t i = 0; i < rows * cols; i++)
        data[i] = (int64_t)i + 1;
}

static void no_sum(struct dp_frame *f, const char *message)
{
    struct dp_err err = {0};
    struct dp_sum sum;
    double w[6] = {0};
    int rc = dp_sum_read(&sum, f, &err);
    if (rc == DP_OK)
        rc = dp_sum_add(&sum, 2, 3, w, &err);
    assert_fails(rc, DP_E_RUN, message);
}

TEST(sums_move_models)
{
    struct dp_frame *f = new_frame();
    struct dp_sum sum;
    double w[6] = {0};
    int64_t *columns;
    no_sum(f, "the frame of lap 3 has no released sum");
    set_sum(f, 2, 3);
    no_sum(f, "the sum of lap 3 is not on a grid");
    dp_frame_set_real(f, DP_F_GRID, 0.5);
    assert_int_equal(dp_sum_read(&sum, f, NULL), 0);
    assert_int_equal(dp_sum_add(&sum, 2, 3, w, NULL), 0);
    assert_int_equal(dp_sum_add(&sum, 2, 3, w, NULL), 0);
    assert_true(w[0] == 1 && w[5] == 6);
    set_sum(f, 3, 2);
    no_sum(f, "the sum of lap 3 does not have the shape of the model");
    /* two columns of three, the last first */
    assert_int_equal(dp_frame_make_array(f, DP_F_COLUMNS, DP_I64, 2, 0, &columns, NULL), 0);
    columns[0] = 2;
    columns[1] = 0;
    set_sum(f, 2, 2);
    memset(w, 0, sizeof w);
    assert_int_equal(dp_sum_read(&sum, f, NULL), 0);
    assert_int_equal(dp_sum_add(&sum, 2, 3, w, NULL), 0);
    assert_true(w[2] == 0.5 && w[0] == 1 && w[1] == 0 && w[5] == 1.5 && w[3] == 2);
    for (int bad = 0; bad < 2; bad++) {
        columns[1] = bad ? 3 : -1;
        no_sum(f, "a column of lap 3 is out of range");
    }
    /* doubles are for runs without privacy */
    double *real;
    dp_frame_drop(f, DP_F_COLUMNS);
    assert_int_equal(dp_frame_make_array(f, DP_F_SUM, DP_F64, 2, 3, &real, NULL), 0);
    memset(real, 0, 6 * sizeof *real);
    no_sum(f, "the sum of lap 3 is not on a grid");
    real[4] = 0.1;
    dp_frame_set_bool(f, DP_F_NON_PRIVATE, true);
    memset(w, 0, sizeof w);
    assert_int_equal(dp_sum_read(&sum, f, NULL), 0);
    assert_int_equal(dp_sum_add(&sum, 2, 3, w, NULL), 0);
    assert_true(w[4] == 0.1);
    dp_frame_free(f);
}

TESTS(NULL, NULL)
