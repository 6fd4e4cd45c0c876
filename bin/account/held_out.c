#include "held_out.h"

#include "base/mem.h"
#include "data/dataset.h"
#include "math/curves.h"
#include "math/metrics.h"
#include "model/predictor.h"

enum { CORNERS = 120, GROUPS = 10, CONFUSED = 10 };

struct held_out {
    struct dp_dataset *data;
    struct dp_predictor model;
    struct dp_scored scored;
};

/* Buffers for classes. */
struct measured {
    const struct held_out *h;
    double *score, *is; /* for each row: the score of one class, and 1 if the row is of this class, else 0 */
    uint64_t *work;
    json_t *json;
};

static int put(json_t *json, const char *name, double value)
{
    return isnan(value) ? 0 : json_object_set_new(json, name, json_real(value));
}

static json_t *points_json(const struct dp_curve_point *points, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < count; i++)
        json_array_append_new(list, json_pack("[f, f, I]", points[i].x, points[i].y, (json_int_t)points[i].rows));
    return list;
}

/* The ROC curve of one class, if there are rows both in it and out of it. */
static void add_curve(struct measured *m, json_t *curves, size_t class)
{
    char *const *name = m->h->data->label.class_names;
    const size_t outputs = m->h->model.form.outputs;
    struct dp_curve_point points[CORNERS + 2];
    char number[24];
    size_t count;
    for (size_t i = 0; i < m->h->scored.rows; i++) {
        m->score[i] = m->h->scored.scores[i * outputs + (outputs > 1 ? class : 0)];
        m->is[i] = m->h->scored.y[i] == (double)class;
    }
    if (dp_curve_roc(m->score, m->is, m->h->scored.rows, CORNERS, points, &count, NULL) != DP_OK)
        return;
    snprintf(number, sizeof number, "%zu", class);
    json_array_append_new(curves, json_pack("{s:s, s:f, s:o}", "class", name != NULL ? name[class] : number, "auc",
                                            dp_metric_auc(m->score, 1, m->is, m->h->scored.rows, m->work), "roc",
                                            points_json(points, count)));
}

static void measure_calibration(struct measured *m)
{
    struct dp_curve_point points[GROUPS];
    dp_scored_calibration(&m->h->scored, &m->h->model, m->score, m->is);
    size_t count = dp_curve_calibration(m->score, m->is, m->h->scored.rows, GROUPS, points);
    json_object_set_new(m->json, "calibration", points_json(points, count));
}

/* The rows of each class by the class predicted. */
static void count_confusion(struct measured *m)
{
    const struct held_out *h = m->h;
    char *const *name = h->data->label.class_names;
    size_t classes = h->data->label.classes;
    uint64_t *counts = dp_new(classes * classes, sizeof *counts);
    dp_metric_confusion(h->scored.scores, h->model.form.outputs, h->scored.y, h->scored.rows, classes, counts);
    json_t *rows = json_array();
    for (size_t i = 0; i < classes; i++) {
        char number[24];
        json_t *cells = json_array();
        snprintf(number, sizeof number, "%zu", i);
        for (size_t j = 0; j < classes; j++)
            json_array_append_new(cells, json_pack("{s:I}", "rows", (json_int_t)counts[i * classes + j]));
        json_array_append_new(rows, json_pack("{s:s, s:o}", "class", name != NULL ? name[i] : number, "cells", cells));
    }
    json_object_set_new(m->json, "confusion", rows);
    free(counts);
}

static void measure_classes(struct measured *m)
{
    const struct held_out *h = m->h;
    const struct dp_dataset *d = h->data;
    size_t outputs = h->model.form.outputs, words = DP_METRIC_AUC_WORK(m->h->scored.rows);
    bool probabilities = h->model.known && dp_metric_has_probability(h->model.loss);
    m->work = dp_new(words > d->label.classes ? words : d->label.classes, sizeof *m->work);
    m->score = dp_new(m->h->scored.rows, sizeof *m->score);
    m->is = dp_new(m->h->scored.rows, sizeof *m->is);
    put(m->json, "accuracy", dp_metric_accuracy(h->scored.scores, outputs, m->h->scored.y, m->h->scored.rows));
    put(m->json, "majority", dp_metric_majority(m->h->scored.y, m->h->scored.rows, d->label.classes, m->work));
    put(m->json, "auc", dp_metric_auc(h->scored.scores, outputs, m->h->scored.y, m->h->scored.rows, m->work));
    if (probabilities)
        put(m->json, "log_loss",
            dp_metric_log_loss(h->model.loss, h->scored.scores, outputs, m->h->scored.y, m->h->scored.rows));
    json_t *curves = json_array();
    for (size_t class = outputs > 1 ? 0 : 1; class < (outputs > 1 ? outputs : 2); class ++)
        add_curve(m, curves, class);
    json_object_set_new(m->json, "curves", curves);
    if (probabilities)
        measure_calibration(m);
    if (d->label.classes <= CONFUSED)
        count_confusion(m);
}

static double r2_of(const struct held_out *h)
{
    const struct dp_affine truth = {.scale = h->data->label.scale, .offset = h->data->label.offset};
    return dp_metric_r2(h->model.loss, h->scored.scores, h->model.label, h->scored.y, truth, h->scored.rows);
}

static void measure_numbers(struct measured *m)
{
    const struct held_out *h = m->h;
    const struct dp_affine truth = {.scale = h->data->label.scale, .offset = h->data->label.offset};
    put(m->json, "rmse",
        sqrt(dp_metric_mse(h->model.loss, h->scored.scores, h->model.label, h->scored.y, truth, h->scored.rows)));
    put(m->json, "r2", r2_of(h));
    double label = 0, predicted = 0;
    for (size_t i = 0; i < h->scored.rows; i++) {
        label += truth.scale * h->scored.y[i] + truth.offset;
        predicted += dp_metric_prediction(h->model.loss, h->scored.scores[i], h->model.label);
    }
    put(m->json, "mean_label", label / (double)h->scored.rows);
    put(m->json, "mean_predicted", predicted / (double)h->scored.rows);
}

static int score(struct held_out *h, const struct dp_frame *model, struct dp_err *err)
{
    int rc = dp_predictor_take(&h->model, model, err);
    if (rc == DP_OK)
        dp_scored_take(&h->scored, &h->model);
    return rc;
}

int held_out_open(struct held_out **rows, const struct dp_frame *model, const char *data, struct dp_err *err)
{
    *rows = NULL;
    struct held_out *h = dp_new(1, sizeof *h);
    int rc = dp_dataset_open(&h->data, data, err);
    rc = rc ?: dp_predictor_check_unseen(model, h->data, data, "", err);
    rc = rc ?: dp_predictor_open(&h->model, model, h->data, data, err);
    rc = rc ?: dp_predictor_match(&h->model, model, h->data, data, err);
    if (rc == DP_OK)
        dp_scored_open(&h->scored, &h->model, h->data);
    if (rc == DP_OK)
        *rows = h;
    else
        held_out_close(h);
    return rc;
}

int held_out_value(struct held_out *h, const struct dp_frame *model, double *value, struct dp_err *err)
{
    int rc = score(h, model, err);
    if (rc == DP_OK)
        *value = h->data->label.kind == DP_LABEL_CLASSES
                     ? dp_metric_accuracy(h->scored.scores, h->model.form.outputs, h->scored.y, h->scored.rows)
                     : r2_of(h);
    return rc;
}

void held_out_close(struct held_out *h)
{
    if (h == NULL)
        return;
    dp_predictor_close(&h->model);
    dp_dataset_close(h->data);
    dp_scored_close(&h->scored);
    free(h);
}

int held_out_measure(const struct dp_frame *model, const char *data, json_t **json, struct dp_err *err)
{
    struct held_out *h = NULL;
    struct measured m = {0};
    *json = NULL;
    int rc = held_out_open(&h, model, data, err);
    rc = rc ?: score(h, model, err);
    if (rc != DP_OK) {
        held_out_close(h);
        return rc;
    }
    m.h = h;
    m.json = json_pack("{s:I, s:s}", "rows", (json_int_t)h->scored.rows, "population", h->data->population);
    if (h->data->nulls.count > 0)
        json_object_set_new(m.json, "rows_without_label", json_integer((json_int_t)h->data->nulls.count));
    if (h->data->label.kind == DP_LABEL_CLASSES)
        measure_classes(&m);
    else
        measure_numbers(&m);
    *json = m.json;
    free(m.score);
    free(m.is);
    free(m.work);
    held_out_close(h);
    return rc;
}
