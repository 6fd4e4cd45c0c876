/* Included by every unit test before cmocka. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/isa.h"

/* 113 bits of precision, in the words of gcc and of clang. */
#ifdef DP_ISA_X86
typedef __float128 quad;
#else
typedef long double quad;
#endif

/* Tells tests/unit/each which kernels the program has called, if it has called any. */
__attribute__((destructor)) static void tell_of_kernels(void)
{
    const char *path = getenv("KERNELS_USED");
    FILE *file = path != NULL && dp_isa_is_chosen() ? fopen(path, "w") : NULL;
    if (file != NULL) {
        fputs(dp_isa_names[dp_isa_used()], file);
        fclose(file);
    }
}

/* Whether long tests run: `make ci` leaves them out with sanitizers, `make check-asan` does not. */
static inline bool unit_has_long_tests(void)
{
#ifdef __SANITIZE_ADDRESS__
    const char *tests = getenv("DPLINE_TESTS");
    return tests == NULL || strcmp(tests, "whole") != 0;
#else
    return true;
#endif
}

/* TEST(name) { … }: a test, with an empty `err`; TEST_IN has what to do before and after it. They run in the order in which the
 * file has them.
 * LONG_TEST(name): a test that compares numbers for seconds. A shorter test calls what it calls. */
static struct CMUnitTest unit_tests[80];
static size_t unit_test_count;
#define UNIT_TEST(name, enter, leave, runs)                                                                                    \
    static void name(void **state, struct dp_err err);                                                                         \
    static void run_##name(void **state)                                                                                       \
    {                                                                                                                          \
        name(state, (struct dp_err){0});                                                                                       \
    }                                                                                                                          \
    __attribute__((constructor)) static void add_##name(void)                                                                  \
    {                                                                                                                          \
        if (runs)                                                                                                              \
            unit_tests[unit_test_count++] = (struct CMUnitTest){#name, run_##name, enter, leave, NULL};                        \
    }                                                                                                                          \
    static void name(__attribute__((unused)) void **state, __attribute__((unused)) struct dp_err err)
#define TEST_IN(name, enter, leave) UNIT_TEST(name, enter, leave, true)
#define TEST(name) TEST_IN(name, NULL, NULL)
#define LONG_TEST(name) UNIT_TEST(name, NULL, NULL, unit_has_long_tests())

/* The number of tests that failed. enter and leave are for all of them. */
static inline int all_tests(CMFixtureFunction enter, CMFixtureFunction leave)
{
    return _cmocka_run_group_tests("tests", unit_tests, unit_test_count, enter, leave);
}
/* The end of a file that needs nothing else */
#define TESTS(enter, leave)                                                                                                    \
    int main(void)                                                                                                             \
    {                                                                                                                          \
        return all_tests(enter, leave);                                                                                        \
    }

/* A call that fills in `err` if it fails; a failure prints its sentence. */
#define assert_ok(call)                                                                                                        \
    do {                                                                                                                       \
        if ((call) != DP_OK)                                                                                                   \
            fail_msg("%s", err.message);                                                                                       \
    } while (0)

/* A call that fails with that status and that sentence in `err`. */
#define assert_fails(call, status, sentence) check_failure(call, status, &err, sentence)
static inline void check_failure(int rc, enum dp_status status, const struct dp_err *err, const char *sentence)
{
    if (rc != (int)status || strcmp(err->message, sentence) != 0)
        fail_msg("%d, '%s', expected %d, '%s'", rc, err->message, status, sentence);
}

/* The text with a " for each ', until the next call: JSON as it is easy to read */
static inline const char *json_of(const char *text)
{
    static char json[4096];
    size_t length = strlen(text);
    assert_true(length < sizeof json);
    for (size_t i = 0; i <= length; i++)
        json[i] = text[i] == '\'' ? '"' : text[i];
    return json;
}

/* The next text of a list with that sign between two of them, until the next call; NULL after the last. *list moves on. */
static inline const char *next_of(const char **list, char sign)
{
    static char text[200];
    if (*list == NULL)
        return NULL;
    const char *end = strchr(*list, sign);
    const size_t length = end != NULL ? (size_t)(end - *list) : strlen(*list);
    assert_true(length < sizeof text);
    memcpy(text, *list, length);
    text[length] = '\0';
    *list = end != NULL ? end + 1 : NULL;
    return text;
}

/* |a − b| ≤ tolerance × max(1, |b|); a failure prints the numbers. */
#define assert_near(a, b, tolerance)                                                                                           \
    do {                                                                                                                       \
        double near_a = (a), near_b = (b);                                                                                     \
        if (!(fabs(near_a - near_b) <= (tolerance)*fmax(1.0, fabs(near_b))))                                                   \
            fail_msg("%s = %.17g, expected %.17g", #a, near_a, near_b);                                                        \
    } while (0)
