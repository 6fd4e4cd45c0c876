/* A member of a record may change as its row of the table states (wire/record.h), wherever two records are compared. */
#include "unit.h"

#include "changed.h"
#include "gate/charge.h"

TEST(a_changed_member_is_found_and_no_other)
{
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
TEST(every_member_says_how_it_may_change)
{
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

/* The terms of a contract are broken by a change of each member whose column is not loose. */
TEST(a_lap_keeps_to_the_terms_of_each_column)
{
    const unsigned never_kept = dp_record_changes(DP_CHANGE_EACH_LAP) | dp_record_changes(DP_CHANGE_HELLO);
    for (int m = 0; m < DP_RECORD_MEMBER_COUNT; m++)
        for (unsigned loose = 0; loose < 1u << (DP_CHANGE_HELLO + 1); loose++) {
            const struct dp_record terms = record_with(m);
            struct dp_record lap = terms;
            change_member(&lap, m);
            int expected = is_in(never_kept, m) ? DP_RECORD_MEMBER_COUNT : m;
            for (int column = 0; column <= DP_CHANGE_HELLO; column++)
                if ((loose >> column & 1) && column != DP_CHANGE_UP && /* the change is a smaller number */
                    is_in(dp_record_changes((enum dp_record_change)column), m))
                    expected = DP_RECORD_MEMBER_COUNT;
            if (m == DP_RECORD_bound && expected != m && !(loose >> DP_CHANGE_WITH_BOUND & 1))
                expected = DP_RECORD_sensitivity; /* which keeps its ratio to the bound */
            if (dp_record_breaks(&terms, &terms, loose) != DP_RECORD_MEMBER_COUNT)
                fail_msg("the terms break themselves at '%s'", dp_record_key(m));
            if (dp_record_breaks(&terms, &lap, loose) != expected)
                fail_msg("a change of '%s' with %#x loose: %d, not %d", dp_record_key(m), loose,
                         dp_record_breaks(&terms, &lap, loose), expected);
        }
}

TEST(a_scheduled_multiplier_may_be_larger_and_sensitivity_follows_the_bound)
{
    const struct dp_record terms = record_with(DP_RECORD_bound);
    struct dp_record lap = terms;
    lap.query.multiplier *= 2;
    assert_int_equal(dp_record_breaks(&terms, &lap, 0), DP_RECORD_OWN_COUNT + DP_QUERY_multiplier);
    assert_int_equal(dp_record_breaks(&terms, &lap, 1u << DP_CHANGE_UP), DP_RECORD_MEMBER_COUNT);
    lap.query.multiplier = (double)NAN;
    assert_int_equal(dp_record_breaks(&terms, &lap, 1u << DP_CHANGE_UP), DP_RECORD_OWN_COUNT + DP_QUERY_multiplier);
    lap = terms;
    lap.bound /= 3;
    lap.sensitivity /= 3;
    assert_int_equal(dp_record_breaks(&terms, &lap, 1u << DP_CHANGE_FOLLOWS), DP_RECORD_MEMBER_COUNT);
    assert_int_equal(dp_record_breaks(&terms, &lap, 0), DP_RECORD_bound);
}

/* For a sum and its count. */
TEST(the_records_of_a_lap_are_of_one_batch)
{
    struct dp_record sum = noised_sum(0.25, 600, 1, 2);
    sum.sampler = DP_SAMPLER_REPEATED;
    sum.draws = 8;
    sum.contraction = 0.5;
    sum.sensitivity = 2;
    sum.scale = 4;
    const unsigned batch = dp_record_alike(DP_ALIKE_RUN) | dp_record_alike(DP_ALIKE_LAP);
    struct dp_record pair[2] = {sum, sum};
    pair[1].of = DP_F_WITHIN;
    assert_int_equal(dp_charge_check_records(pair, 2, 1, &err), 0);
    for (int m = 0; m < DP_RECORD_MEMBER_COUNT; m++) {
        if (!is_in(batch, m))
            continue;
        pair[1] = sum;
        pair[1].of = DP_F_WITHIN;
        change_member(&pair[1], m);
        if (m == DP_RECORD_sampler) {
            pair[1] = noised_sum(0.25, 600, 2, 2);
            pair[1].of = DP_F_WITHIN;
            pair[1].bound = 1;
        }
        assert_fails(dp_charge_check_records(pair, 2, 1, &err), DP_E_UNSAFE,
                     "the records of lap 1 disagree on how rows were sampled");
    }
}

TEST(what_is_of_a_hello_frame_stays_there)
{
    struct dp_record r = {.of = DP_F_SUM, .means = DP_MEANS_MOVE};
    assert_fails(dp_charge_check_records(&r, 1, 3, &err), DP_E_UNSAFE,
                 "a record of lap 3 has what only records of a hello frame have");
}

TESTS(NULL, NULL)
