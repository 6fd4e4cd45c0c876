/* The public interface, as an outside program uses it: the answers equal the internal library's, and misuse is refused. */
#include "unit.h"

#include <dpline/account.h>
#include <dpline/frame.h>
#include <dpline/grid.h>
#include <dpline/ledger.h>
#include <dpline/stage.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/version.h"
#include "account/account.h"
#include "ledger/ledger.h"
#include "wire/frame.h"

static struct dpline_charge gaussian(int64_t laps, double multiplier)
{
    struct dpline_charge c = {0};
    c.laps = laps;
    c.sampling = DPLINE_SAMPLING_POISSON;
    c.rate = 0.01;
    c.queries = 1;
    c.query[0].kind = DPLINE_GAUSSIAN;
    c.query[0].multiplier = multiplier;
    return c;
}

TEST(it_says_which_version_it_is)
{
    assert_int_equal(dpline_api(), DPLINE_API);
    assert_string_equal(dpline_version(), DP_VERSION);
    assert_int_equal(dpline_fail(NULL, DPLINE_E_RUN, "x"), DPLINE_E_RUN);
    struct dpline_error error;
    assert_int_equal(dpline_fail(&error, DPLINE_E_UNSAFE, "%d is %s", 1, "one"), DPLINE_E_UNSAFE);
    assert_int_equal(error.status, DPLINE_E_UNSAFE);
    assert_string_equal(error.message, "1 is one");
}

/* Programs have compiled these in: to change one of them is to change DPLINE_API. */
TEST(the_layout_of_interface_1)
{
    assert_int_equal(DPLINE_API, 1);
    if (sizeof(void *) != 8)
        skip();
    assert_int_equal(sizeof(struct dpline_error), 572);
    assert_int_equal(sizeof(struct dpline_query), 80);
    assert_int_equal(sizeof(struct dpline_charge), 392);
    assert_int_equal(sizeof(struct dpline_bounds), 16);
    assert_int_equal(sizeof(struct dpline_run), 112);
    assert_int_equal(sizeof(struct dpline_array), 56);
    assert_int_equal(sizeof(struct dpline_option), 80);
    assert_int_equal(sizeof(struct dpline_stage_class), 144);
    assert_int_equal(offsetof(struct dpline_query, most), 40);
    assert_int_equal(offsetof(struct dpline_charge, query), 40);
    assert_int_equal(offsetof(struct dpline_charge, unused), 360);
    assert_int_equal(offsetof(struct dpline_run, preprocessing), 56);
    assert_int_equal(offsetof(struct dpline_array, data), 48);
    assert_int_equal(offsetof(struct dpline_option, flags), 72);
    assert_int_equal(offsetof(struct dpline_stage_class, ephemeral), 88);
    const int values[] = {DPLINE_GAUSSIAN,
                          DPLINE_LAPLACE,
                          DPLINE_PURE,
                          DPLINE_SPARSE_LAPLACE,
                          DPLINE_SPARSE_GAUSSIAN,
                          DPLINE_DISCRETE_LAPLACE,
                          DPLINE_GAMMA,
                          DPLINE_SAMPLING_POISSON,
                          DPLINE_SAMPLING_SUBSTITUTED,
                          DPLINE_SAMPLING_SHUFFLED,
                          DPLINE_SAMPLING_VISIBLE,
                          DPLINE_SAMPLING_COINS};
    const int frozen[] = {1, 2, 3, 4, 5, 6, 7, 1, 2, 3, 4, 5};
    assert_memory_equal(values, frozen, sizeof frozen);
}

TEST(accounts_give_the_answers_of_the_library)
{
    struct dpline_account *account;
    struct dpline_bounds bounds;
    struct dpline_charge charge = gaussian(1000, 1.1);
    struct dp_charges inside = {0};
    struct dp_event event = dp_event_gaussian(DP_SAMPLING_POISSON, 0.01, 1.1, 0);
    struct dp_answer answer;
    double factor;
    int64_t laps;
    assert_int_equal(dpline_account_new(&account, NULL), 0);
    assert_int_equal(dpline_account_epsilon(account, 1e-5, &bounds, NULL), 0);
    assert_true(bounds.upper == 0);
    assert_int_equal(dpline_account_delta(account, 1, &bounds, NULL), 0);
    assert_true(bounds.upper == 0);
    assert_int_equal(dpline_account_add(account, &charge, NULL), 0);
    assert_int_equal(dp_charges_add(&inside, &event, 1000, NULL), 0);
    assert_int_equal(dp_account_epsilon(DP_ACCOUNTANT_BEST, &inside, 1e-5, &answer, NULL), 0);
    assert_int_equal(dpline_account_epsilon(account, 1e-5, &bounds, NULL), 0);
    assert_true(bounds.upper == answer.upper && bounds.lower == answer.lower);

    assert_int_equal(dpline_account_delta(account, bounds.upper, &bounds, NULL), 0);
    assert_near(bounds.upper, 1e-5, 1e-7);
    assert_int_equal(dpline_account_stretch(account, answer.upper, 1e-5, &factor, NULL), 0);
    assert_near(factor, 1, 1e-3);
    assert_int_equal(dpline_laps_within(&charge, answer.upper, 1e-5, &laps, NULL), 0);
    assert_int_equal(laps, 1000);
    dp_charges_free(&inside);
    dpline_account_free(account);
    dpline_account_free(NULL);
}

/* Each kind, with its members, is the internal kind of the same name. */
TEST(every_kind_and_sampling_arrives)
{
    struct dpline_query queries[] = {
        {DPLINE_GAUSSIAN, 3, 0, 0, 0, 0, {0}},
        {DPLINE_LAPLACE, 3, 0, 0, 0, 0, {0}},
        {DPLINE_PURE, 0, 0.3, 0, 0, 0, {0}},
        {DPLINE_SPARSE_LAPLACE, 0, 0.1, 0.01, 0, 5, {0}},
        {DPLINE_SPARSE_GAUSSIAN, 0, 0, 0, 0.01, 5, {0}},
        {DPLINE_DISCRETE_LAPLACE, 3, 0, 0, 0, 0, {0}},
        {DPLINE_GAMMA, 3, 0, 0, 0, 0, {0}},
    };
    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
        struct dpline_account *account;
        struct dpline_bounds bounds;
        struct dpline_error error;
        struct dpline_charge c = {.laps = 1, .rate = 1, .queries = 1, .query = {queries[i]}};
        assert_int_equal(dpline_account_new(&account, &error), 0);
        if (dpline_account_add(account, &c, &error) != 0 || dpline_account_epsilon(account, 1e-5, &bounds, &error) != 0)
            fail_msg("kind %d: %s", (int)queries[i].kind, error.message);
        assert_true(bounds.upper > 0.05 && bounds.upper < 10);
        dpline_account_free(account);
    }
    struct dpline_charge c = gaussian(10, 2);
    const double epoch[] = {0, 0, 0, 5, 0};
    for (int s = DPLINE_SAMPLING_NONE; s <= DPLINE_SAMPLING_VISIBLE; s++) {
        struct dpline_account *account;
        struct dpline_bounds bounds;
        c.sampling = (enum dpline_sampling)s;
        c.rate = s == DPLINE_SAMPLING_NONE ? 1 : 0.2;
        c.epoch_laps = (int64_t)epoch[s];
        assert_int_equal(dpline_account_new(&account, NULL), 0);
        assert_int_equal(dpline_account_add(account, &c, NULL), 0);
        assert_int_equal(dpline_account_epsilon(account, 1e-5, &bounds, NULL), 0);
        assert_true(bounds.upper > 0.1 && bounds.upper < 20);
        dpline_account_free(account);
    }
}

TEST(charges_that_make_no_sense_are_refused)
{
    struct dpline_account *account;
    struct dpline_error error;
    struct dpline_charge bad[10];
    for (int i = 0; i < 10; i++)
        bad[i] = gaussian(1, 1);
    bad[0].laps = -1;
    bad[1].rate = 0;
    bad[2].queries = 0;
    bad[3].queries = 5;
    bad[4].query[0].kind = (enum dpline_kind)8;
    bad[5].query[0].multiplier = 0;
    bad[6].query[0].epsilon = 1; /* a Gaussian has no epsilon */
    bad[7].sampling = (enum dpline_sampling)6;
    bad[8].unused[3] = 1;
    bad[9].query[0].unused[0] = 1;
    assert_int_equal(dpline_account_new(&account, NULL), 0);
    for (int i = 0; i < 10; i++) {
        error.message[0] = '\0';
        if (dpline_account_add(account, &bad[i], &error) != DPLINE_E_USAGE || error.message[0] == '\0')
            fail_msg("charge %d", i);
    }
    dpline_account_free(account);
}

TEST(a_vector_moves_the_sum_by_its_bound_at_most)
{
    int64_t sum[3] = {0};
    double grid = dpline_grid_for(0.3);
    const double inside[] = {0.1, -0.1, 0}, nan[] = {1, NAN, 0}, infinite[] = {INFINITY, 0, 0};
    dpline_grid_add(inside, 3, 0.3, sum);
    assert_true(sum[0] == (int64_t)(0.1 / grid) && sum[1] == -sum[0] && sum[2] == 0);
    dpline_grid_add(nan, 3, 0.3, sum);
    dpline_grid_add(infinite, 3, 0.3, sum);
    assert_true(sum[0] == (int64_t)(0.1 / grid) && sum[2] == 0);
    const double sizes[] = {0.299999, 0.3, 0.30000001, 1, 1e300, 1.5e308};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        for (int n = 1; n <= 200; n += 7) {
            double v[200];
            int64_t own[200] = {0};
            __int128 squares = 0;
            for (int j = 0; j < n; j++)
                v[j] = sizes[i] / sqrt(n) * (j % 2 == 0 ? 1 : -1);
            dpline_grid_add(v, (size_t)n, 0.3, own);
            for (int j = 0; j < n; j++)
                squares += (__int128)own[j] * own[j];
            double units = 0.3 / grid; /* exact */
            assert_true((double)squares <= units * units);
            assert_true(sqrt((double)squares) >= 0.9999 * units - sqrt(n) || sizes[i] < 0.3);
        }
    }
}

TEST(noise_serves_once)
{
    struct dpline_noise *one, *same, *fresh;
    struct dpline_error error;
    int64_t a[50] = {0}, b[50] = {0}, c[50] = {0};
    assert_int_equal(dpline_noise_new_seeded(&one, 7, NULL), 0);
    assert_int_equal(dpline_noise_new_seeded(&same, 7, NULL), 0);
    assert_int_equal(dpline_noise_new(&fresh, NULL), 0);
    assert_int_equal(dpline_noise_gaussian(one, 1, 2, 0x1p-20, a, 50, NULL), 0);
    assert_int_equal(dpline_noise_gaussian(same, 1, 2, 0x1p-20, b, 50, NULL), 0);
    assert_int_equal(dpline_noise_gaussian(fresh, 1, 2, 0x1p-20, c, 50, NULL), 0);
    assert_memory_equal(a, b, sizeof a);
    assert_memory_not_equal(a, c, sizeof a);
    double squares = 0;
    for (int i = 0; i < 50; i++)
        squares += (double)a[i] * 0x1p-20 * (double)a[i] * 0x1p-20;
    assert_true(squares > 50 * 4 * 0.4 && squares < 50 * 4 * 2.2);
    assert_int_equal(dpline_noise_gaussian(one, 1, 2, 0x1p-20, a, 50, &error), DPLINE_E_UNSAFE);
    assert_int_equal(dpline_noise_gaussian(one, 3, 2, 0x1p-20, a, 50, &error), 0);
    assert_int_equal(dpline_noise_gaussian(one, 2, 2, 0x1p-20, a, 50, &error), DPLINE_E_UNSAFE);
    assert_int_equal(dpline_noise_gaussian(one, 4, 2, 0.3, a, 50, &error), DPLINE_E_USAGE);
    assert_int_equal(dpline_noise_gaussian(one, 0, 2, 1, a, 50, &error), DPLINE_E_USAGE);
    assert_int_equal(dpline_noise_gaussian(one, 4, 1e30, 0x1p-20, a, 50, &error), DPLINE_E_RUN);
    dpline_noise_free(one);
    dpline_noise_free(same);
    dpline_noise_free(fresh);
    dpline_noise_free(NULL);
}

TEST(a_run_pays_within_its_budget)
{
    char directory[] = "/tmp/dp-public-XXXXXX", path[64], mark[64], kept[160], *report;
    struct dpline_ledger *ledger;
    struct dpline_error error;
    struct dpline_run run = {.data = "d1", .population = "us", .rows = 100, .epsilon = 1, .delta = 1e-5};
    struct dpline_charge some = gaussian(100, 1.1), many = gaussian(10000, 1.1);
    struct dpline_account *used;
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/ledger", directory);
    snprintf(mark, sizeof mark, "%s/ledger.mark", directory);
    run.rows = 0;
    assert_int_equal(dpline_ledger_open(&ledger, path, &run, &error), DPLINE_E_USAGE);
    run.rows = 100;
    assert_int_equal(dpline_ledger_open(&ledger, path, &run, &error), 0);
    assert_int_equal(dpline_ledger_reserve(ledger, &some, &error), 0);
    assert_int_equal(dpline_ledger_reserve(ledger, &many, &error), DPLINE_E_BUDGET);
    assert_int_equal(dpline_ledger_reserve(ledger, &some, &error), 0); /* it may continue with less */
    snprintf(kept, sizeof kept, "%s", dpline_ledger_mark(ledger));
    assert_int_equal(dpline_account_new(&used, NULL), 0);
    some.laps = 150;
    assert_int_equal(dpline_account_add(used, &some, NULL), 0);
    assert_int_equal(dpline_ledger_close(ledger, used, &error), 0);
    dpline_account_free(used);
    assert_int_equal(dpline_ledger_check(path, kept, &error), 0);
    assert_int_equal(dpline_ledger_report(path, "us", 0, &report, &error), 0);
    assert_non_null(strstr(report, "\"laps\": 150"));
    free(report);
    assert_int_equal(dpline_ledger_report(path, "them", 0, &report, &error), DPLINE_E_RUN);

    FILE *f = fopen(path, "r+");
    assert_int_equal(fseek(f, 40, SEEK_SET), 0);
    fputc('#', f);
    fclose(f);
    assert_int_equal(dpline_ledger_check(path, kept, &error), DPLINE_E_UNSAFE);
    assert_int_equal(dpline_ledger_open(&ledger, path, &run, &error), DPLINE_E_UNSAFE);
    dpline_ledger_free(NULL);
    unlink(path);
    unlink(mark);
    assert_int_equal(rmdir(directory), 0);
}

/* Order 2, z = 2, all rows: each lap costs 1/4 of the population's budget, which has room for forty. */
TEST(a_population_affords_all_laps_of_a_charge_or_none)
{
    char directory[] = "/tmp/dp-public-XXXXXX", path[64], mark[64], *report;
    struct dp_ledger_budget budget = {
        .population = "us", .adjacency = "null-record", .epsilon = 10.1 - M_LN2, .delta = 0.5, .order = {{2, 1}}, .orders = 1};
    struct dpline_run run = {.data = "d1", .population = "us", .rows = 100, .epsilon = 1000, .delta = 0.5};
    struct dpline_charge charge = gaussian(41, 2);
    struct dpline_ledger *ledger;
    struct dpline_error error;
    charge.sampling = DPLINE_SAMPLING_NONE;
    charge.rate = 1;
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/ledger", directory);
    snprintf(mark, sizeof mark, "%s/ledger.mark", directory);
    assert_int_equal(dp_ledger_set_budget(path, &budget, &err), 0);
    assert_int_equal(dpline_ledger_open(&ledger, path, &run, &error), 0);
    assert_int_equal(dpline_ledger_reserve(ledger, &charge, &error), DPLINE_E_BUDGET);
    assert_non_null(strstr(error.message, "affords fewer than 41 laps more"));
    charge.laps = 39;
    assert_int_equal(dpline_ledger_reserve(ledger, &charge, &error), 0);
    charge.laps = 2;
    assert_int_equal(dpline_ledger_reserve(ledger, &charge, &error), DPLINE_E_BUDGET);
    charge.laps = 1;
    assert_int_equal(dpline_ledger_reserve(ledger, &charge, &error), 0);
    assert_int_equal(dpline_ledger_close(ledger, NULL, &error), 0);
    assert_int_equal(dpline_ledger_report(path, "us", 0, &report, &error), 0);
    assert_non_null(strstr(report, "\"laps\": 40"));
    free(report);
    unlink(path);
    unlink(mark);
    assert_int_equal(rmdir(directory), 0);
}

TEST(fields_have_their_types)
{
    struct dpline_frame *frame;
    struct dpline_array array;
    struct dpline_error error;
    const double model[] = {1, 2, 3};
    assert_int_equal(dpline_frame_new(&frame, NULL), 0);
    dpline_frame_reset(frame, DPLINE_LAP);
    assert_int_equal(dpline_frame_kind(frame), DPLINE_LAP);
    assert_int_equal(dpline_frame_set_int(frame, "n", 5, &error), 0);
    assert_int_equal(dpline_frame_set_real(frame, "lambda", 0.5, &error), 0);
    assert_int_equal(dpline_frame_set_flag(frame, "seeded", 1, &error), 0);
    assert_int_equal(dpline_frame_set_text(frame, "loss", "hinge", &error), 0);
    assert_int_equal(dpline_frame_set_array(frame, "model", DPLINE_F8, 1, 3, model, &error), 0);
    assert_true(dpline_frame_int(frame, "n", 0) == 5 && dpline_frame_real(frame, "lambda", 0) == 0.5 &&
                dpline_frame_flag(frame, "seeded", 0) == 1);
    assert_string_equal(dpline_frame_text(frame, "loss", ""), "hinge");
    assert_int_equal(dpline_frame_array(frame, "model", DPLINE_F8, 2, &array, &error), 0);
    assert_true(array.count == 3 && array.size[0] == 1 && array.size[1] == 3);
    assert_memory_equal(array.data, model, sizeof model);
    assert_int_equal(dpline_frame_array(frame, "model", DPLINE_F4, 2, &array, &error), DPLINE_E_RUN);
    assert_int_equal(dpline_frame_array(frame, "sum", DPLINE_I8, 2, &array, &error), DPLINE_E_RUN);
    assert_int_equal(dpline_frame_array(frame, "n", DPLINE_I8, 1, &array, &error), DPLINE_E_RUN);
    assert_true(dpline_frame_int(frame, "lambda", -1) == -1 && dpline_frame_real(frame, "nonsense", -1) == -1);
    assert_int_equal(dpline_frame_set_int(frame, "lambda", 5, &error), DPLINE_E_USAGE);
    assert_int_equal(dpline_frame_set_int(frame, "nonsense", 5, &error), DPLINE_E_USAGE);
    assert_int_equal(dpline_frame_drop(frame, "n", &error), 0);
    assert_int_equal(dpline_frame_drop(frame, "nonsense", &error), DPLINE_E_USAGE);
    assert_false(dpline_frame_has(frame, "n"));
    char *json;
    assert_int_equal(dpline_frame_json(frame, &json, &error), 0);
    assert_non_null(strstr(json, "\"loss\":\"hinge\""));
    free(json);
    dpline_frame_free(frame);
    dpline_frame_free(NULL);
}

TEST(only_a_raw_lap_is_bounded)
{
    struct dpline_frame *frame;
    struct dpline_error error;
    const int64_t sum[] = {1, -2}, ids[] = {3, 4};
    assert_int_equal(dpline_frame_new(&frame, NULL), 0);
    struct dp_frame *inside = (struct dp_frame *)frame;
    dpline_frame_reset(frame, DPLINE_LAP);
    inside->label = DP_LABEL_RAW;
    assert_int_equal(dpline_frame_bound(frame, sum, 1, 2, 0.5, 0, &error), DPLINE_E_UNSAFE); /* no record */
    const struct dp_record sampled = {.of = DP_F_NONE, .sampler = DP_SAMPLER_POISSON, .rate = 0.25, .rows = 8};
    assert_int_equal(dp_frame_add_record(inside, &sampled, NULL), 0);
    assert_int_equal(dpline_frame_set_array(frame, "rows", DPLINE_I8, 2, 0, ids, &error), 0);
    assert_string_equal(dpline_frame_record_text(frame, NULL, "sampler", ""), "poisson");
    assert_true(dpline_frame_record_real(frame, NULL, "rate", 0) == 0.25);
    assert_int_equal(dpline_frame_bound(frame, sum, 1, 2, 0, 0, &error), DPLINE_E_USAGE);
    inside->label = DP_LABEL_RELEASED;
    assert_int_equal(dpline_frame_bound(frame, sum, 1, 2, 0.5, 1, &error), DPLINE_E_UNSAFE);
    inside->label = DP_LABEL_RAW;
    assert_int_equal(dpline_frame_bound(frame, sum, 1, 2, 0.5, 1, &error), 0);
    assert_int_equal(dpline_frame_label(frame), DPLINE_BOUNDED);
    assert_false(dpline_frame_has(frame, "rows"));
    assert_true(dpline_frame_record_real(frame, "sum", "bound", 0) == 0.5);
    assert_true(dpline_frame_record_real(frame, "sum", "sensitivity", 0) == 1);
    assert_true(dpline_frame_record_real(frame, "sum", "rows", 0) == 8);
    assert_string_equal(dpline_frame_record_text(frame, "sum", "adjacency", ""), "replace-one");
    assert_true(dpline_frame_record_real(frame, "sum", "adjacency", -1) == -1); /* a text */
    assert_true(dpline_frame_record_real(frame, NULL, "rate", -1) == -1 &&
                dpline_frame_record_real(frame, "nonsense", "rate", -1) == -1);
    assert_int_equal(dpline_frame_bound(frame, sum, 1, 2, 0.5, 1, &error), DPLINE_E_UNSAFE); /* once */
    dpline_frame_free(frame);
}

TEST(streams_keep_what_is_private)
{
    struct dpline_frame *frame;
    struct dpline_stream *stream;
    struct dpline_error error;
    char directory[] = "/tmp/dp-public-XXXXXX", path[64], socket[80];
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/frames", directory);
    snprintf(socket, sizeof socket, "ipc://%s/socket", directory);
    assert_int_equal(dpline_frame_new(&frame, NULL), 0);
    dpline_frame_reset(frame, DPLINE_LAP);
    ((struct dp_frame *)frame)->label = DP_LABEL_NOISED;
    ((struct dp_frame *)frame)->lap = 4;
    assert_int_equal(chmod(directory, 0755), 0); /* where others may read */
    assert_int_equal(dpline_stream_write_to(&stream, socket, &error), DPLINE_E_UNSAFE);
    assert_int_equal(chmod(directory, 0700), 0);
    assert_int_equal(setenv("DPLINE_KEYS", directory, 1), 0); /* which has no keys */
    assert_int_equal(dpline_stream_write_to(&stream, "tcp://127.0.0.1:5555", &error), DPLINE_E_USAGE);
    assert_int_equal(dpline_stream_write_to(&stream, path, &error), 0);
    assert_int_equal(dpline_stream_write(stream, frame, &error), 0);
    assert_int_equal(dpline_stream_commit(stream, &error), 0);
    dpline_stream_free(stream);
    dpline_frame_reset(frame, DPLINE_END);
    assert_int_equal(dpline_stream_read_from(&stream, path, &error), 0);
    assert_int_equal(dpline_stream_read(stream, frame, &error), 1);
    assert_true(dpline_frame_lap(frame) == 4 && dpline_frame_label(frame) == DPLINE_NOISED);
    assert_int_equal(dpline_stream_read(stream, frame, &error), 0);
    dpline_stream_free(stream);
    dpline_stream_free(NULL);
    assert_int_equal(dpline_stream_read_from(&stream, "/nowhere/frames", &error), DPLINE_E_RUN);
    dpline_frame_free(frame);
    unlink(path);
    assert_int_equal(rmdir(directory), 0);
}

TESTS(NULL, NULL)
