#include "held_out.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "data/dataset.h"
#include "math/curves.h"
#include "math/metrics.h"
#include "model/predictor.h"

enum { CORNERS = 120, GROUPS = 10 };

struct measured {
    struct dp_dataset *data;
    struct dp_predictor model;
    double *scores, *probability; /* rows × outputs; rows: of class 1 */
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

/* With two classes: how well scores separate the classes, and whether probabilities agree with the labels. */
static int measure_curves(struct measured *m, struct dp_err *err)
{
    const struct dp_dataset *d = m->data;
    struct dp_curve_point points[CORNERS + 2];
    size_t count;
    json_t *name = d->class_names != NULL ? json_string(d->class_names[1]) : json_string("1");
    json_object_set_new(m->json, "class", name);
    if (dp_curve_roc(m->scores, d->y, d->rows, CORNERS, points, &count, NULL) == DP_OK)
        json_object_set_new(m->json, "roc", points_json(points, count));
    if (!m->model.known || !dp_metric_has_probability(m->model.loss))
        return DP_OK;
    int rc = dp_alloc(&m->probability, d->rows, sizeof *m->probability, err);
    for (size_t i = 0; rc == DP_OK && i < d->rows; i++) {
        double p[2];
        dp_metric_probability(m->model.loss, m->scores + i, 1, p);
        m->probability[i] = p[1];
    }
    if (rc == DP_OK) {
        count = dp_curve_calibration(m->probability, d->y, d->rows, GROUPS, points);
        json_object_set_new(m->json, "calibration", points_json(points, count));
    }
    return rc;
}

static int measure_classes(struct measured *m, struct dp_err *err)
{
    const struct dp_dataset *d = m->data;
    size_t outputs = m->model.form.outputs, words = DP_METRIC_AUC_WORK(d->rows);
    int rc = dp_alloc(&m->work, words > d->classes ? words : d->classes, sizeof *m->work, err);
    if (rc != DP_OK)
        return rc;
    put(m->json, "accuracy", dp_metric_accuracy(m->scores, outputs, d->y, d->rows));
    put(m->json, "majority", dp_metric_majority(d->y, d->rows, d->classes, m->work));
    put(m->json, "auc", dp_metric_auc(m->scores, outputs, d->y, d->rows, m->work));
    if (m->model.known && dp_metric_has_probability(m->model.loss))
        put(m->json, "log_loss", dp_metric_log_loss(m->model.loss, m->scores, outputs, d->y, d->rows));
    return outputs == 1 ? measure_curves(m, err) : DP_OK;
}

static void measure_numbers(struct measured *m)
{
    const struct dp_dataset *d = m->data;
    const struct dp_affine truth = {.scale = d->label_scale, .offset = d->label_offset};
    put(m->json, "rmse", sqrt(dp_metric_mse(m->model.loss, m->scores, m->model.label, d->y, truth, d->rows)));
    put(m->json, "r2", dp_metric_r2(m->model.loss, m->scores, m->model.label, d->y, truth, d->rows));
}

static int measure(struct measured *m, const struct dp_frame *model, const char *path, struct dp_err *err)
{
    int rc = dp_dataset_open(&m->data, path, err);
    if (rc == DP_OK)
        rc = dp_predictor_check_unseen(model, m->data, path, "", err);
    if (rc == DP_OK)
        rc = dp_predictor_open(&m->model, model, m->data, path, err);
    if (rc == DP_OK)
        rc = dp_predictor_match(&m->model, model, m->data, path, err);
    if (rc == DP_OK)
        rc = dp_predictor_take(&m->model, model, err);
    if (rc == DP_OK)
        rc = dp_alloc(&m->scores, m->data->rows * m->model.form.outputs, sizeof *m->scores, err);
    if (rc != DP_OK)
        return rc;
    dp_predictor_score(&m->model, m->data, 0, m->data->rows, m->scores);
    m->json = json_pack("{s:I, s:b}", "rows", (json_int_t)m->data->rows, "held_out", m->data->held_out);
    if (m->json == NULL)
        return dp_fail(err, DP_E_RUN, "out of memory");
    if (m->data->label_kind == DP_LABEL_CLASSES)
        return measure_classes(m, err);
    measure_numbers(m);
    return DP_OK;
}

int held_out_measure(const struct dp_frame *model, const char *data, json_t **json, struct dp_err *err)
{
    struct measured m = {0};
    int rc = measure(&m, model, data, err);
    if (rc == DP_OK)
        *json = json_incref(m.json);
    json_decref(m.json);
    dp_predictor_close(&m.model);
    dp_dataset_close(m.data);
    free(m.scores);
    free(m.probability);
    free(m.work);
    return rc;
}
