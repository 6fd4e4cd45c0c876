/* A member of a record may change as its row of the table states (wire/record.h), wherever two records are compared. */
#include "unit.h"

#include "changed.h"
#include "gate/charge.h"
#include "gate/hold.h"

static void a_changed_member_is_found_and_no_other(void **state)
{
    (void)state;
    for (int m = 0; m < DP_RECORD_MEMBER_COUNT; m++) {
        const struct dp_record a = record_with(m);
        struct dp_record b = a;
        assert_int_equal(dp_record_differs(&a, &b, ~0u), DP_RECORD_MEMBER_COUNT);
        change_member(&b, m);
        assert_int_equal(dp_record_differs(&a, &b, 1u << m), m);
        if (m < (int)DP_RECORD_query && m != DP_RECORD_sampler) /* other members appear together with these two */
            assert_int_equal(dp_record_differs(&a, &b, ~(1u << m)), DP_RECORD_MEMBER_COUNT);
    }
}

/* Each member is in one set of each column. */
static void every_member_says_how_it_may_change(void **state)
{
    (void)state;
    unsigned all = 0;
    for (int i = DP_ALIKE_RUN; i <= DP_ALIKE_FIELD; i++) {
        assert_int_equal(all & dp_record_alike((enum dp_record_alike)i), 0);
        all |= dp_record_alike((enum dp_record_alike)i);
    }
    assert_int_equal(all, (1u << DP_RECORD_MEMBER_COUNT) - 1);
    all = 0;
    for (int i = DP_CHANGE_NEVER; i <= DP_CHANGE_HELLO; i++) {
        assert_int_equal(all & dp_record_changes((enum dp_record_change)i), 0);
        all |= dp_record_changes((enum dp_record_change)i);
    }
    assert_int_equal(all, (1u << DP_RECORD_MEMBER_COUNT) - 1);
    assert_int_equal(dp_record_alike(DP_ALIKE_RUN), 1u << DP_RECORD_rows | 1u << DP_RECORD_adjacency);
}

/* Whether the gate accepts a second lap whose record has another value of the member than the first. */
static int second_lap(int member, bool adaptive, struct dp_err *err)
{
    struct dp_hold hold = {0};
    struct dp_frame *frame;
    const struct dp_record first = record_with(member);
    struct dp_record second = first;
    change_member(&second, member);
    assert_int_equal(dp_frame_new(&frame, NULL), 0);
    dp_frame_reset(frame, DP_KIND_LAP);
    frame->lap = 1;
    assert_int_equal(dp_frame_add_record(frame, &first, NULL), 0);
    assert_int_equal(dp_hold_lap(&hold, "", adaptive, frame, NULL), 0);
    dp_frame_reset(frame, DP_KIND_LAP);
    frame->lap = 2;
    assert_int_equal(dp_frame_add_record(frame, &second, NULL), 0);
    int rc = dp_hold_lap(&hold, "", adaptive, frame, err);
    dp_frame_free(frame);
    dp_hold_close(&hold);
    return rc;
}

static void a_lap_keeps_what_its_kind_has(void **state)
{
    (void)state;
    const unsigned planned = dp_record_changes(DP_CHANGE_PLANNED), never = dp_record_changes(DP_CHANGE_NEVER);
    const unsigned bound = dp_record_changes(DP_CHANGE_FOLLOWS), with = dp_record_changes(DP_CHANGE_WITH_BOUND);
    for (int m = 0; m < DP_RECORD_MEMBER_COUNT; m++)
        for (int adaptive = 0; adaptive <= 1; adaptive++) {
            unsigned kept = never | with | (adaptive ? bound : planned | bound); /* a changed bound keeps its sensitivity */
            struct dp_err err = {0};
            int rc = second_lap(m, adaptive, &err);
            if (rc != (is_in(kept, m) ? DP_E_UNSAFE : DP_OK))
                fail_msg("a change of '%s' in a lap: %d, '%s'", dp_record_key(m), rc, err.message);
        }
}

/* For a sum and its count. */
static void the_records_of_a_lap_are_of_one_batch(void **state)
{
    (void)state;
    const struct dp_record sum = {.of = DP_F_SUM,
                                  .sampler = DP_SAMPLER_REPEATED,
                                  .rate = 0.25,
                                  .rows = 600,
                                  .draws = 8,
                                  .contraction = 0.5,
                                  .adjacency = DP_ADJACENCY_NULL_RECORD,
                                  .release = DP_RELEASE_SUM,
                                  .bound = 1,
                                  .sensitivity = 2,
                                  .scale = 4,
                                  .query = {.kind = DP_QUERY_GAUSSIAN, .multiplier = 2}};
    const unsigned batch = dp_record_alike(DP_ALIKE_RUN) | dp_record_alike(DP_ALIKE_LAP);
    struct dp_err err = {0};
    struct dp_record pair[2] = {sum, sum};
    pair[1].of = DP_F_WITHIN;
    assert_int_equal(dp_charge_check_records(pair, 2, 1, &err), 0);
    for (int m = 0; m < DP_RECORD_MEMBER_COUNT; m++) {
        if (!is_in(batch, m))
            continue;
        pair[1] = sum;
        pair[1].of = DP_F_WITHIN;
        change_member(&pair[1], m);
        if (m == DP_RECORD_sampler)
            pair[1] = (struct dp_record){.of = DP_F_WITHIN,
                                         .sampler = DP_SAMPLER_POISSON,
                                         .rate = 0.25,
                                         .rows = 600,
                                         .adjacency = sum.adjacency,
                                         .release = sum.release,
                                         .bound = 1,
                                         .sensitivity = 2,
                                         .scale = 4,
                                         .query = sum.query};
        assert_int_equal(dp_charge_check_records(pair, 2, 1, &err), DP_E_UNSAFE);
        assert_string_equal(err.message, "the records of lap 1 disagree on how rows were sampled");
    }
}

static void what_is_of_a_hello_frame_stays_there(void **state)
{
    (void)state;
    struct dp_record r = {.of = DP_F_SUM, .means = DP_MEANS_MOVE};
    struct dp_err err = {0};
    assert_int_equal(dp_charge_check_records(&r, 1, 3, &err), DP_E_UNSAFE);
    assert_string_equal(err.message, "a record of lap 3 has what only records of a hello frame have");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_changed_member_is_found_and_no_other), cmocka_unit_test(every_member_says_how_it_may_change),
        cmocka_unit_test(a_lap_keeps_what_its_kind_has),          cmocka_unit_test(the_records_of_a_lap_are_of_one_batch),
        cmocka_unit_test(what_is_of_a_hello_frame_stays_there),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
