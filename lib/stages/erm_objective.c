/* dp-erm --method minimum --multiplier Z: objective perturbation (priv/objective.h). The minimiser of

     J(w)/N = F(w) + bᵀw/N,   b ~ N(0, σ² I), σ = Z × what one person does to the gradient of J

   down to a norm of the gradient near the rounding error, with a bound on the distance to the minimiser. dp-noise adds noise
   for this bound. b hides a person, and the record has its scale.

   The certificate states, for J with the exact b and real numbers,

     ‖∇J(w)/N‖ ≤ gamma = tolerance + rounding + ‖b − its grid's‖/N,   so ‖w − argmin J‖ ≤ gamma/lambda.

   All of it follows from the options, the public number of rows and the number of columns. Rounding grows with ‖w‖: the
   minimiser has lambda ‖w‖ ≤ L + ‖b‖/N, and a norm of b beyond σ(√d + 12) has a probability below e^−72; a w beyond what that
   allows, or one without the certificate, ends the run. */
#include <sodium.h>

#include "base/mem.h"
#include "math/gaussian.h"
#include "math/vec.h"
#include "priv/objective.h"
#include "stages/erm.h"

enum { GRID_BITS = 40 };

struct certificate {
    double sigma, step;    /* of b, and its grid */
    double reach, largest; /* largest norms of w and b */
    double tolerance;      /* for the gradient as computed */
    double bound;          /* a power of two: two results for one minimiser are at most this far apart; bounds the sum */
};

/* The bound for laps of that shape, from a model of norm `start`. INFINITY if rounding is too large for a bound. */
static struct certificate certificate_of(const struct dp_erm *s, const struct dp_erm_shape *shape, double start)
{
    const struct dp_erm_options *o = s->options;
    const struct dp_descent d = dp_erm_descent_of(s, 1);
    double n = (double)shape->rows, root = sqrt((double)shape->cols);
    struct certificate c = {.sigma = o->multiplier * d.lipschitz * (o->row.adjacency != 0 ? 2 : 1) * (1 + 0x1p-50)};
    const struct dp_arithmetic arithmetic = {
        .cols = (double)shape->cols,
        .chain = dp_erm_chain(shape->rows, shape->cols),
        .slope = dp_loss_slope_rounding(s->row.training.loss, s->row.training.width, 1) /
                 dp_loss_lipschitz(s->row.training.loss, s->row.training.width, 1),
    };
    c.step = ldexp(1, ilogb(c.sigma) - GRID_BITS);
    c.largest = c.sigma * (root + 12);
    c.reach = (d.lipschitz + c.largest / n) / d.mu * (1 + 0x1p-20);
    /* b/N and the sum of all terms are rounded, and so is the norm of the sum. */
    double rounding = dp_gradient_rounding(&d, &arithmetic, c.reach);
    rounding += 0x1p-52 * (d.lipschitz + d.mu * c.reach + 3 * c.largest / n);
    c.tolerance = isnan(o->tolerance) ? 2 * rounding : o->tolerance;
    double gamma = c.tolerance * (1 + 0x1p-50 * ((double)shape->cols + 4)) + rounding + c.step * root / (2 * n);
    /* With the last term the grid is so coarse that every value within reach has at most 61 bits on it. The grid is also the
       same for all laps of a run, each of which starts where the one before ended. */
    double apart = gamma / d.mu * (1 + 0x1p-20) + 0x1p-42 * (c.reach + fmax(start, 3 * c.reach)), grid = 0x1p-20 * root;
    c.bound = grid < 0.4 ? exp2(ceil(log2(apart / (0.5 - grid)) + 0x1p-40)) : (double)INFINITY;
    return c;
}

static struct dp_query query_of(const struct dp_erm *s, double rows)
{
    const struct dp_erm_options *o = s->options;
    double reach = dp_erm_reach(o), bend = dp_loss_smoothness(s->row.training.loss, s->row.training.width) * reach * reach;
    return (struct dp_query){
        .kind = DP_QUERY_OBJECTIVE,
        .objective = o->multiplier,
        .curvature = bend / (o->row.lambda * rows) * (1 + 0x1p-50),
        .vertices = dp_objective_vertices(dp_losses[s->row.training.loss].of == DP_LOSS_OF_RESIDUAL, o->row.adjacency != 0)};
}

static int objective_check(const struct dp_erm *s, struct dp_err *err)
{
    if (dp_loss_is_joint(s->row.training.loss))
        return dp_fail(err, DP_E_USAGE, "--loss softmax has several outputs, and an objective is perturbed for one");
    return dp_erm_bound_check(s, err);
}

static void objective_announce(const struct dp_erm *s, struct dp_record *open)
{
    struct dp_erm_shape shape;
    bool known = dp_erm_shape_ahead(s, open->rows, &shape);
    dp_record_bound(open, DP_F_SUM, dp_adjacency_chosen(s->options->row.adjacency),
                    known ? certificate_of(s, &shape, 0).bound : 0);
    open->query = query_of(s, (double)open->rows);
}

/* Draws b on its grid. */
static int draw(struct dp_stage *stage, int64_t lap, const struct certificate *c, size_t size, double *b, struct dp_err *err)
{
    int64_t *whole = dp_new(size, sizeof *whole);
    int rc = DP_OK;
    if (dp_gaussian_draw(&stage->key, DP_DRAW_OBJECTIVE, (uint64_t)lap, 0, c->sigma / c->step, whole, size) != 0)
        rc = dp_fail(err, DP_E_RUN, "--multiplier: noise of scale %g does not fit its grid", c->sigma);
    for (size_t j = 0; rc == DP_OK && j < size; j++)
        b[j] = (double)whole[j] * c->step;
    free(whole);
    return rc;
}

/* Moves s->w to a point where the certificate holds. The distance that it reached is private. */
static int solve(struct dp_erm_risk *r, const struct certificate *c, int64_t lap, struct dp_err *err)
{
    struct dp_erm *s = r->state;
    size_t size = dp_erm_size(s);
    struct dp_minimum found;
    dp_erm_solve(r, c->tolerance, &found);
    bool within = sqrt(dp_norm2(s->w, size)) <= c->reach && sqrt(dp_norm2(r->b, size)) <= c->largest;
    if (found.end == DP_MINIMUM_REACHED && found.norm <= c->tolerance && within)
        return DP_OK;
    return dp_fail(err, DP_E_RUN,
                   "the minimiser of lap %lld was not found to a gradient of norm %.3g: nothing is released; a larger "
                   "--tolerance or more passes (--most) may help",
                   (long long)lap, c->tolerance);
}

static int objective_lap(struct dp_stage *stage, struct dp_frame *frame, const struct dp_batch *batch, const double *model,
                         struct dp_err *err)
{
    struct dp_erm *s = stage->state;
    const struct dp_erm_shape shape = dp_erm_shape_of(s);
    size_t size = dp_erm_size(s);
    if (s->row.form.outputs > 1)
        return dp_fail(err, DP_E_RUN, "the model of %zu classes has several outputs, and an objective is perturbed for one",
                       s->row.classes);
    const struct certificate c = certificate_of(s, &shape, sqrt(dp_norm2(model, size)));
    double *b = dp_new(size, sizeof *b);
    int rc = DP_OK;
    struct dp_erm_risk risk = {s, batch, b};
    memcpy(s->w, model, size * sizeof *s->w);
    rc = draw(stage, frame->lap, &c, size, b, err);
    if (rc == DP_OK && isfinite(c.bound))
        rc = solve(&risk, &c, frame->lap, err);
    rc = rc ?: dp_erm_give(s, frame, model, c.bound, err);
    if (rc == DP_OK)
        dp_frame_edit_record(frame, DP_F_SUM)->query = query_of(s, (double)s->row.rows);
    sodium_memzero(b, size * sizeof *b);
    free(b);
    return rc;
}

const struct dp_erm_method dp_erm_objective = {
    .bounded = true,
    .check = objective_check,
    .announce = objective_announce,
    .lap = objective_lap,
};
