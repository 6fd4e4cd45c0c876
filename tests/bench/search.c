/* One lap of a line search in which no step is accepted: 30 steps are tried on a Poisson batch of a tenth of 48842 × 124 rows
   of zeros and ones (Adult in binary columns), logistic loss, fused; and its stages one by one. */
#include "line.h"

enum { ROWS = 48842, COLS = 124, WARM = 50, LAPS = 400 };

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
static int write_row(struct dp_writer *writer, int i, struct dp_err *err)
{
    static struct dp_stream stream;
    double x[COLS] = {0};
    struct dp_key key;
    dp_key_derive(&key, 1, "bench", 0);
    if (i == 0)
        dp_stream_start(&stream, &key, DP_DRAW_BATCH, 0);
    for (int j = 0; j < 14; j++)
        x[dp_stream_below(&stream, COLS)] = 0.25;
    return dp_writer_row(writer, x, (double)dp_stream_below(&stream, 2), err);
}

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
    int rc = write_rows(path, ROWS, COLS, 2, write_row, err);
    for (int i = 0; rc == DP_OK && i < 4; i++) {
        line[i].stays = true;
        rc = line_open(&line[i], text[i], parts[i], WARM + LAPS, 1, path, err);
        line[i].last->label = DP_LABEL_RELEASED;
        rc = rc ?: put_ray(line[i].last, err);
    }
    for (int lap = 1; rc == DP_OK && lap <= WARM + LAPS; lap++)
        for (int i = 0; rc == DP_OK && i < 4; i++) {
            double times[5];
            rc = line_lap(&line[i], lap, times, err);
            for (int k = 0; k < parts[i]; k++)
                if (what[i][k] >= 0)
                    took[what[i][k]][lap > WARM ? lap - WARM - 1 : 0] = times[k];
        }
    for (int i = 0; i < 4; i++)
        line_close(&line[i]);
    return rc;
}

int main(void)
{
    int rc = in_directory("search", measure);
    for (int i = 0; rc == DP_OK && i < MEASURES; i++)
        bench_line(names[i], "µs", 1e6 * bench_median(took[i], LAPS));
    return rc != DP_OK;
}
