/* One lap of a line search in which no step is accepted: 30 steps are tried on a Poisson batch of a tenth of 48842 × 124 rows
   of zeros and ones (Adult in binary columns), logistic loss, fused; and its stages one by one. */
#include <string.h>
#include <unistd.h>

#include "bench.h"

#include "base/mem.h"
#include "base/version.h"
#include "data/dataset.h"
#include "data/dataset_write.h"
#include "math/rng.h"
#include "runtime/child.h"

enum { ROWS = 48842, COLS = 124, WARM = 50, LAPS = 400 };

static double seconds(void)
{
    return bench_seconds(CLOCK_THREAD_CPUTIME_ID);
}

enum what { LAP, SAMPLE, SEARCH, ACCOUNT, GAUSSIAN, LEAST, MEASURES };
static const char *const names[MEASURES] = {
    "whole lap, fused",
    "its dp-sample",
    "its dp-linesearch",
    "its dp-account",
    "dp-linesearch --noise gaussian",
    "dp-linesearch --method noisy-max",
};
static double took[MEASURES][LAPS];

/* Fourteen ones in each row. */
static int write_data(const char *path, struct dp_err *err)
{
    static double x[COLS];
    struct dp_writer_options o = {.cols = COLS, .public_rows = true};
    struct dp_writer *writer;
    struct dp_stream stream;
    struct dp_key key;
    char name[32];
    dp_key_derive(&key, 1, "bench", 0);
    dp_stream_start(&stream, &key, DP_DRAW_BATCH, 0);
    int rc = dp_writer_open(&writer, path, &o, err);
    if (rc != DP_OK)
        return rc;
    for (uint64_t i = 0; rc == DP_OK && i < ROWS; i++) {
        memset(x, 0, sizeof x);
        for (int j = 0; j < 14; j++)
            x[dp_stream_below(&stream, COLS)] = 0.25;
        rc = dp_writer_row(writer, x, (double)dp_stream_below(&stream, 2), err);
    }
    json_t *columns = json_array(), *about;
    for (int j = 0; j < COLS; j++) {
        snprintf(name, sizeof name, "x%d", j);
        json_array_append_new(columns, json_string(name));
    }
    about = json_pack("{s:o, s:{s:s, s:[s,s], s:s}, s:[]}", "names", columns, "label", "kind", "classes", "classes", "a", "b",
                      "name", "y", "private_preprocessing");
    if (rc == DP_OK)
        rc = dp_writer_finish(writer, about, err);
    if (rc == DP_OK)
        rc = dp_writer_commit(writer, err);
    else
        dp_writer_abort(writer);
    json_decref(about);
    return rc;
}

struct line {
    int parts;
    struct dp_child *part[3];
    struct dp_frame *first, *token;
};

/* The frame before a search: a model, and a held gradient. */
static int put_ray(struct dp_frame *f, struct dp_err *err)
{
    static const enum dp_field fields[] = {DP_F_MODEL, DP_F_GRADIENT, DP_F_DIRECTION};
    double *numbers;
    int rc = DP_OK;
    dp_frame_set_string(f, DP_F_METHOD, "gradient");
    dp_frame_set_string(f, DP_F_FAMILY, "linear");
    dp_frame_set_string(f, DP_F_LOSS, "logistic");
    for (int k = 0; rc == DP_OK && k < 3; k++) {
        rc = dp_frame_make_array(f, fields[k], DP_F64, 1, COLS, &numbers, err);
        for (size_t j = 0; rc == DP_OK && j < COLS; j++)
            numbers[j] = (double)((j * 7 + (size_t)k) % 13) / 13 - 0.5;
    }
    dp_frame_set_real(f, DP_F_LOSS_WIDTH, 1);
    dp_frame_set_real(f, DP_F_LAMBDA, 1e-3);
    dp_frame_set_real(f, DP_F_SCALE, 1);
    return rc;
}

static int line_open(struct line *line, const char *const *text, int parts, const char *path, struct dp_err *err)
{
    char filled[4096];
    line->first = dp_frame_new();
    int rc = DP_OK;
    line->token = dp_frame_new();
    for (int i = 0; rc == DP_OK && i < parts; i++) {
        snprintf(filled, sizeof filled, text[i], path, path);
        rc = dp_child_fused(&line->part[i], filled, NULL, err);
        line->parts += rc == DP_OK;
    }
    if (rc != DP_OK)
        return rc;
    struct dp_frame *f = line->token;
    dp_frame_reset(f, DP_KIND_HELLO);
    dp_frame_set_int(f, DP_F_FORMAT, DP_FRAME_FORMAT);
    dp_frame_set_int(f, DP_F_STAGE, 0);
    dp_frame_set_int(f, DP_F_LAPS, WARM + LAPS);
    dp_frame_set_int(f, DP_F_SEED, 1);
    dp_frame_set_string(f, DP_F_SOFTWARE, "dpline " DP_VERSION);
    for (int i = 0; rc == DP_OK && i < parts; i++)
        rc = dp_child_pass(line->part[i], f, f, err);
    dp_frame_reset(line->first, DP_KIND_LAP);
    line->first->label = DP_LABEL_RELEASED;
    dp_frame_set_int(line->first, DP_F_LAPS, WARM + LAPS);
    dp_frame_set_bool(line->first, DP_F_SEEDED, true);
    return rc == DP_OK ? put_ray(line->first, err) : rc;
}

static int line_lap(struct line *line, int64_t lap, const int *what, int at, struct dp_err *err)
{
    double start = seconds();
    dp_frame_copy(line->token, line->first);
    int rc = DP_OK;
    line->token->lap = lap;
    for (int i = 0; rc == DP_OK && i < line->parts; i++) {
        rc = dp_child_pass(line->part[i], line->token, line->token, err);
        double now = seconds();
        if (what[i] >= 0)
            took[what[i]][at] = now - start;
        start = now;
    }
    return rc;
}

static void line_close(struct line *line)
{
    for (int i = 0; i < line->parts; i++)
        dp_child_kill(line->part[i]);
    dp_frame_free(line->first);
    dp_frame_free(line->token);
}

#define STAGE_SAMPLE "dp-sample --data '%s' --rate 0.1"
#define STAGE_SEARCH "dp-linesearch --data '%s' --tries 30 --clip 1 --first-step 10 "
#define STAGE_BACKTRACK STAGE_SEARCH "--armijo 1e6 --epsilon 1"
#define STAGE_GATE "dp-account --epsilon 1000 --delta 1e-5 --allow-seeded"

static int measure(const char *path, struct dp_err *err)
{
    static const char *const text[][3] = {{STAGE_SAMPLE " | " STAGE_BACKTRACK " | " STAGE_GATE},
                                          {STAGE_SAMPLE, STAGE_BACKTRACK, STAGE_GATE},
                                          {STAGE_SAMPLE, STAGE_SEARCH "--armijo 1e6 --noise gaussian --rho 0.1"},
                                          {STAGE_SAMPLE, STAGE_SEARCH "--method noisy-max --epsilon 1"}};
    static const int parts[] = {1, 3, 2, 2}, what[][3] = {{LAP}, {SAMPLE, SEARCH, ACCOUNT}, {-1, GAUSSIAN}, {-1, LEAST}};
    struct line line[4] = {0};
    int rc = DP_OK;
    for (int i = 0; rc == DP_OK && i < 4; i++)
        rc = line_open(&line[i], text[i], parts[i], path, err);
    for (int lap = 1; rc == DP_OK && lap <= WARM + LAPS; lap++)
        for (int i = 0; rc == DP_OK && i < 4; i++)
            rc = line_lap(&line[i], lap, what[i], lap > WARM ? lap - WARM - 1 : 0, err);
    for (int i = 0; i < 4; i++)
        line_close(&line[i]);
    return rc;
}

int main(void)
{
    const char *parent = getenv("TMPDIR") != NULL ? getenv("TMPDIR") : "/tmp";
    char place[2048], path[2100], command[2100];
    struct dp_err err = {0};
    snprintf(place, sizeof place, "%s/dpline-bench-XXXXXX", parent);
    if (mkdtemp(place) == NULL)
        return perror(place), 1;
    snprintf(path, sizeof path, "%s/data", place);
    int rc = write_data(path, &err);
    if (rc == DP_OK)
        rc = measure(path, &err);
    snprintf(command, sizeof command, "rm -rf '%s'", place);
    if (system(command) != 0)
        fprintf(stderr, "search: cannot remove %s\n", place);
    if (rc != DP_OK)
        fprintf(stderr, "search: %s\n", err.message);
    for (int i = 0; rc == DP_OK && i < MEASURES; i++)
        bench_line(names[i], "µs", 1e6 * bench_median(took[i], LAPS));
    return rc != DP_OK;
}
