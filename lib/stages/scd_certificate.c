/* The duality gap of dual variables and a model, computed from them on all rows: never below the exact gap.
 *
 * u = 2^-53; each bound is twice the bound of first-order analysis (Higham, "Accuracy and Stability of Numerical Algorithms",
 * ch. 3 and 4):
 *   score of a row        e = (entries + 16) 2u ‖x‖ ‖v‖/(lambda N): a dot product of that many terms and a quotient
 *   loss at that score    e times its steepest slope near there, at most 1 + width + |score| + |y| + e for each loss
 *   loss and conjugate    32 u (1 + width + |score| + |y| + |alpha|)² for a few operations on numbers of that size, which also
 *                         bounds the two themselves
 *   sums of n terms       compensated: (2 u + (n u)²) of the sum of their magnitudes
 *   Σ alpha x             (rows + 2) 2u Σ |alpha| ‖x‖ in norm */

#include "base/mem.h"
#include "stages/scd.h"

/* A sum and its rounding error (Neumaier, 1974). */
struct sum {
    double value, lost;
};

static void add(struct sum *sum, double term)
{
    double next = sum->value + term;
    sum->lost += fabs(sum->value) >= fabs(term) ? (sum->value - next) + term : (term - next) + sum->value;
    sum->value = next;
}

struct gathered {
    struct sum losses, conjugates;
    double size, steepness, alpha; /* largest values over all pairs of a row and an output: (…)² as above, 1 + width + |score| +
                                    * |y|, |alpha| */
    double longest;                /* the largest ‖x‖² */
    size_t entries;                /* the most entries of a row */
};

void dp_scd_certificate_alloc(struct dp_scd *s)
{
    struct dp_scd_certificate *c = &s->certificate;
    size_t size = s->outputs * s->row.cols;
    c->norm2 = dp_new(s->own_rows, sizeof *c->norm2);
    c->place = dp_new(s->own_rows, sizeof *c->place);
    c->list = dp_new(s->own_rows, sizeof *c->list);
    c->slope = dp_new(s->own_rows * s->outputs, sizeof *c->slope);
    c->total = dp_new(size, sizeof *c->total);
    c->point = dp_new(size, sizeof *c->point);
}

void dp_scd_certificate_free(struct dp_scd_certificate *certificate)
{
    free(certificate->norm2);
    free(certificate->place);
    free(certificate->list);
    free(certificate->slope);
    free(certificate->total);
    free(certificate->point);
}

/* The part of one row. */
static void gather_row(struct dp_scd *s, size_t id, struct dp_row row, double label, struct gathered *g)
{
    const struct dp_scd_options *o = s->options;
    struct dp_scd_certificate *c = &s->certificate;
    enum dp_loss loss = (enum dp_loss)o->row.loss;
    double norm2 = dp_scd_norm2(s, id, row);
    g->longest = norm2 > g->longest ? norm2 : g->longest;
    g->entries = row.count > g->entries ? row.count : g->entries;
    for (size_t k = 0; k < s->outputs; k++) {
        double y = dp_scd_target(s, label, k), alpha = s->alpha[id * s->outputs + k];
        double score = dp_row_dot(row, c->point + k * s->row.cols) / s->lambda_n;
        double steep = 1 + o->row.width + fabs(score) + fabs(y), size = steep + fabs(alpha);
        add(&g->losses, dp_loss_value(loss, o->row.width, y, score));
        add(&g->conjugates, dp_loss_conjugate(loss, o->row.width, y, alpha));
        c->slope[id * s->outputs + k] = dp_dual_slope(loss, o->row.width, y, alpha, score);
        if (alpha != 0)
            dp_row_axpy(alpha, row, c->total + k * s->row.cols);
        g->steepness += steep;
        g->size += size * size;
        g->alpha += fabs(alpha);
    }
}

/* An upper bound on the amount by which the sum of losses and conjugates may be too small. */
static double room(const struct dp_scd *s, const struct gathered *g, double norm)
{
    double pairs = (double)s->row.rows * (double)s->outputs, many = pairs * 0x1p-53;
    double e = (double)(g->entries + 16) * 0x1p-52 * sqrt(g->longest) * norm / s->lambda_n;
    return e * (g->steepness + pairs * e) + (0x1p-48 + 2 * many * many) * g->size;
}

void dp_scd_certify(struct dp_scd *s, const struct dp_batch *batch, const double *point)
{
    struct dp_scd_certificate *c = &s->certificate;
    struct gathered g = {0};
    size_t size = s->outputs * s->row.cols;
    double n = (double)s->row.rows, weight = 1 / (2 * s->options->row.lambda * n * n);
    if (point != c->point)
        memcpy(c->point, point, size * sizeof *point);
    memset(c->total, 0, size * sizeof *c->total);
    for (size_t id = 0; id < s->row.rows; id++)
        gather_row(s, id, dp_scd_row(s, batch, id), dp_scd_label(s, batch, id), &g);

    double norm = sqrt(dp_norm2(c->point, size)), total = sqrt(dp_norm2(c->total, size));
    total += (n + 2) * 0x1p-52 * g.alpha * sqrt(g.longest);
    double losses = (g.losses.value + g.losses.lost) / n, conjugates = (g.conjugates.value + g.conjugates.lost) / n;
    double primal = norm * norm * weight, dual = total * total * weight;
    double more =
        room(s, &g, norm) / n + (double)(size + 32) * 0x1p-51 * (primal + dual) + 0x1p-50 * (fabs(losses) + fabs(conjugates));
    c->objective = losses + primal;
    c->gap = losses + conjugates + primal + dual + more;
    if (!isfinite(c->gap)) /* alpha is outside its domain: D is −infinite */
        c->gap = (double)INFINITY;
    c->made = true;
}
