#include "unit.h"

#include <unistd.h>

#include "data/schedule_file.h"
#include "math/power.h"

static struct dp_schedule schedule(const char *text)
{
    struct dp_schedule s;
    assert_int_equal(dp_schedule_parse(&s, "--schedule", text, NULL), DP_OK);
    return s;
}

TEST(values)
{
    struct dp_schedule s = schedule("constant");
    assert_true(dp_schedule_at(&s, 1, 0) == 1 && dp_schedule_at(&s, 1000, 1000) == 1);
    s = schedule("inverse");
    assert_true(dp_schedule_at(&s, 1, 0) == 1 && dp_schedule_at(&s, 1000, 0) == 1000);
    assert_true(dp_schedule_noise(&s, 16, 20) == 4);
    s = schedule("sqrt:9:7");
    assert_true(dp_schedule_at(&s, 1, 0) == 4 && dp_schedule_at(&s, 13, 20) == 10);
    assert_true(dp_schedule_noise(&s, 1, 20) == 1);
    assert_near(dp_schedule_noise(&s, 13, 20), sqrt(2.5), 1e-15); /* alpha^2 is proportional to b */
    /* Laps 1, 4, 9 of 15: sqrt(t) is 1, 2 and 3, in a range from 1 to sqrt(T + 1) = 4, so 1/b is 1, 1 - 0.6/3, 1 - 1.2/3. */
    s = schedule("linear:0.4");
    assert_near(1 / dp_schedule_at(&s, 1, 15), 1, 1e-15);
    assert_near(1 / dp_schedule_at(&s, 4, 15), 0.8, 1e-15);
    assert_near(1 / dp_schedule_at(&s, 9, 15), 0.6, 1e-15);
    s = schedule("linear");
    assert_near(1 / dp_schedule_at(&s, 9, 15), 1 - 2. / 3, 1e-15);
    assert_true(dp_schedule_at(&s, 15, 15) > 0 && isfinite(dp_schedule_at(&s, 15, 15)));
    /* Cosine: at a third of the way cos is 1/2, at half 0, at two thirds -1/2. */
    s = schedule("linear-decay:0.4");
    assert_near(1 / dp_schedule_at(&s, 1, 6), 1, 1e-15);
    assert_near(1 / dp_schedule_at(&s, 4, 6), 0.7, 1e-15);
    s = schedule("linear-decay");
    assert_near(1 / dp_schedule_at(&s, 128, 128), 1. / 128, 1e-15);
    s = schedule("cosine");
    assert_near(1 / dp_schedule_at(&s, 1, 6), 1, 1e-15);
    const double sixth = sqrtf(0.75f), quarter = sqrtf(0.5f); /* cosines as floats */
    assert_near(1 / dp_schedule_at(&s, 3, 6), sixth * sixth, 1e-15);
    assert_near(1 / dp_schedule_at(&s, 4, 6), quarter * quarter, 1e-15);
    s = schedule("cosine:0.2");
    assert_near(1 / dp_schedule_at(&s, 5, 6), 0.2 + 0.8 * 0.25, 1e-15);
    s = schedule("cosine");
    assert_near(dp_schedule_at(&s, 1000000, 1000000) * 1e-12, 4 / (M_PI * M_PI), 1e-7);
    s = schedule("first:3:16");
    assert_true(dp_schedule_at(&s, 1, 0) == 16 && dp_schedule_at(&s, 3, 9) == 16 && dp_schedule_at(&s, 4, 9) == 1);
    assert_true(dp_schedule_noise(&s, 3, 9) == 1 && dp_schedule_noise(&s, 4, 9) == 0.25);
}

/* Where a C library uses fused instructions, some cosines have another last bit. */
TEST(bytes_are_those_of_every_machine)
{
    struct dp_schedule s = schedule("cosine");
    uint64_t sum = 0;
    for (int64_t laps = 1; laps <= 1000; laps++)
        for (int64_t t = 1; t <= laps; t++) {
            double at = dp_schedule_at(&s, t, laps);
            uint64_t bits;
            memcpy(&bits, &at, sizeof bits);
            sum = (sum ^ bits) * 0x100000001b3;
        }
    assert_int_equal(sum, 0x36b304330cce8652);
    for (double x = 0.3; x < 1.1; x += 0.1)
        for (int n = 0; n < 300; n++)
            assert_near(dp_power(x, n) / pow(x, n), 1, 1e-13);
}

TEST(bad_ones)
{
    static const char *const bad[] = {"sqrt",        "sqrt:1",     "sqrt:1:-1",  "sqrt:-1:1",   "sqrt:1:2:3", "sqrt:a:1",
                                      "sqrt::1",     "linear:2",   "linear:",    "cosine:-0.1", "cosine:1:1", "constant:1",
                                      "sqrt:nan:1",  "linear:nan", "inverse:1",  "first",       "first:3",    "first:0:1",
                                      "first:1.5:1", "first:3:0",  "first:3:1:1"};
    struct dp_schedule s;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (dp_schedule_parse(&s, "--schedule", bad[i], &err) != DP_E_USAGE)
            fail_msg("'%s' was taken", bad[i]);
    /* Names of files that resemble names of schedules. */
    assert_int_equal(dp_schedule_parse(&s, "--schedule", "constants", &err), 1);
    assert_int_equal(dp_schedule_parse(&s, "--schedule", "./sqrt:1:1", &err), 1);
    assert_fails(dp_schedule_parse(&s, "--schedule", "inverse:2", &err), DP_E_USAGE,
                 "--schedule: inverse takes no number, got 'inverse:2'");
    s = schedule("inverse");
    assert_int_equal(dp_schedule_check(&s, "--schedule", 0, &err), DP_OK); /* it does not depend on the number of laps */
    s = schedule("linear-decay");
    assert_int_equal(dp_schedule_check(&s, "--schedule", 0, &err), DP_E_RUN);
    assert_fails(dp_schedule_parse(&s, "--schedule", "linear-decay:2", &err), DP_E_USAGE,
                 "--schedule: linear-decay:E needs a number from 0 to 1, got 'linear-decay:2'");
    s = schedule("linear");
    assert_int_equal(dp_schedule_check(&s, "--schedule", 0, &err), DP_E_RUN);
    assert_int_equal(dp_schedule_check(&s, "--schedule", 1, &err), DP_OK);
}

static int open_text(struct dp_schedule *s, const char *text, struct dp_err *err)
{
    char name[] = "/tmp/dpline-schedule-XXXXXX";
    int fd = mkstemp(name);
    FILE *f = fdopen(fd, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    int rc = dp_schedule_open(s, "--schedule", name, err);
    unlink(name);
    return rc;
}

TEST(files)
{
    struct dp_schedule s = {0};
    assert_int_equal(open_text(&s, "# b\n1\n\n 2.25 \n4e0\n", &err), DP_OK);
    assert_int_equal(s.count, 3);
    assert_true(dp_schedule_at(&s, 1, 3) == 1 && dp_schedule_at(&s, 3, 3) == 4 && dp_schedule_noise(&s, 2, 3) == 1.5);
    assert_int_equal(dp_schedule_check(&s, "--schedule", 3, &err), DP_OK);
    assert_fails(dp_schedule_check(&s, "--schedule", 4, &err), DP_E_RUN,
                 "--schedule: the file has values for 3 laps, the run has 4");
    dp_schedule_free(&s);
    assert_int_equal(open_text(&s, "1\n0\n", &err), DP_E_RUN);
    assert_non_null(strstr(err.message, ": line 2: expected a number > 0"));
    dp_schedule_free(&s);
    assert_int_equal(open_text(&s, "1\nx\n", &err), DP_E_RUN);
    dp_schedule_free(&s);
    assert_int_equal(dp_schedule_open(&s, "--schedule", "/nowhere/b", &err), DP_E_RUN);
    assert_int_equal(dp_schedule_open(&s, "--schedule", "-", &err), DP_E_USAGE);
}

TESTS(NULL, NULL)
