/* The regularised risk over all rows, and its gradient: sums in a fixed number of parts, added in their order. */
#include <omp.h>

#include "base/mem.h"
#include "stages/erm.h"

/* The number of parts: 64, or fewer if there are few rows or their gradients are long. Only shapes decide. */
static size_t parts_of(size_t rows, size_t size)
{
    size_t parts = rows / 256, room = ((size_t)1 << 22) / size;
    parts = parts < room ? parts : room;
    return parts < 1 ? 1 : parts > 64 ? 64 : parts;
}

double dp_erm_chain(size_t rows, size_t size)
{
    size_t parts = parts_of(rows, size);
    return (double)(rows / parts + 1 + parts);
}

void dp_erm_risk_open(struct dp_erm *s)
{
    size_t size = dp_erm_size(s);
    s->parts = parts_of(s->row.rows, size);
    s->gradient = dp_new(s->parts * size, sizeof(double));
    s->loss_sum = dp_new(s->parts, sizeof(double));
    s->takes = dp_new(s->row.rows, sizeof *s->takes);
    if ((s->method == &dp_erm_minimum || s->method == &dp_erm_objective))
        s->bend = dp_new(s->row.rows * s->row.form.outputs, sizeof *s->bend);
    s->scores = dp_new((size_t)s->options->row.threads * DP_ROWS * s->row.form.outputs, sizeof(double));
}

/* Adds one row's part to the gradient, from the scores of its outputs. */
static void add_row(const struct dp_erm_risk *r, struct dp_row row, const double *scores, double *gradient)
{
    const struct dp_form *form = &r->state->row.form;
    for (size_t k = 0; k < form->outputs; k++) {
        dp_row_axpy(scores[k], row, gradient + k * form->cols);
        if (r->batch->intercept != 0)
            gradient[k * form->cols + form->features] += scores[k] * (double)r->batch->intercept;
    }
}

/* Copies up to DP_ROWS rows and their numbers, from `first` on and before `to`, in the given order (NULL: the order of the
   batch). Returns how many. */
static size_t take_rows(const struct dp_erm_risk *r, const int64_t *order, size_t first, size_t to, size_t *number,
                        struct dp_row *rows)
{
    size_t count = first >= to ? 0 : to - first < DP_ROWS ? to - first : DP_ROWS;
    for (size_t i = 0; i < count; i++) {
        number[i] = order != NULL ? (size_t)order[first + i] : first + i;
        rows[i] = dp_batch_row(r->batch, number[i]);
    }
    return count;
}

/* Adds the slopes of rows from … to − 1 of the order to the gradient, and their losses to *loss unless that is NULL. */
static void add_rows(const struct dp_erm_risk *r, const double *w, const int64_t *order, size_t from, size_t to, double *scores,
                     double *gradient, double *loss)
{
    const struct dp_erm *s = r->state;
    size_t outputs = s->row.form.outputs, number[DP_ROWS];
    struct dp_row rows[DP_ROWS];
    for (size_t count; (count = take_rows(r, order, from, to, number, rows)) > 0; from += count) {
        s->row.form.family->score(&s->row.form, w, rows, count, NULL, scores, NULL, NULL);
        for (size_t i = 0; i < count; i++) {
            double *own = scores + i * outputs;
            if (!s->takes[number[i]])
                continue;
            if (loss != NULL)
                *loss += dp_loss_row_value(s->row.training.loss, s->row.training.width, dp_batch_label(r->batch, number[i]),
                                           s->row.classes, own, outputs);
            dp_loss_row_slope(s->row.training.loss, s->row.training.width, dp_batch_label(r->batch, number[i]), s->row.classes,
                              own, outputs, own);
            add_row(r, rows[i], own, gradient);
        }
    }
}

/* The second derivative of one row's loss times the scores q of v, in their place: b_k q_k, and p_k (q_k − Σ p_j q_j) of
   softmax. false: the row adds nothing, and q need not be finite. */
static bool bend_row(const struct dp_erm *s, size_t i, double *q)
{
    const double *bend = s->bend + i * s->row.form.outputs;
    double all = 0, mean = 0;
    for (size_t k = 0; k < s->row.form.outputs; k++)
        all += bend[k];
    for (size_t k = 0; all != 0 && dp_loss_is_joint(s->row.training.loss) && k < s->row.form.outputs; k++)
        mean += bend[k] * q[k];
    for (size_t k = 0; all != 0 && k < s->row.form.outputs; k++)
        q[k] = bend[k] * (q[k] - mean);
    return all != 0;
}

/* Adds the second derivatives of the rows from … to − 1, times v, to the product. */
static void add_bends(const struct dp_erm_risk *r, const double *v, size_t from, size_t to, double *scores, double *product)
{
    const struct dp_erm *s = r->state;
    size_t number[DP_ROWS];
    struct dp_row rows[DP_ROWS];
    for (size_t count; (count = take_rows(r, NULL, from, to, number, rows)) > 0; from += count) {
        s->row.form.family->score(&s->row.form, v, rows, count, NULL, scores, NULL, NULL);
        for (size_t i = 0; i < count; i++)
            if (bend_row(s, number[i], scores + i * s->row.form.outputs))
                add_row(r, rows[i], scores + i * s->row.form.outputs, product);
    }
}

/* The sum over rows to compute. */
enum what { SLOPES, SLOPES_AND_LOSSES, BENDS };

/* Adds up one part of the rows: slopes, slopes and losses, or second derivatives times w. */
static void add_part(const struct dp_erm_risk *r, const double *w, size_t part, double *scores, enum what what)
{
    const struct dp_erm *s = r->state;
    size_t count = r->batch->count, from = count * part / s->parts, to = count * (part + 1) / s->parts;
    double *gradient = s->gradient + part * dp_erm_size(s);
    memset(gradient, 0, dp_erm_size(s) * sizeof *gradient);
    s->loss_sum[part] = 0;
    if (what == BENDS)
        add_bends(r, w, from, to, scores, gradient);
    else
        add_rows(r, w, NULL, from, to, scores, gradient, what == SLOPES_AND_LOSSES ? &s->loss_sum[part] : NULL);
}

/* Σ over all rows; returns Σ losses, or 0 if they are not requested. */
static double add_all(const struct dp_erm_risk *r, const double *w, double *gradient, enum what what)
{
    const struct dp_erm *s = r->state;
    size_t size = dp_erm_size(s), room = DP_ROWS * s->row.form.outputs;
    double loss = 0;
    if (s->options->row.threads > 1) {
#pragma omp parallel for num_threads((int)s->options->row.threads) schedule(dynamic)
        for (size_t part = 0; part < s->parts; part++)
            add_part(r, w, part, s->scores + (size_t)omp_get_thread_num() * room, what);
    } else {
        for (size_t part = 0; part < s->parts; part++)
            add_part(r, w, part, s->scores, what);
    }
    memset(gradient, 0, size * sizeof *gradient);
    for (size_t part = 0; part < s->parts; part++) {
        loss += s->loss_sum[part];
        for (size_t j = 0; j < size; j++)
            gradient[j] += s->gradient[part * size + j];
    }
    return loss;
}

double dp_erm_risk_at(void *self, const double *w, double *gradient)
{
    const struct dp_erm_risk *r = self;
    const struct dp_erm *s = r->state;
    double n = (double)s->row.rows, lambda = s->options->row.lambda, loss = add_all(r, w, gradient, SLOPES_AND_LOSSES);
    for (size_t j = 0; j < dp_erm_size(s); j++)
        gradient[j] = gradient[j] / n + lambda * w[j];
    double value = loss / n + lambda / 2 * dp_norm2(w, dp_erm_size(s));
    for (size_t j = 0; r->b != NULL && j < dp_erm_size(s); j++) {
        gradient[j] += r->b[j] / n;
        value += r->b[j] / n * w[j];
    }
    return value;
}

/* w ← w − eta (s->slope/n + lambda w) */
static void go(const struct dp_erm *s, double n, double eta, double *w)
{
    double lambda = s->options->row.lambda;
    for (size_t j = 0; j < dp_erm_size(s); j++)
        w[j] -= eta * (s->slope[j] / n + lambda * w[j]);
}

void dp_erm_descend(const struct dp_erm_risk *r, double eta, double *w)
{
    add_all(r, w, r->state->slope, SLOPES);
    go(r->state, (double)r->state->row.rows, eta, w);
}

void dp_erm_step(const struct dp_erm_risk *r, const int64_t *order, size_t from, size_t to, double n, double eta, double *w)
{
    const struct dp_erm *s = r->state;
    memset(s->slope, 0, dp_erm_size(s) * sizeof *s->slope);
    add_rows(r, w, order, from, to, s->scores, s->slope, NULL);
    go(s, n, eta, w);
}

static void bend_at(void *self, const double *w)
{
    const struct dp_erm_risk *r = self;
    const struct dp_erm *s = r->state;
    size_t outputs = s->row.form.outputs;
    for (size_t i = 0; i < r->batch->count; i++) {
        struct dp_row row = dp_batch_row(r->batch, i);
        double *bend = s->bend + i * outputs, label = dp_batch_label(r->batch, i);
        s->row.form.family->score(&s->row.form, w, &row, 1, NULL, bend, NULL, NULL);
        if (dp_loss_is_joint(s->row.training.loss)) {
            dp_softmax_slope(bend, outputs, 0, bend);
            bend[0] += 1;
        }
        for (size_t k = 0; k < outputs && !dp_loss_is_joint(s->row.training.loss); k++)
            bend[k] = dp_loss_curvature(s->row.training.loss, s->row.training.width,
                                        dp_loss_target(label, s->row.classes, outputs, k), bend[k]);
        for (size_t k = 0; k < outputs && !s->takes[i]; k++)
            bend[k] = 0;
    }
}

static void bend(void *self, const double *v, double *product)
{
    const struct dp_erm_risk *r = self;
    const struct dp_erm *s = r->state;
    double n = (double)s->row.rows, lambda = s->options->row.lambda;
    add_all(r, v, product, BENDS);
    for (size_t j = 0; j < dp_erm_size(s); j++)
        product[j] = product[j] / n + lambda * v[j];
}

void dp_erm_solve(struct dp_erm_risk *r, double tolerance, struct dp_minimum *found)
{
    struct dp_erm *s = r->state;
    const struct dp_bowl f = {dp_erm_size(s), dp_erm_risk_at, bend_at, bend, r};
    dp_newton(&f, tolerance, s->most, s->w, found);
}
