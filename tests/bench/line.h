/* Used by the programs of tests/bench that measure laps: a data set in a directory of its own, and pipelines in parts, fused,
 * each of which is measured by the clock of this thread. */
#pragma once
#include <string.h>
#include <unistd.h>

#include "bench.h"

#include "base/mem.h"
#include "base/version.h"
#include "data/dataset_write.h"
#include "math/rng.h"
#include "runtime/child.h"

struct line {
    int parts;
    struct dp_child *part[5];
    struct dp_frame *last, *token;
    bool stays; /* each lap begins with the same frame */
};

/* Starts the parts, in whose texts %s is the data set, and sends them hello. */
static int line_open(struct line *line, const char *const *text, int parts, int64_t laps, int64_t seed, const char *path,
                     struct dp_err *err)
{
    char filled[4096];
    line->last = dp_frame_new();
    int rc = DP_OK;
    struct dp_frame *f = line->token = dp_frame_new();
    for (int i = 0; rc == DP_OK && i < parts; i++) {
        snprintf(filled, sizeof filled, text[i], path, path);
        rc = dp_child_fused(&line->part[i], filled, NULL, err);
        line->parts += rc == DP_OK;
    }
    dp_frame_reset(f, DP_KIND_HELLO);
    dp_frame_set_int(f, DP_F_FORMAT, DP_FRAME_FORMAT);
    dp_frame_set_int(f, DP_F_STAGE, 0);
    dp_frame_set_int(f, DP_F_LAPS, laps);
    dp_frame_set_int(f, DP_F_SEED, seed);
    dp_frame_set_string(f, DP_F_SOFTWARE, "dpline " DP_VERSION);
    for (int i = 0; rc == DP_OK && i < parts; i++)
        rc = dp_child_pass(line->part[i], f, f, err);
    dp_frame_reset(line->last, DP_KIND_LAP);
    dp_frame_set_int(line->last, DP_F_LAPS, laps);
    dp_frame_set_bool(line->last, DP_F_SEEDED, true);
    return rc;
}

/* A lap like dp-loop's. took[i]: the seconds of part i. */
static int line_lap(struct line *line, int64_t lap, double took[5], struct dp_err *err)
{
    double start = bench_seconds(CLOCK_THREAD_CPUTIME_ID);
    dp_frame_copy(line->token, line->last);
    int rc = DP_OK;
    line->token->lap = lap;
    line->token->records = 0;
    for (int i = 0; rc == DP_OK && i < line->parts; i++) {
        rc = dp_child_pass(line->part[i], line->token, line->token, err);
        double now = bench_seconds(CLOCK_THREAD_CPUTIME_ID);
        took[i] = now - start;
        start = now;
    }
    struct dp_frame *swap = line->last;
    if (!line->stays) {
        line->last = line->token;
        line->token = swap;
    }
    return rc;
}

static void line_close(struct line *line)
{
    for (int i = 0; i < line->parts; i++)
        dp_child_kill(line->part[i]);
    dp_frame_free(line->last);
    dp_frame_free(line->token);
}

/* Ends a data set of classes c0, c1, … and columns x0, x1, …, of which row() writes one after the other. */
static int write_rows(const char *path, int rows, int cols, int classes,
                      int row(struct dp_writer *writer, int i, struct dp_err *err), struct dp_err *err)
{
    const struct dp_writer_options o = {.cols = (uint32_t)cols, .public_rows = true};
    struct dp_writer *writer;
    json_t *names[] = {json_array(), json_array()};
    char name[32];
    for (int k = 0; k < 2; k++)
        for (int j = 0; j < (k == 0 ? cols : classes); j++) {
            snprintf(name, sizeof name, "%c%d", k == 0 ? 'x' : 'c', j);
            json_array_append_new(names[k], json_string(name));
        }
    json_t *about = json_pack("{s:o, s:{s:s, s:s, s:o}, s:[]}", "names", names[0], "label", "kind", "classes", "name", "y",
                              "classes", names[1], "private_preprocessing");
    int rc = dp_writer_open(&writer, path, &o, err);
    if (rc == DP_OK) {
        for (int i = 0; rc == DP_OK && i < rows; i++)
            rc = row(writer, i, err);
        rc = rc ?: dp_writer_finish(writer, about, err);
        if (rc == DP_OK)
            rc = dp_writer_commit(writer, err);
        else
            dp_writer_abort(writer);
    }
    json_decref(about);
    return rc;
}

/* Calls work() with a path in a new directory, which is removed again, and prints why it failed. */
static int in_directory(const char *program, int work(const char *path, struct dp_err *err))
{
    const char *parent = getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp";
    char place[2048], path[2100], command[2100];
    struct dp_err err = {0};
    snprintf(place, sizeof place, "%s/dpline-bench-XXXXXX", parent);
    if (mkdtemp(place) == NULL)
        return perror(place), 1;
    snprintf(path, sizeof path, "%s/data", place);
    int rc = work(path, &err);
    snprintf(command, sizeof command, "rm -rf '%s'", place);
    if (system(command) != 0)
        fprintf(stderr, "%s: cannot remove %s\n", program, place);
    if (rc != DP_OK)
        fprintf(stderr, "%s: %s\n", program, err.message);
    return rc;
}
