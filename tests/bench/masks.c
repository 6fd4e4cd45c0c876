/* The time of a site's masks, by sites and by numbers of a sum: once for a roster, and for each lap. Works in a directory of its
   own, which it removes. */
#include <unistd.h>

#include "bench.h"

#include "port/keys.h"
#include "shards/masks.h"

enum { MOST = 64, LAPS = 1000 };

static int measure(int sites, uint64_t count, struct dp_err *err)
{
    const struct dp_masks_options options = {.roster = "roster", .shard = (sites + 1) / 2, .shards = sites};
    const struct dp_security security = {.keys = "own"};
    const unsigned char run[DP_LINK_ID] = {1};
    int64_t fresh[MOST], *data;
    char what[80];
    struct dp_masks *masks = NULL;
    struct dp_frame *frame = dp_frame_new();
    double start = bench_seconds(CLOCK_THREAD_CPUTIME_ID);
    int rc = dp_masks_open(&masks, &options, &security, err);
    for (int k = 0; k < sites; k++)
        fresh[k] = k + 1 == options.shard ? dp_masks_fresh(masks) : k + 1;
    dp_masks_complete(masks, run, fresh, (size_t)sites * sizeof *fresh);
    double once = bench_seconds(CLOCK_THREAD_CPUTIME_ID) - start;
    dp_frame_reset(frame, DP_KIND_LAP);
    rc = rc ?: dp_frame_make_array(frame, DP_F_SUM, DP_I64, 1, count, &data, err);
    rc = rc ?: dp_frame_add_record(frame, &(struct dp_record){.of = DP_F_SUM, .shares = sites}, err);
    start = bench_seconds(CLOCK_THREAD_CPUTIME_ID);
    for (frame->lap = 1; rc == DP_OK && frame->lap <= LAPS; frame->lap++)
        rc = dp_masks_ready(masks, err) ?: dp_masks_add(masks, frame, err);
    double lap = (bench_seconds(CLOCK_THREAD_CPUTIME_ID) - start) / LAPS;
    snprintf(what, sizeof what, "%d sites, %llu numbers: a lap", sites, (unsigned long long)count);
    bench_line(what, "µs", 1e6 * lap);
    snprintf(what, sizeof what, "%d sites, %llu numbers: keys, once", sites, (unsigned long long)count);
    bench_line(what, "µs", 1e6 * once);
    dp_masks_close(masks);
    dp_frame_free(frame);
    return rc;
}

int main(void)
{
    static const struct {
        int sites;
        uint64_t count;
    } cases[] = {{3, 82}, {16, 82}, {64, 82}, {16, 25930}};
    char directory[] = "/tmp/dpline-bench-XXXXXX";
    struct dp_err err = {0};
    int rc = mkdtemp(directory) != NULL && chdir(directory) == 0 ? DP_OK : DP_E_RUN;
    for (size_t i = 0; rc == DP_OK && i < sizeof cases / sizeof cases[0]; i++) {
        FILE *roster = fopen("roster", "w");
        for (int k = 0; rc == DP_OK && k < cases[i].sites; k++) {
            struct dp_key_pair pair;
            rc = dp_keys_make(k + 1 == (cases[i].sites + 1) / 2 ? "own" : "other", &pair, &err);
            fprintf(roster, "site-%d %s\n", k, pair.public);
            rename("other/own", "other/before");
        }
        fclose(roster);
        rc = rc ?: measure(cases[i].sites, cases[i].count, &err);
        unlink("own/own");
    }
    if (rc != DP_OK)
        fprintf(stderr, "masks: %s\n", err.message);
    const char *const files[] = {"other/before", "roster"}, *const directories[] = {"own", "other", directory};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        unlink(files[i]);
    for (size_t i = 0; i < sizeof directories / sizeof directories[0]; i++)
        rmdir(directories[i]);
    return rc == DP_OK ? 0 : 1;
}
