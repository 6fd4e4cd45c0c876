#include "model/predictor.h"

#include "base/mem.h"
#include "data/carried.h"
#include "data/row_facts.h"
#include "data/row_length.h"
#include "data/row_maker.h"
#include "wire/model.h"

/* Rows stay until they are scored; only calls of few rows look ahead. */
_Static_assert(DP_FAMILY_ROWS <= DP_ROW_MAKER_KEPT && 2 * DP_ROWS <= DP_ROW_MAKER_KEPT, "rows of a call are kept");

static bool says_norm(const char *row_norm)
{
    return row_norm[0] != '\0' && strncmp(row_norm, "unknown", strlen("unknown")) != 0;
}

static int check_rows(const struct dp_form *form, const struct dp_frame *frame, const struct dp_row_facts *d, const char *path,
                      struct dp_err *err)
{
    const char *norm = dp_frame_text(frame, DP_F_ROW_NORM, "");
    if (form->features != d->cols)
        return dp_fail(err, DP_E_RUN, "the model has %zu columns, %s has %zu", form->features, path, d->cols);
    if (says_norm(norm) && says_norm(d->row_norm) && !dp_row_norm_same(norm, d->row_norm))
        return dp_fail(err, DP_E_RUN, "the rows of the model have row norm '%.80s', the rows of %s '%s'", norm, path,
                       d->row_norm);
    return dp_carried_same(dp_frame_text(frame, DP_F_SCHEMA, NULL), d->schema)
               ? DP_OK
               : dp_fail(err, DP_E_RUN, "%s was imported by another schema than the rows that the model was trained on", path);
}

int dp_predictor_open(struct dp_predictor *p, const struct dp_frame *frame, const struct dp_dataset *dataset, const char *path,
                      struct dp_err *err)
{
    return dp_predictor_open_for(
        p, frame, &(struct dp_row_facts){.cols = dataset->cols, .row_norm = dataset->row_norm, .schema = dataset->schema}, path,
        err);
}

int dp_predictor_open_for(struct dp_predictor *p, const struct dp_frame *frame, const struct dp_row_facts *facts,
                          const char *path, struct dp_err *err)
{
    if (dp_frame_has(frame, DP_F_TRIAL))
        return dp_fail(err, DP_E_UNSAFE, "the model is one trial of a selection, which nobody has paid for");
    int rc = dp_form_read(&p->form, frame, err);
    rc = rc ?: check_rows(&p->form, frame, facts, path, err);
    if (rc != DP_OK)
        return rc;
    p->known = dp_loss_parse(dp_frame_text(frame, DP_F_LOSS, ""), &p->loss) == 0;
    p->width = dp_frame_real(frame, DP_F_LOSS_WIDTH, 1);
    p->label = (struct dp_affine){.scale = dp_frame_real(frame, DP_F_LABEL_SCALE, 1),
                                  .offset = dp_frame_real(frame, DP_F_LABEL_OFFSET, 0)};
    dp_carried_label(dp_frame_text(frame, DP_F_SCHEMA, NULL), &p->label.low, &p->label.high);
    if (p->known && dp_loss_is_joint(p->loss) && p->form.outputs < 2)
        return dp_fail(err, DP_E_RUN, "the model has %s loss and one output", dp_loss_names[p->loss]);
    p->parameters = dp_new(p->form.rows * p->form.cols, sizeof *p->parameters);
    p->room = dp_form_room(&p->form);
    return DP_OK;
}

/* DP_E_RUN: both have class names, and they differ in a name or in the order. */
static int check_names(const struct dp_frame *frame, const struct dp_dataset *d, const char *path, struct dp_err *err)
{
    char **names;
    size_t count;
    int rc = dp_model_names(frame, &names, &count, err);
    if (rc != DP_OK || names == NULL)
        return rc;
    if (d->label.kind != DP_LABEL_CLASSES)
        rc = dp_fail(err, DP_E_RUN, "the model predicts classes, the labels of %s are numbers", path);
    else if (count != d->label.classes)
        rc = dp_fail(err, DP_E_RUN, "the model has %zu classes, %s has %zu", count, path, d->label.classes);
    for (size_t k = 0; rc == DP_OK && d->label.class_names != NULL && k < count; k++)
        if (strcmp(names[k], d->label.class_names[k]) != 0)
            rc = dp_fail(err, DP_E_RUN, "class %zu is '%.60s' in the model and '%.60s' in %s", k, names[k],
                         d->label.class_names[k], path);
    dp_model_free_names(names, count);
    return rc;
}

int dp_predictor_match(const struct dp_predictor *p, const struct dp_frame *frame, const struct dp_dataset *d, const char *path,
                       struct dp_err *err)
{
    int rc = check_names(frame, d, path, err);
    if (rc != DP_OK)
        return rc;
    int64_t classes = dp_frame_int(frame, DP_F_CLASSES, (int64_t)d->label.classes);
    if ((classes > 0) != (d->label.classes > 0))
        return dp_fail(err, DP_E_RUN, "the model predicts %s, the labels of %s are %s", classes > 0 ? "classes" : "numbers",
                       path, classes > 0 ? "numbers" : "classes");
    if (classes != (int64_t)d->label.classes)
        return dp_fail(err, DP_E_RUN, "the model has %lld classes, %s has %zu", (long long)classes, path, d->label.classes);
    if (p->form.outputs != dp_loss_outputs(d->label.classes))
        return dp_fail(err, DP_E_RUN, "the model has %zu outputs, the labels of %s need %zu", p->form.outputs, path,
                       dp_loss_outputs(d->label.classes));
    return DP_OK;
}

void dp_predictor_close(struct dp_predictor *p)
{
    dp_form_leave(&p->form, p->room);
    free(p->parameters);
    p->parameters = NULL;
    p->room = NULL;
}

int dp_predictor_take(struct dp_predictor *p, const struct dp_frame *frame, struct dp_err *err)
{
    size_t rows, cols;
    int rc = dp_model_shape(frame, &rows, &cols, err);
    if (rc == DP_OK && (rows != p->form.rows || cols != p->form.cols))
        rc = dp_fail(err, DP_E_RUN, "the model changes its shape in lap %lld", (long long)frame->lap);
    return rc ?: dp_model_weights(frame, p->parameters, err);
}

void dp_predictor_score(const struct dp_predictor *p, const struct dp_dataset *dataset, size_t from, size_t count,
                        double *scores)
{
    const size_t rows = p->form.family->rows;
    for (size_t done = 0; done < count; done += rows) {
        struct dp_row row[DP_FAMILY_ROWS], next[DP_ROWS] = {{0}};
        size_t left = count - done, block = left < rows ? left : rows;
        for (size_t i = 0; i < block; i++)
            row[i] = dp_dataset_row(dataset, from + done + i);
        for (size_t i = 0; rows <= DP_ROWS && i < DP_ROWS && i + rows < left; i++)
            next[i] = dp_dataset_row(dataset, from + done + i + rows);
        p->form.family->score(&p->form, p->parameters, row, block, next, scores + done * p->form.outputs, NULL, p->room);
    }
}

void dp_predictor_score_row(const struct dp_predictor *p, const struct dp_row *row, double *scores)
{
    const struct dp_row none = {0};
    p->form.family->score(&p->form, p->parameters, row, 1, &none, scores, NULL, p->room);
}

int dp_predictor_check_unseen(const struct dp_frame *frame, const struct dp_dataset *d, const char *path, const char *hint,
                              struct dp_err *err)
{
    if (dp_frame_bool(frame, DP_F_NON_PRIVATE))
        return DP_OK;
    if (strcmp(dp_frame_text(frame, DP_F_DATA, ""), d->digest) == 0)
        return dp_fail(err, DP_E_UNSAFE, "%s is the training set: what is measured on it is not covered by epsilon%s", path,
                       hint);
    if (strcmp(dp_frame_text(frame, DP_F_SELECTED_ON, ""), d->digest) == 0)
        return dp_fail(
            err, DP_E_UNSAFE,
            "%s is what dp-tune chose the model by: what is measured on it is not covered by epsilon, and too good%s", path,
            hint);
    if (!d->held_out && strcmp(dp_frame_text(frame, DP_F_POPULATION, ""), d->population) == 0)
        return dp_fail(
            err, DP_E_UNSAFE,
            "%s has rows of '%.80s', as the training set has, and none of them were held out: what is measured on them is "
            "not covered by epsilon%s",
            path, d->population, hint);
    const char *split = dp_frame_text(frame, DP_F_SPLIT, "");
    if (d->held_out && strcmp(dp_frame_text(frame, DP_F_POPULATION, ""), d->population) == 0 &&
        strcmp(split, d->split != NULL ? d->split : "") != 0)
        return dp_fail(err, DP_E_UNSAFE,
                       "%s has rows of '%.80s' that were held out of another split than the one that the model was trained on, "
                       "which has seen some of them: what is measured on them is not covered by epsilon%s",
                       path, d->population, hint);
    return DP_OK;
}

void dp_scored_open(struct dp_scored *s, const struct dp_predictor *p, const struct dp_dataset *data)
{
    s->data = data;
    s->scores = dp_new(data->rows * p->form.outputs + 1, sizeof *s->scores);
    s->y = dp_new(data->rows + 1, sizeof *s->y);
    s->rows = dp_dataset_labels(data, s->y);
}

void dp_scored_take(struct dp_scored *s, const struct dp_predictor *p)
{
    dp_predictor_score(p, s->data, 0, s->data->rows, s->scores);
    dp_dataset_keep_labelled(s->data, s->scores, p->form.outputs);
}

void dp_scored_calibration(const struct dp_scored *s, const struct dp_predictor *p, double *probability, double *hit)
{
    size_t outputs = p->form.outputs;
    double *all = dp_new(outputs + 1, sizeof *all);
    for (size_t i = 0; i < s->rows; i++) {
        const double *scores = s->scores + i * outputs;
        size_t class = outputs == 1 ? 1 : dp_metric_class(scores, outputs);
        dp_metric_probability(p->loss, scores, outputs, all);
        probability[i] = all[class];
        hit[i] = s->y[i] == (double)class;
    }
    free(all);
}

void dp_scored_close(struct dp_scored *s)
{
    free(s->scores);
    free(s->y);
}
