/* The regularised risk over all rows, and its gradient: sums in a fixed number of parts, added in their order. */
#include <omp.h>
#include <string.h>

#include "base/mem.h"
#include "stages/erm.h"
#include "stages/labels.h"

/* As many parts as 64 threads have something to do in, fewer where rows are few or their gradients long. It follows from the
   shapes alone. */
static size_t parts_of(size_t rows, size_t size)
{
    size_t parts = rows / 256, room = ((size_t)1 << 22) / size;
    parts = parts < room ? parts : room;
    return parts < 1 ? 1 : parts > 64 ? 64 : parts;
}

int dp_erm_risk_open(struct dp_erm *s, struct dp_err *err)
{
    size_t size = dp_erm_size(s);
    s->parts = parts_of(s->rows, size);
    int rc = dp_alloc(&s->gradient, s->parts * size, sizeof(double), err);
    if (rc == DP_OK)
        rc = dp_alloc(&s->loss_sum, s->parts, sizeof(double), err);
    return rc == DP_OK ? dp_alloc(&s->scores, (size_t)s->options->threads * DP_ROWS * s->form.outputs, sizeof(double), err)
                       : rc;
}

/* The loss of one row, whose scores become its slopes, which are added to the gradient. */
static double add_row(const struct dp_erm_risk *r, size_t i, struct dp_row row, double *scores, double *gradient)
{
    const struct dp_erm *s = r->state;
    double label = dp_batch_label(r->batch, i);
    if (!dp_labels_take(s->loss, s->classes, label))
        return 0;
    double loss = dp_loss_row_value(s->loss, s->width, label, s->classes, scores, s->form.outputs);
    dp_loss_row_slope(s->loss, s->width, label, s->classes, scores, s->form.outputs, scores);
    for (size_t k = 0; k < s->form.outputs; k++) {
        dp_row_axpy(scores[k], row, gradient + k * s->form.cols);
        if (r->batch->intercept != 0)
            gradient[k * s->form.cols + s->form.features] += scores[k] * (double)r->batch->intercept;
    }
    return loss;
}

/* The losses and slopes of one part of the rows. */
static void add_part(const struct dp_erm_risk *r, const double *w, size_t part, double *scores)
{
    const struct dp_erm *s = r->state;
    size_t count = r->batch->count, to = count * (part + 1) / s->parts;
    double *gradient = s->gradient + part * dp_erm_size(s), loss = 0;
    memset(gradient, 0, dp_erm_size(s) * sizeof *gradient);
    for (size_t first = count * part / s->parts; first < to; first += DP_ROWS) {
        struct dp_row rows[DP_ROWS];
        size_t together = to - first < DP_ROWS ? to - first : DP_ROWS;
        for (size_t i = 0; i < together; i++)
            rows[i] = dp_batch_row(r->batch, first + i);
        s->form.family->score(&s->form, w, rows, together, NULL, scores);
        for (size_t i = 0; i < together; i++)
            loss += add_row(r, first + i, rows[i], scores + i * s->form.outputs, gradient);
    }
    s->loss_sum[part] = loss;
}

double dp_erm_risk_at(void *self, const double *w, double *gradient)
{
    const struct dp_erm_risk *r = self;
    const struct dp_erm *s = r->state;
    double n = (double)s->rows, lambda = s->options->lambda, loss = 0;
    size_t size = dp_erm_size(s), room = DP_ROWS * s->form.outputs;
    if (s->options->threads > 1) {
#pragma omp parallel for num_threads((int)s->options->threads) schedule(dynamic)
        for (size_t part = 0; part < s->parts; part++)
            add_part(r, w, part, s->scores + (size_t)omp_get_thread_num() * room);
    } else {
        for (size_t part = 0; part < s->parts; part++)
            add_part(r, w, part, s->scores);
    }
    memset(gradient, 0, size * sizeof *gradient);
    for (size_t part = 0; part < s->parts; part++) {
        loss += s->loss_sum[part];
        for (size_t j = 0; j < size; j++)
            gradient[j] += s->gradient[part * size + j];
    }
    for (size_t j = 0; j < size; j++)
        gradient[j] = gradient[j] / n + lambda * w[j];
    return loss / n + lambda / 2 * dp_norm2(w, size);
}
