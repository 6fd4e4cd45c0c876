/* The answers of K shards become one frame; answers that do not match are refused with a sentence that names the difference. */
#include "unit.h"

#include "changed.h"

#include "shards/merge.h"

#define MOST 4

static struct dp_frame *sent, *answer[MOST], *out;
static struct dp_merge merge;
static int shards;

static void whole(struct dp_frame *f, enum dp_field field, int64_t a, int64_t b)
{
    int64_t *data;
    assert_int_equal(dp_frame_make_array(f, field, DP_I64, 1, 2, &data, NULL), 0);
    data[0] = a;
    data[1] = b;
}

static int64_t at(const struct dp_frame *f, enum dp_field field, size_t i)
{
    const struct dp_array *a = dp_frame_array(f, field);
    assert_non_null(a);
    assert_true(i < a->count);
    return ((const int64_t *)a->data)[i];
}

/* Shard k is a site of 100 (k + 1) rows, called data-k. */
static void greet(int count)
{
    dp_merge_close(&merge);
    shards = count;
    dp_frame_reset(sent, DP_KIND_HELLO);
    dp_frame_set_int(sent, DP_F_FORMAT, DP_FRAME_FORMAT);
    dp_frame_set_int(sent, DP_F_STAGE, 0);
    dp_frame_set_int(sent, DP_F_LAPS, 7);
    dp_frame_set_int(sent, DP_F_SEED, 5);
    dp_frame_set_string(sent, DP_F_RUN, "00112233445566778899aabbccddeeff");
    for (int k = 0; k < count; k++) {
        struct dp_frame *a = answer[k];
        char data[] = "data-0";
        data[5] = (char)('0' + k);
        dp_frame_copy(a, sent);
        dp_frame_drop(a, DP_F_SEED);
        dp_frame_set_int(a, DP_F_STAGE, 2);
        dp_frame_set_string(a, DP_F_DATA, data);
        dp_frame_set_string(a, DP_F_POPULATION, "people");
        dp_frame_set_string(a, DP_F_LABELS, "[\"no\",\"yes\"]");
        dp_frame_set_string(a, DP_F_ROW_NORM, "unit");
        dp_frame_set_real(a, DP_F_LABEL_SCALE, 2);
        const struct dp_record r = {.of = DP_F_SUM, .sampler = DP_SAMPLER_POISSON, .rate = 0.25, .rows = 100 * (k + 1)};
        assert_int_equal(dp_frame_add_record(a, &r, NULL), 0);
    }
}

static int hello(struct dp_err *err)
{
    return dp_merge_hello(&merge, shards, (const struct dp_frame *const *)answer, sent, out, err);
}

/* Parts of one data set of 900 rows. */
static void greet_parts(int count)
{
    greet(count);
    for (int k = 0; k < count; k++) {
        dp_frame_set_string(answer[k], DP_F_DATA, "whole");
        dp_frame_set_int(answer[k], DP_F_N, 900);
        answer[k]->record[0].rows = 900;
    }
}

/* Afterwards the shards greet again, as they did before they were changed. */
static void hello_refused(const char *message)
{
    struct dp_err err = {0};
    bool parts = dp_frame_has(answer[0], DP_F_N);
    check_failure(hello(&err), DP_E_UNSAFE, &err, message);
    (parts ? greet_parts : greet)(shards);
}

TEST(sites_add_their_rows)
{
    greet(3);
    assert_int_equal(hello(NULL), 0);
    assert_int_equal(merge.rows, 600);
    assert_false(merge.parts);
    const int64_t first[] = {0, 100, 300};
    for (int k = 0; k < 3; k++)
        assert_int_equal(merge.shard[k].first_row, first[k]);
    assert_int_equal(out->records, 1);
    assert_int_equal(out->record[0].rows, 600);
    assert_int_equal(dp_frame_int(out, DP_F_STAGE, 0), 2);
    assert_int_equal(dp_frame_int(out, DP_F_SEED, 0), 5);
    static const enum dp_field none[] = {DP_F_SHARD, DP_F_SHARDS, DP_F_DATA, DP_F_LABELS, DP_F_N, DP_F_LABEL_SCALE};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_false(dp_frame_has(out, none[i]));
    /* printf 'data-0\0data-1\0data-2\0' | b2sum -l 128 */
    assert_string_equal(merge.data, "76e379bbab6774b8ceb7baa81867086b");
    assert_string_equal(merge.population, "people");
}

TEST(parts_have_the_rows_of_one)
{
    greet_parts(4);
    assert_int_equal(hello(NULL), 0);
    assert_true(merge.parts);
    assert_int_equal(merge.rows, 900);
    assert_int_equal(out->record[0].rows, 900);
    assert_string_equal(merge.data, "whole");
}

TEST(sites_that_do_not_fit_are_named)
{
    greet(3);
    dp_frame_set_string(answer[2], DP_F_LABELS, "[\"yes\",\"no\"]");
    hello_refused("shards 1 and 3 differ in 'labels': '[\"no\",\"yes\"]' and '[\"yes\",\"no\"]'");
    dp_frame_drop(answer[1], DP_F_LABELS);
    hello_refused("shards 1 and 2 differ in 'labels': '[\"no\",\"yes\"]' and nothing");
    greet(2);
    dp_frame_set_string(answer[1], DP_F_ROW_NORM, "cap");
    hello_refused("shards 1 and 2 differ in 'row_norm': 'unit' and 'cap'");
    dp_frame_set_real(answer[1], DP_F_LABEL_SCALE, 3);
    hello_refused("shards 1 and 2 differ in 'label_scale': 2 and 3");
    dp_frame_set_int(answer[1], DP_F_STAGE, 3);
    hello_refused("shards 1 and 2 differ in 'stage': 2 and 3");
    answer[1]->record[0].rate = 0.5;
    hello_refused("shards 1 and 2 differ in 'rate' of a record");
    assert_int_equal(dp_frame_add_record(answer[1], &(struct dp_record){.of = DP_F_WITHIN, .rows = 200}, NULL), 0);
    hello_refused("shards 1 and 2 differ in their number of records: 1 and 2");
    whole(answer[0], DP_F_MULTIPLIERS, 1, 2);
    whole(answer[1], DP_F_MULTIPLIERS, 1, 3);
    hello_refused("shards 1 and 2 differ in 'multipliers': other numbers and other numbers");
}

TEST(hello_is_of_this_run)
{
    greet(2);
    dp_frame_set_string(answer[1], DP_F_RUN, "ffeeddccbbaa99887766554433221100");
    hello_refused("shard 2 gives back another 'run' than it was sent");
    dp_frame_set_int(answer[0], DP_F_LAPS, 8);
    hello_refused("shard 1 gives back another 'laps' than it was sent");
    dp_frame_set_string(answer[0], DP_F_KINDS, "secret");
    hello_refused("shard 1 gives back another 'kinds' than it was sent");
    answer[1]->kind = DP_KIND_END;
    hello_refused("shard 2 answers hello with a frame of kind 'end'");
    dp_frame_drop(answer[1], DP_F_DATA);
    hello_refused("shard 2 does not say which data it has");
    answer[1]->records = 0;
    hello_refused("shard 2 does not say which data it has");
    answer[1]->record[0].rows = 0;
    hello_refused("shard 2 does not say how many rows it has");
    answer[1]->record[0].rows = INT64_MAX;
    hello_refused("shard 2 announces 9223372036854775807 rows, and batches are drawn from at most 281474976710656");
    greet(3);
    answer[1]->record[0].rows = 1LL << 48; /* shard 1 has 100 rows: the message must not blame shard 3 */
    hello_refused("the shards announce 281474976710756 rows together, and batches are drawn from at most 281474976710656");
    greet_parts(2);
    for (int k = 0; k < 2; k++) {
        dp_frame_set_int(answer[k], DP_F_N, 1LL << 48);
        answer[k]->record[0].rows = 1LL << 48;
    }
    assert_int_equal(hello(NULL), 0);
}

/* One person's row in two shards would count twice. */
TEST(nobody_counts_twice)
{
    greet(3);
    dp_frame_set_string(answer[2], DP_F_DATA, "data-1");
    hello_refused("shards 2 and 3 have the same data set, whose people would count twice (dp-sample --shard divides one)");
    greet_parts(3);
    dp_frame_set_string(answer[2], DP_F_DATA, "another");
    hello_refused("shards 1 and 3 differ in 'data': 'whole' and 'another'");
    dp_frame_set_int(answer[2], DP_F_N, 901);
    hello_refused("shard 3 does not say how many rows it has");
    dp_frame_drop(answer[1], DP_F_N);
    hello_refused("shards 1 and 2 are of different kinds: one has a part of a data set, the other a whole data set");
}

/* Answers to lap 3 of three sites: sums (k, −k). */
static void run_lap(void)
{
    greet(3);
    assert_int_equal(hello(NULL), 0);
    dp_frame_reset(sent, DP_KIND_LAP);
    sent->lap = 3;
    sent->label = DP_LABEL_RELEASED;
    dp_frame_set_int(sent, DP_F_N, 600);
    dp_frame_set_real(sent, DP_F_EPSILON, 0.5);
    dp_frame_set_string(sent, DP_F_DATA, merge.data);
    dp_frame_set_string(sent, DP_F_POPULATION, merge.population);
    whole(sent, DP_F_WITHIN, 1, 1); /* released in the lap before */
    for (int k = 0; k < 3; k++) {
        struct dp_frame *a = answer[k];
        dp_merge_token(&merge, k, sent, a);
        a->label = DP_LABEL_BOUNDED;
        dp_frame_drop(a, DP_F_WITHIN);
        dp_frame_set_real(a, DP_F_GRID, 0.125);
        dp_frame_set_real(a, DP_F_EPSILON, 0.25); /* only the gate may state it, not a shard */
        whole(a, DP_F_SUM, k + 1, -k - 1);
        const struct dp_record r = {.of = DP_F_SUM, .rows = 600, .bound = 1, .sensitivity = 1};
        assert_int_equal(dp_frame_add_record(a, &r, NULL), 0);
    }
}

static int lap(const struct dp_frame *const *answers, struct dp_err *err)
{
    return dp_merge_lap(&merge, answers, sent, out, err);
}

/* Afterwards the shards answer again. */
static void lap_refused(enum dp_status status, const char *message)
{
    struct dp_err err = {0};
    check_failure(lap((const struct dp_frame *const *)answer, &err), status, &err, message);
    run_lap();
}

static void lap_passes(void)
{
    assert_int_equal(lap((const struct dp_frame *const *)answer, NULL), 0);
}

TEST(a_shard_gets_its_token)
{
    run_lap();
    dp_merge_token(&merge, 2, sent, out);
    assert_int_equal(dp_frame_int(out, DP_F_N, 0), 600);
    assert_int_equal(dp_frame_int(out, DP_F_FIRST_ROW, 0), 300);
    assert_string_equal(dp_frame_text(out, DP_F_DATA, ""), "data-2");
    assert_string_equal(dp_frame_text(out, DP_F_POPULATION, ""), "people");
    assert_true(dp_frame_real(out, DP_F_EPSILON, 0) == 0.5);
    /* A model of other people's rows keeps its description. */
    dp_frame_set_string(sent, DP_F_DATA, "older");
    dp_merge_token(&merge, 2, sent, out);
    assert_string_equal(dp_frame_text(out, DP_F_DATA, ""), "older");
    greet_parts(2);
    assert_int_equal(hello(NULL), 0);
    dp_frame_reset(sent, DP_KIND_LAP);
    dp_merge_token(&merge, 1, sent, out);
    assert_int_equal(dp_frame_int(out, DP_F_N, 0), 900);
    assert_false(dp_frame_has(out, DP_F_FIRST_ROW)); /* its row numbers are for all rows */
    assert_false(dp_frame_has(out, DP_F_DATA));
}

TEST(sums_add_up)
{
    run_lap();
    lap_passes();
    assert_int_equal(at(out, DP_F_SUM, 0), 6);
    assert_int_equal(at(out, DP_F_SUM, 1), -6);
    assert_int_equal(out->label, DP_LABEL_BOUNDED);
    assert_int_equal(out->records, 1);
    assert_int_equal(out->record[0].rows, 600);
    assert_int_equal(out->record[0].gathered, 0);
    assert_string_equal(dp_frame_text(out, DP_F_DATA, ""), merge.data);
    assert_true(dp_frame_real(out, DP_F_EPSILON, 0) == 0.5);
    assert_true(dp_frame_real(out, DP_F_GRID, 0) == 0.125);
    static const enum dp_field none[] = {DP_F_WITHIN, DP_F_LOST, DP_F_FIRST_ROW, DP_F_ELSEWHERE};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_false(dp_frame_has(out, none[i]));
    /* merged in place, and with a count next to the sum */
    run_lap();
    for (int k = 0; k < 3; k++) {
        const struct dp_record r = {.of = DP_F_WITHIN, .rows = 600, .bound = 0.5, .sensitivity = 0.5};
        whole(answer[k], DP_F_WITHIN, 10, k);
        assert_int_equal(dp_frame_add_record(answer[k], &r, NULL), 0);
    }
    dp_frame_set_bool(answer[1], DP_F_ELSEWHERE, true);
    assert_int_equal(dp_merge_lap(&merge, (const struct dp_frame *const *)answer, sent, sent, NULL), 0);
    assert_int_equal(at(sent, DP_F_SUM, 0), 6);
    assert_int_equal(at(sent, DP_F_WITHIN, 0), 30);
    assert_int_equal(at(sent, DP_F_WITHIN, 1), 3);
    assert_true(dp_frame_bool(sent, DP_F_ELSEWHERE));
}

TEST(a_lost_shard_adds_nothing_and_is_counted)
{
    run_lap();
    const struct dp_frame *some[] = {NULL, answer[1], NULL}, *none[] = {NULL, NULL, NULL};
    assert_int_equal(lap(some, NULL), 0);
    assert_int_equal(at(out, DP_F_SUM, 0), 2);
    assert_int_equal(dp_frame_int(out, DP_F_LOST, 0), 2);
    assert_int_equal(out->record[0].rows, 600);
    check_failure(lap(none, &err), DP_E_RUN, &err, "no shard has answered lap 3");
}

TEST(shares_of_noise_are_counted)
{
    run_lap();
    const struct dp_frame *some[] = {answer[0], NULL, answer[2]};
    for (int k = 0; k < 3; k++) {
        answer[k]->label = DP_LABEL_NOISED;
        answer[k]->record[0].shares = 3;
        answer[k]->record[0].colluding = 1;
    }
    lap_passes();
    assert_int_equal(out->record[0].gathered, 3);
    assert_int_equal(lap(some, NULL), 0);
    assert_int_equal(out->record[0].gathered, 2);
    answer[1]->record[0].gathered = 1;
    lap_refused(DP_E_UNSAFE, "shard 2 gives noise that is not one share of 3");
    for (int k = 0; k < 3; k++) {
        answer[k]->label = DP_LABEL_NOISED;
        answer[k]->record[0].shares = 4;
        answer[k]->record[0].colluding = 1;
    }
    lap_refused(DP_E_UNSAFE, "shard 1 gives noise that is not one share of 3");
}

TEST(laps_that_do_not_fit_are_refused)
{
    double *numbers;
    run_lap();
    answer[1]->lap = 2;
    lap_refused(DP_E_UNSAFE, "shard 2 does not answer lap 3");
    answer[2]->label = DP_LABEL_NOISED;
    lap_refused(DP_E_UNSAFE, "shards 1 and 3 differ in what they give: a bounded and a noised frame");
    answer[0]->label = DP_LABEL_RAW;
    lap_refused(DP_E_UNSAFE, "shard 1 gives a raw frame, which has no place here");
    answer[0]->label = DP_LABEL_RELEASED;
    lap_refused(DP_E_UNSAFE, "shard 1 gives a released frame, which has no place here");
    dp_frame_set_string(answer[1], DP_F_DATA, "data-2");
    lap_refused(DP_E_UNSAFE, "shard 2 has other data than it announced");
    dp_frame_set_string(answer[1], DP_F_POPULATION, "others");
    lap_refused(DP_E_UNSAFE, "shard 2 has other data than it announced");
    dp_frame_set_real(answer[2], DP_F_GRID, 0.25);
    lap_refused(DP_E_UNSAFE, "shards 1 and 3 differ in 'grid': 0.125 and 0.25");
    dp_frame_set_int(answer[1], DP_F_N, 601);
    lap_refused(DP_E_UNSAFE, "shards 1 and 2 differ in 'n': 600 and 601");
    answer[1]->record[0].sensitivity = 2;
    lap_refused(DP_E_UNSAFE, "shards 1 and 2 differ in 'sensitivity' of a record");
    for (int k = 0; k < 3; k++)
        answer[k]->record[0].rows = 599;
    lap_refused(DP_E_UNSAFE, "shard 1 records 599 rows, and all shards have 600");
    assert_int_equal(dp_frame_make_array(answer[1], DP_F_SUM, DP_I64, 1, 3, &numbers, NULL), 0);
    memset(numbers, 0, 3 * sizeof *numbers);
    lap_refused(DP_E_UNSAFE, "shards 1 and 2 differ in the shape of 'sum', 1 × 2 and 1 × 3: their rows have other columns");
    assert_int_equal(dp_frame_make_array(answer[0], DP_F_SUM, DP_F64, 1, 2, &numbers, NULL), 0);
    lap_refused(DP_E_UNSAFE, "shard 1 gives a 'sum' that is not of whole numbers");
    whole(answer[1], DP_F_WITHIN, 1, 1);
    lap_refused(DP_E_UNSAFE, "shard 2 gives a 'within' without a record");
    whole(answer[1], DP_F_CHOICE, 1, 1);
    lap_refused(DP_E_UNSAFE, "shard 2 gives a 'choice', and choices do not add up");
    dp_frame_drop(answer[1], DP_F_SUM);
    lap_refused(DP_E_UNSAFE, "shard 2 gives a record of a field that it does not give");
    answer[1]->record[0].of = DP_F_NONE;
    lap_refused(DP_E_UNSAFE, "shard 2 gives a 'sum' without a record");
}

/* Shards agree in every member, except for the rows that each site announces. */
TEST(records_agree_in_every_member)
{
    for (int m = 0; m < DP_RECORD_MEMBER_COUNT; m++) {
        err = (struct dp_err){0};
        greet(3);
        for (int k = 0; k < 3; k++) {
            answer[k]->record[0] = record_with(m);
            answer[k]->record[0].rows = 100 * (k + 1);
        }
        change_member(&answer[1]->record[0], m);
        if (hello(&err) != (m == DP_RECORD_rows ? DP_OK : DP_E_UNSAFE))
            fail_msg("a change of '%s' in a hello frame: '%s'", dp_record_key(m), err.message);
        run_lap();
        for (int k = 0; k < 3; k++)
            answer[k]->record[0] = record_with(m);
        change_member(&answer[1]->record[0], m);
        if (lap((const struct dp_frame *const *)answer, &err) != DP_E_UNSAFE)
            fail_msg("a change of '%s' in a lap passes", dp_record_key(m));
    }
}

TEST(a_sum_that_overflows_is_refused)
{
    run_lap();
    for (int k = 0; k < 3; k++) /* without a bound sums may have any size */
        answer[k]->record[0].bound = 0;
    whole(answer[0], DP_F_SUM, INT64_MAX - 5, 0);
    lap_passes();
    assert_true(at(out, DP_F_SUM, 0) == INT64_MAX);
    whole(answer[0], DP_F_SUM, INT64_MAX - 4, 0);
    lap_refused(DP_E_RUN, "the 'sum' of all shards in lap 3 overflows");
}

/* 100 rows of norm 1, in steps of 1/8, and two coordinates that are rounded. */
TEST(a_sum_is_no_larger_than_its_rows_make_it)
{
    static const char larger[] = "shard 1 gives a 'sum' that is larger than its 100 rows can make it";
    run_lap();
    whole(answer[0], DP_F_SUM, -800, 0);
    lap_passes();
    run_lap();
    whole(answer[0], DP_F_SUM, 0, 801);
    lap_refused(DP_E_UNSAFE, larger);
    whole(answer[0], DP_F_SUM, 600, -600);
    lap_refused(DP_E_UNSAFE, larger);
    whole(answer[0], DP_F_SUM, INT64_MIN, INT64_MIN);
    lap_refused(DP_E_UNSAFE, larger);
    whole(answer[1], DP_F_SUM, 1600, 0); /* of 200 rows */
    lap_passes();
    greet_parts(2);
    assert_int_equal(hello(NULL), 0);
    assert_int_equal(merge.shard[1].rows, 900);
}

/* With noise in shares a sum may be larger by (√2 + 10) standard deviations of its share: 11.4 × 16 / √(3 − 1) / 0.125 = 1033
   steps. */
TEST(shares_of_noise_may_be_as_large_as_noise_is)
{
    for (int64_t sum = 1830; sum <= 1840; sum += 10) {
        run_lap();
        for (int k = 0; k < 3; k++) {
            answer[k]->label = DP_LABEL_NOISED;
            answer[k]->record[0].shares = 3;
            answer[k]->record[0].colluding = 1;
            answer[k]->record[0].scale = 16;
            answer[k]->record[0].query = (struct dp_query){.kind = DP_QUERY_GAUSSIAN, .multiplier = 16};
        }
        whole(answer[0], DP_F_SUM, sum, 0);
        if (sum == 1830)
            lap_passes();
        else
            lap_refused(DP_E_UNSAFE, "shard 1 gives a 'sum' that is larger than its 100 rows can make it");
    }
}

/* Each row counts one half, up or down. */
TEST(a_count_is_no_larger_than_its_rows_make_it)
{
    for (int64_t count = 100; count <= 102; count += 2) {
        run_lap();
        for (int k = 0; k < 3; k++) {
            answer[k]->record[0].of = DP_F_WITHIN;
            answer[k]->record[0].bound = 0.5;
            dp_frame_drop(answer[k], DP_F_SUM);
            int64_t *cell;
            assert_int_equal(dp_frame_make_array(answer[k], DP_F_WITHIN, DP_I64, 1, 1, &cell, NULL), 0);
            *cell = k == 0 ? count : 0;
        }
        if (count == 100)
            lap_passes();
        else
            lap_refused(DP_E_UNSAFE, "shard 1 gives a 'within' that is larger than its 100 rows can make it");
    }
}

/* Answers with masks: modulo 2^64 their total is (6, -6). */
static void masked_lap(int64_t total)
{
    run_lap();
    merge.masked = true;
    for (int k = 0; k < 3; k++) {
        answer[k]->label = DP_LABEL_NOISED;
        answer[k]->record[0].shares = 3;
        answer[k]->record[0].scale = 16;
        answer[k]->record[0].query = (struct dp_query){.kind = DP_QUERY_GAUSSIAN, .multiplier = 16};
    }
    whole(answer[0], DP_F_SUM, INT64_MAX, INT64_MIN);
    whole(answer[1], DP_F_SUM, INT64_MAX, INT64_MIN);
    whole(answer[2], DP_F_SUM, total + 2, -total);
}

TEST(of_masked_answers_the_total_counts)
{
    static const char large[] =
        "the 'sum' of all shards is larger than their rows can make it: a shard has other masks, or gives "
        "a wrong sum";
    masked_lap(6);
    lap_passes();
    assert_int_equal(at(out, DP_F_SUM, 0), 6);
    assert_int_equal(at(out, DP_F_SUM, 1), -6);
    assert_int_equal(out->record[0].gathered, 3);
    assert_false(dp_frame_has(out, DP_F_LOST));
    /* of 600 rows 4800 steps, of the noise (√2 + 10) × 16 / 0.125 = 1461, of its rounding 2.1; each of two numbers has 1/√2 */
    masked_lap(4428);
    lap_passes();
    masked_lap(4430);
    lap_refused(DP_E_UNSAFE, large);
    masked_lap(INT64_MIN / 2);
    lap_refused(DP_E_UNSAFE, large);
    /* without masks nothing wraps around */
    masked_lap(6);
    merge.masked = false;
    lap_refused(DP_E_UNSAFE, "shard 1 gives a 'sum' that is larger than its 100 rows can make it");
}

TEST(a_torn_lap_adds_nothing)
{
    masked_lap(6);
    const struct dp_frame *some[] = {answer[0], NULL, answer[2]};
    merge.torn = true;
    assert_int_equal(lap(some, NULL), 0);
    assert_int_equal(at(out, DP_F_SUM, 0), 0);
    assert_int_equal(at(out, DP_F_SUM, 1), 0);
    assert_int_equal(out->record[0].gathered, 2);
    assert_int_equal(dp_frame_int(out, DP_F_LOST, 0), 3);
    merge.has_moments = true;
    check_failure(lap(some, &err), DP_E_RUN, &err, "the moments of lap 3 are lost with the masks of a shard");
    strcpy(merge.moments, "moments");
    assert_int_equal(lap(some, NULL), 0);
}

TEST(sites_of_one_population_are_found)
{
    int one, other;
    greet(3);
    dp_frame_set_string(answer[0], DP_F_POPULATION, "others");
    assert_int_equal(hello(NULL), 0);
    assert_true(dp_merge_same_people(&merge, &one, &other));
    assert_int_equal(one, 1);
    assert_int_equal(other, 2);
    greet(3);
    dp_frame_set_string(answer[0], DP_F_POPULATION, "others");
    dp_frame_set_string(answer[2], DP_F_POPULATION, "and others");
    assert_int_equal(hello(NULL), 0);
    assert_false(dp_merge_same_people(&merge, &one, &other));
}

/* With two splits no rows are held out for all of the model. */
TEST(sites_of_two_splits_have_none)
{
    run_lap();
    for (int k = 0; k < 3; k++)
        dp_frame_set_string(answer[k], DP_F_SPLIT, "one");
    lap_passes();
    assert_string_equal(dp_frame_text(out, DP_F_SPLIT, ""), "one");
    dp_frame_set_string(answer[2], DP_F_SPLIT, "two");
    lap_passes();
    assert_string_equal(dp_frame_text(out, DP_F_SPLIT, ""), "several");
    dp_frame_drop(answer[2], DP_F_SPLIT);
    lap_passes();
    assert_string_equal(dp_frame_text(out, DP_F_SPLIT, ""), "several");
}

static int enter(void **state)
{
    (void)state;
    sent = dp_frame_new();
    out = dp_frame_new();
    for (int k = 0; k < MOST; k++)
        answer[k] = dp_frame_new();
    return 0;
}

static int leave(void **state)
{
    (void)state;
    dp_merge_close(&merge);
    dp_frame_free(sent);
    dp_frame_free(out);
    for (int k = 0; k < MOST; k++)
        dp_frame_free(answer[k]);
    return 0;
}

TESTS(enter, leave)
