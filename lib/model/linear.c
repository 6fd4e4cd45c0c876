/* The family "linear": a row of weights for each output. A softmax model is of this family, too: only its loss combines the
 * outputs, not its scores. */

#include "model/family.h"

static void shape(struct dp_form *form)
{
    form->rows = form->outputs;
    form->cols = form->features + (form->intercept != 0 ? 1 : 0);
}

static bool read(struct dp_form *form)
{
    form->outputs = form->rows;
    form->features = form->cols - (form->intercept != 0 ? 1 : 0);
    return true;
}

/* The initial weights are zero. */
static void start(const struct dp_form *form, double *weights)
{
    memset(weights, 0, form->rows * form->cols * sizeof *weights);
}

static void score(const struct dp_form *form, const double *weights, const struct dp_row *rows, size_t count,
                  const struct dp_row *next, double *scores, double *norm2, void *room)
{
    (void)room;
    dp_rows_dot(rows, count, next, weights, form->outputs, form->cols, scores, norm2);
    for (size_t i = 0; form->intercept != 0 && i < count; i++)
        for (size_t k = 0; k < form->outputs; k++)
            scores[i * form->outputs + k] += form->intercept * weights[k * form->cols + form->features];
}

const struct dp_family dp_family_linear = {
    .name = "linear",
    .sides = "outputs × columns",
    .rows = DP_ROWS,
    .shape = shape,
    .read = read,
    .start = start,
    .score = score,
};
