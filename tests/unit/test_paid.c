/* The tables of what is paid, and of who takes it (wire/paid.h). */
#include "unit.h"

#include "stages/stages.h"
#include "wire/frame.h"

static const struct dp_paid *row(int field)
{
    return &dp_paid[field];
}

TEST(every_paid_field_has_a_row)
{
    for (int i = 0; i < DP_F_COUNT; i++) {
        if ((dp_fields[i].visibility == DP_PAID) != (row(i)->noised != DP_NOISED_NOT))
            fail_msg("'%s' is paid for in one table only", dp_fields[i].key);
        if (row(i)->noised == DP_NOISED_NOT)
            continue;
        assert_int_equal(dp_fields[i].type, DP_T_ARRAY);
        assert_true((row(i)->bound > 0) == (row(i)->grid > 0));
        assert_true(row(i)->noised != DP_NOISED_COUNT || row(i)->grid > 0); /* a count does not have the grid of the sum */
        assert_true(row(i)->noised != DP_NOISED_BY_CHOICE || !row(i)->adds);
    }
    assert_int_equal(row(DP_F_NONE)->noised, DP_NOISED_NOT);
}

static bool is_stage(const char *name)
{
    for (const struct dp_stage_class *const *c = dp_stage_classes; *c != NULL; c++)
        if (strcmp((*c)->name, name) == 0)
            return (*c)->takes == DP_LABEL_RELEASED;
    return false;
}

TEST(what_waits_has_a_stage_after_the_gate)
{
    for (int i = 0; i < DP_F_COUNT; i++) {
        const char *taker = dp_paid_taker(&(struct dp_record){.of = (enum dp_field)i});
        assert_true((taker != NULL) == (row(i)->waits != DP_WAITS_NEVER));
        assert_true(taker == NULL || is_stage(taker));
    }
    for (int m = 0; m < DP_MEANS_COUNT; m++) {
        assert_true(dp_meanings[m].taken || dp_meanings[m].taker != NULL);
        assert_true((dp_meanings[m].field == DP_F_NONE) == (dp_meanings[m].taker == NULL));
        assert_true(dp_meanings[m].taker == NULL || is_stage(dp_meanings[m].taker));
    }
}

static const char *taker(enum dp_field of, enum dp_meaning means)
{
    const char *name = dp_paid_taker(&(struct dp_record){.of = of, .means = means});
    return name != NULL ? name : "none";
}

TEST(a_meaning_names_the_stage_that_takes_it)
{
    assert_string_equal(taker(DP_F_SUM, DP_MEANS_NONE), "dp-step");
    assert_string_equal(taker(DP_F_SUM, DP_MEANS_GRADIENT), "dp-step");
    assert_string_equal(taker(DP_F_SUM, DP_MEANS_MOVE), "dp-step");
    assert_string_equal(taker(DP_F_SUM, DP_MEANS_MOMENTS), "dp-transform");
    assert_string_equal(taker(DP_F_SUM, DP_MEANS_TRANSFORM), "dp-transform");
    assert_string_equal(taker(DP_F_SUM, DP_MEANS_TABLES), "dp-table");
    assert_string_equal(taker(DP_F_SUM, DP_MEANS_TAKEN), "dp-step");
    assert_string_equal(taker(DP_F_CHOICE, DP_MEANS_CHOICE), "dp-step");
    assert_string_equal(taker(DP_F_CHOICE, DP_MEANS_MOMENTS), "dp-step"); /* which is not a meaning of a choice */
    assert_string_equal(taker(DP_F_WITHIN, DP_MEANS_GRADIENT), "none");
    assert_string_equal(taker(DP_F_MODEL, DP_MEANS_NONE), "none");
    assert_int_equal(dp_meaning_find("moments", DP_F_SUM), DP_MEANS_MOMENTS);
    assert_int_equal(dp_meaning_find("transform", DP_F_SUM), DP_MEANS_NONE);
    assert_int_equal(dp_meaning_find("choice", DP_F_SUM), DP_MEANS_NONE);
    assert_true(!dp_meanings[DP_MEANS_MOVE].taken && !dp_meanings[DP_MEANS_CHOICE].taken && dp_meanings[DP_MEANS_DONE].taken);
}

static void waits(const struct dp_frame *frame, enum dp_field field)
{
    assert_int_equal(dp_paid_waiting(frame), field);
}

TEST(a_field_waits_until_its_stage_has_taken_it)
{
    struct dp_frame *f;
    void *data;
    f = dp_frame_new();
    dp_frame_reset(f, DP_KIND_LAP);
    waits(f, DP_F_NONE);
    assert_int_equal(dp_frame_make_array(f, DP_F_WITHIN, DP_I64, 1, 1, &data, NULL), 0);
    assert_int_equal(dp_frame_make_array(f, DP_F_CHOICE, DP_I64, 1, 1, &data, NULL), 0);
    waits(f, DP_F_NONE);
    assert_int_equal(dp_frame_make_array(f, DP_F_STEPS, DP_F64, 2, 0, &data, NULL), 0);
    waits(f, DP_F_CHOICE);
    dp_frame_set_real(f, DP_F_STEP_SIZE, 0);
    waits(f, DP_F_NONE);
    assert_int_equal(dp_frame_make_array(f, DP_F_CANDIDATES, DP_F64, 2, 1, &data, NULL), 0);
    waits(f, DP_F_CHOICE);
    dp_frame_drop(f, DP_F_CANDIDATES);
    assert_int_equal(dp_frame_make_array(f, DP_F_SUM, DP_I64, 1, 1, &data, NULL), 0);
    waits(f, DP_F_SUM);
    dp_frame_free(f);
}

TEST(bound_and_grid_are_of_the_frame_or_of_the_row)
{
    struct dp_frame *f;
    f = dp_frame_new();
    dp_frame_reset(f, DP_KIND_LAP);
    assert_true(dp_paid_bound(f, DP_F_SUM) == 0 && dp_paid_grid(f, DP_F_SUM) == 0);
    dp_frame_set_real(f, DP_F_BOUND, 3);
    dp_frame_set_real(f, DP_F_GRID, 0.25);
    assert_true(dp_paid_bound(f, DP_F_SUM) == 3 && dp_paid_grid(f, DP_F_SUM) == 0.25);
    assert_true(dp_paid_bound(f, DP_F_WITHIN) == 0.5 && dp_paid_grid(f, DP_F_WITHIN) == 0.5);
    assert_null(dp_paid_main(f));
    assert_int_equal(dp_frame_add_record(f, &(struct dp_record){.of = DP_F_WITHIN}, NULL), 0);
    assert_null(dp_paid_main(f));
    assert_int_equal(dp_frame_add_record(f, &(struct dp_record){.of = DP_F_SUM}, NULL), 0);
    assert_ptr_equal(dp_paid_main(f), &f->record[1]);
    dp_frame_free(f);
}

TESTS(NULL, NULL)
