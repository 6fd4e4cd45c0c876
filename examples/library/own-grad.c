/* A stage of your own, in place of dp-grad: the gradient of the squared loss at each row of the batch, clipped and summed.
 *
 *   cc own-grad.c $(pkg-config --cflags --libs dpline) -lm -o own-grad
 *   dp-loop --laps 100 -- "dp-sample --data a.dp --rate 0.1 --inline | ./own-grad --clip 0.5 |
 *       dp-noise -z 3 | dp-account -e 2 -d 1e-5 | dp-step --step 0.5" */
#include <dpline/grid.h>
#include <dpline/stage.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct options {
    double clip;
    bool replace_one;
};

struct state {
    size_t columns;
    double *model, *gradient; /* columns each */
    int64_t *sum;
};

static const struct dpline_option options[] = {
    {"clip", 'C', DPLINE_OPTION_REAL, offsetof(struct options, clip), "C", "L2 bound on one person's gradient", NULL, NULL, 0,
     INFINITY, DPLINE_OPTION_REQUIRED | DPLINE_OPTION_OPEN_MIN},
    {"replace-one", 0, DPLINE_OPTION_FLAG, offsetof(struct options, replace_one), NULL,
     "one person's row is exchanged for another's", NULL, NULL, 0, 0, 0},
    {NULL, 0, DPLINE_OPTION_FLAG, 0, NULL, NULL, NULL, NULL, 0, 0, 0},
};

/* Describes the model for dp-step, dp-eval and dp-predict. */
static int announce(struct dpline_frame *frame, const struct state *s, struct dpline_error *error)
{
    int rc = dpline_frame_set_text(frame, "method", "gradient", error);
    if (rc == DPLINE_OK)
        rc = dpline_frame_set_text(frame, "family", "linear", error);
    if (rc == DPLINE_OK)
        rc = dpline_frame_set_text(frame, "loss", "squared", error);
    if (rc == DPLINE_OK)
        rc = dpline_frame_set_real(frame, "loss_width", 1, error);
    if (rc == DPLINE_OK)
        rc = dpline_frame_set_real(frame, "lambda", 0, error);
    if (rc == DPLINE_OK)
        rc = dpline_frame_set_real(frame, "scale", 1, error);
    if (rc == DPLINE_OK && !dpline_frame_has(frame, "model")) /* a run begins at zero */
        rc = dpline_frame_set_array(frame, "model", DPLINE_F8, 1, s->columns, s->model, error);
    return rc;
}

static int begin(struct state *s, size_t columns, struct dpline_error *error)
{
    if (s->model != NULL)
        return columns == s->columns ? DPLINE_OK : dpline_fail(error, DPLINE_E_RUN, "the rows change their length");
    s->columns = columns;
    s->model = (double *)calloc(columns + 1, sizeof *s->model);
    s->gradient = (double *)calloc(columns + 1, sizeof *s->gradient);
    s->sum = (int64_t *)calloc(columns + 1, sizeof *s->sum);
    if (s->model == NULL || s->gradient == NULL || s->sum == NULL)
        return dpline_fail(error, DPLINE_E_RUN, "out of memory");
    return DPLINE_OK;
}

/* Called before any lap: announces that dp-step should use the sum as a gradient. If dp-step cannot, it says so now. */
static int hello(struct dpline_stage *stage, struct dpline_frame *frame, struct dpline_error *error)
{
    const struct options *o = (const struct options *)dpline_stage_options(stage);
    return dpline_stage_announce(stage, frame, "gradient", o->clip, o->replace_one, error);
}

static int fire(struct dpline_stage *stage, struct dpline_frame *frame, struct dpline_error *error)
{
    const struct options *o = (const struct options *)dpline_stage_options(stage);
    struct state *s = (struct state *)dpline_stage_state(stage);
    struct dpline_array x, y, model;
    int rc = dpline_frame_array(frame, "X", DPLINE_F4, 2, &x, error);
    if (rc == DPLINE_OK)
        rc = dpline_frame_array(frame, "y", DPLINE_F8, 1, &y, error);
    if (rc == DPLINE_OK)
        rc = begin(s, x.size[1], error);
    if (rc == DPLINE_OK)
        rc = announce(frame, s, error);
    if (rc == DPLINE_OK)
        rc = dpline_frame_array(frame, "model", DPLINE_F8, 2, &model, error);
    if (rc == DPLINE_OK && (model.count != s->columns || y.count != x.size[0]))
        rc = dpline_fail(error, DPLINE_E_RUN, "model, X and y of lap %lld do not fit", (long long)dpline_frame_lap(frame));
    if (rc != DPLINE_OK)
        return rc;

    const double *w = (const double *)model.data, *label = (const double *)y.data;
    const float *row = (const float *)x.data;
    memset(s->sum, 0, s->columns * sizeof *s->sum);
    for (size_t i = 0; i < y.count; i++, row += s->columns) {
        double score = 0;
        for (size_t j = 0; j < s->columns; j++)
            score += w[j] * (double)row[j];
        for (size_t j = 0; j < s->columns; j++)
            s->gradient[j] = (label[i] - score) * (double)row[j]; /* downhill */
        dpline_grid_add(s->gradient, s->columns, o->clip, s->sum);
    }
    rc = dpline_frame_bound(frame, s->sum, 1, s->columns, o->clip, o->replace_one, error);
    return rc == DPLINE_OK ? dpline_stage_emit(stage, frame, error) : rc;
}

static void end(struct dpline_stage *stage)
{
    struct state *s = (struct state *)dpline_stage_state(stage);
    free(s->model);
    free(s->gradient);
    free(s->sum);
}

int main(int argc, char **argv)
{
    struct dpline_stage_class own = {0};
    own.name = "own-grad";
    own.summary = "Compute, clip and add the gradients of the squared loss";
    own.options = options;
    own.options_size = sizeof(struct options);
    own.state_size = sizeof(struct state);
    own.takes = DPLINE_RAW;
    own.gives = DPLINE_BOUNDED;
    own.hello = hello;
    own.fire = fire;
    own.close = end;
    own.ephemeral = 1;
    return dpline_stage_main(&own, argc, argv);
}
