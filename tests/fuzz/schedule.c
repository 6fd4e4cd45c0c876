/* A schedule by its name, and from a file. */
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "data/schedule_file.h"
#include "fuzz.h"

static void use(const struct dp_schedule *schedule)
{
    struct dp_err err = {0};
    int rc = dp_schedule_check(schedule, "--schedule", 100, &err);
    fuzz_said(rc, &err);
    for (int64_t t = 1; rc == DP_OK && t <= 100; t++)
        fuzz_assert(!isnan(dp_schedule_at(schedule, t, 100)));
    if (rc == DP_OK)
        dp_schedule_noise(schedule, 100, 100);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dp_schedule schedule = {0};
    struct dp_err err = {0};
    char *text = fuzz_text(data, size);
    int rc = dp_schedule_parse(&schedule, "--schedule", text, &err);
    fuzz_said(rc, &err);
    if (rc == DP_OK)
        use(&schedule);
    dp_schedule_free(&schedule);
    const char *path = fuzz_file("table", data, size);
    schedule = (struct dp_schedule){0};
    rc = dp_schedule_open(&schedule, "--schedule", path, &err);
    fuzz_said(rc, &err);
    if (rc == DP_OK)
        use(&schedule);
    dp_schedule_free(&schedule);
    unlink(path);
    free(text);
    return 0;
}
