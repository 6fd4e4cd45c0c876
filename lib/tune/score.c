#include "tune/score.h"

#include "base/mem.h"
#include "math/grid.h"
#include "model/predictor.h"

enum { ROWS_AT_ONCE = 4096 };

int dp_score_open(struct dp_score *s, struct dp_err *err)
{
    int rc = dp_dataset_open(&s->data, s->path, err);
    if (rc != DP_OK)
        return rc;
    bool classes = s->data->label.kind == DP_LABEL_CLASSES;
    if (classes != (s->metric == DP_SCORE_ACCURACY))
        return dp_fail(err, DP_E_USAGE, "--metric: %s is for labels that are %s, the labels of %.200s are %s",
                       classes ? "squared-error" : "accuracy", classes ? "numbers" : "classes", s->path,
                       classes ? "classes" : "numbers");
    return DP_OK;
}

void dp_score_close(struct dp_score *s)
{
    dp_dataset_close(s->data);
    s->data = NULL;
}

static int64_t worth(const struct dp_score *s, const struct dp_predictor *model, size_t row, const double *scores)
{
    if (dp_dataset_is_null(s->data, row))
        return 0;
    if (s->metric == DP_SCORE_ACCURACY)
        return (double)dp_metric_class(scores, model->form.outputs) == s->data->y[row] ? DP_SCORE_ONE : 0;
    double prediction = dp_metric_prediction(model->loss, scores[0], model->label);
    double error = prediction - (s->data->label.scale * s->data->y[row] + s->data->label.offset);
    double part = 1 - error * error / s->clip;
    return part > 0 ? (int64_t)(part * DP_SCORE_ONE) : 0; /* also 0 if the part is not a number */
}

/* The person whose rows are being read. */
struct person {
    size_t number, rows, read; /* rows: rows of the person; read: number of rows read so far */
    int64_t worth;             /* sum of their scores */
};

/* Adds the next row of the data set. After the last row of a person, returns the mean score of the person's rows. */
static int64_t take_row(const struct dp_score *s, struct person *p, int64_t row_worth)
{
    size_t first;
    if (p->read == 0)
        p->rows = dp_dataset_person(s->data, p->number, &first);
    p->worth += row_worth;
    if (++p->read != p->rows)
        return 0;
    int64_t mean = p->worth / (int64_t)p->rows;
    *p = (struct person){.number = p->number + 1};
    return mean;
}

static void sum_persons(const struct dp_score *s, const struct dp_predictor *model, int64_t *sum)
{
    size_t rows = s->data->rows, outputs = model->form.outputs;
    struct person person = {0};
    double *scores = dp_new(ROWS_AT_ONCE * outputs, sizeof *scores);
    *sum = 0;
    for (size_t from = 0; from < rows; from += ROWS_AT_ONCE) {
        size_t count = rows - from < ROWS_AT_ONCE ? rows - from : ROWS_AT_ONCE;
        dp_predictor_score(model, s->data, from, count, scores);
        for (size_t i = 0; i < count; i++)
            *sum += take_row(s, &person, worth(s, model, from + i, scores + i * outputs));
    }
    free(scores);
}

int dp_score_exact(const struct dp_score *s, const struct dp_frame *frame, int64_t *sum, struct dp_err *err)
{
    struct dp_predictor model = {0};
    struct dp_err unused = {0};
    int rc = dp_predictor_open(&model, frame, s->data, s->path, err);
    rc = rc ?: dp_predictor_match(&model, frame, s->data, s->path, err);
    /* A model that is not finite has diverged and scores 0. An error would reveal this, although the model is not
     * released. */
    *sum = 0;
    if (rc == DP_OK && dp_predictor_take(&model, frame, &unused) == DP_OK)
        sum_persons(s, &model, sum);
    dp_predictor_close(&model);
    return rc;
}

int dp_score_noised(const struct dp_score *s, const struct dp_frame *frame, const struct dp_key *key, int64_t trial,
                    int64_t *sum, struct dp_err *err)
{
    int rc = dp_score_exact(s, frame, sum, err);
    if (rc == DP_OK &&
        dp_grid_add_gaussian(key, DP_DRAW_SCORE_NOISE, (uint64_t)trial, 0, s->multiplier * DP_SCORE_ONE, sum, 1) != 0)
        rc = dp_fail(err, DP_E_RUN, "the noise on a score cannot be drawn");
    return rc;
}
