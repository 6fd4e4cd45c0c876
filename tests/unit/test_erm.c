/* A search for the largest effect of one row on the result of dp-erm: the stage runs on neighbouring data sets, and rows,
   labels, the initial model and the person's place are moved in any way that increases the distance of the two results. The
   distance never exceeds the recorded sensitivity, and nearly reaches it. */
#include "random.h"
#include "unit.h"

#include <gsl/gsl_randist.h>

#include "audit/bound.h"
#include "stages/stage.h"

enum { ROWS = 12, COLS = 3, MOST = 9 };

/* A pair of neighbours: row `person` is x[person] on one side, and `other`, or nothing, on the other. */
struct pair {
    float x[ROWS][COLS], other[COLS];
    double y[ROWS], other_label, model[MOST];
    size_t person;
};

struct kind {
    const char *options;
    size_t classes; /* 0: a regression */
    bool replace_one;
};

struct answer {
    int64_t sum[MOST];
    double sensitivity, grid;
};

static struct answer answer;

static int keep(struct dp_out *out, struct dp_frame *frame, struct dp_err *err)
{
    (void)out;
    (void)err;
    if (frame->kind != DP_KIND_LAP)
        return 0;
    const struct dp_array *sum = dp_frame_array(frame, DP_F_SUM);
    assert_true(sum->dtype == DP_I64 && sum->count <= MOST && frame->label == DP_LABEL_BOUNDED);
    memcpy(answer.sum, sum->data, sum->count * sizeof(int64_t));
    answer.sensitivity = dp_frame_record(frame, DP_F_SUM)->sensitivity;
    answer.grid = dp_frame_real(frame, DP_F_GRID, 0);
    return 0;
}

static size_t outputs_of(const struct kind *k)
{
    return k->classes > 2 ? k->classes : 1;
}

static void fill(struct dp_frame *frame, const struct kind *k, const struct pair *p, bool changed)
{
    const struct dp_record record = {.of = DP_F_NONE, .sampler = DP_SAMPLER_FULL, .rate = 1, .rows = ROWS};
    int64_t *rows;
    float *x;
    double *y, *model;
    dp_frame_reset(frame, DP_KIND_LAP);
    frame->lap = 1;
    frame->label = DP_LABEL_RAW;
    assert_int_equal(dp_frame_make_array(frame, DP_F_ROWS, DP_I64, ROWS, 0, &rows, NULL), 0);
    assert_int_equal(dp_frame_make_array(frame, DP_F_X, DP_F32, ROWS, COLS, &x, NULL), 0);
    assert_int_equal(dp_frame_make_array(frame, DP_F_Y, DP_F64, ROWS, 0, &y, NULL), 0);
    assert_int_equal(dp_frame_make_array(frame, DP_F_MODEL, DP_F64, outputs_of(k), COLS, &model, NULL), 0);
    for (size_t i = 0; i < ROWS; i++)
        rows[i] = (int64_t)i;
    memcpy(x, p->x, sizeof p->x);
    memcpy(y, p->y, sizeof p->y);
    memcpy(model, p->model, outputs_of(k) * COLS * sizeof *model);
    if (changed && k->replace_one) {
        memcpy(x + p->person * COLS, p->other, sizeof p->other);
        y[p->person] = p->other_label;
    } else if (changed) {
        x[p->person * COLS] = NAN; /* adds nothing */
    }
    dp_frame_set_int(frame, DP_F_CLASSES, (int64_t)k->classes);
    dp_frame_set_text(frame, DP_F_METHOD, "erm", 3);
    dp_frame_set_text(frame, DP_F_FAMILY, "linear", 6);
    dp_frame_set_real(frame, DP_F_SCALE, 1);
    assert_int_equal(dp_frame_add_record(frame, &record, NULL), 0);
}

/* One lap of the stage. */
static void run(struct dp_frame *frame, const struct kind *k, const struct pair *p, bool changed)
{
    struct dp_err err = {0};
    struct dp_out out = {.frame = keep};
    struct dp_stage *stage;
    char text[300], *argv[40], *rest = text;
    int argc = 0;
    snprintf(text, sizeof text, "dp-erm %s --adjacency %s", k->options, k->replace_one ? "replace-one" : "null-record");
    for (char *word; (word = strsep(&rest, " ")) != NULL;)
        argv[argc++] = word;
    argv[argc] = NULL;
    if (dp_stage_new(&stage, dp_stage_find("dp-erm"), argc, argv, NULL, &err) != 0)
        fail_msg("%s: %s", k->options, err.message);
    dp_frame_reset(frame, DP_KIND_HELLO);
    dp_frame_set_int(frame, DP_F_FORMAT, DP_FRAME_FORMAT);
    dp_frame_set_int(frame, DP_F_SEED, 7); /* the same order on both sides */
    assert_int_equal(dp_stage_take(stage, frame, &out, &err), 0);
    fill(frame, k, p, changed);
    if (dp_stage_take(stage, frame, &out, &err) != 0)
        fail_msg("%s: %s", k->options, err.message);
    dp_stage_free(stage);
}

/* The distance of the two results, as part of the sensitivity; it must be at most 1. */
static double distance(struct dp_frame *frame, const struct kind *k, const struct pair *p)
{
    run(frame, k, p, false);
    struct answer first = answer;
    run(frame, k, p, true);
    unsigned __int128 distance2 = dp_audit_distance2(first.sum, answer.sum, outputs_of(k) * COLS);
    assert_true(first.sensitivity == answer.sensitivity && first.grid == answer.grid);
    if (dp_audit_exceeds(distance2, answer.sensitivity, answer.grid))
        fail_msg("%s: one row moves the sum by %g, the record says %g", k->options, sqrt((double)distance2) * answer.grid,
                 answer.sensitivity);
    return sqrt((double)distance2) * answer.grid / answer.sensitivity;
}

/* Mostly of the full length. */
static void draw_row(gsl_rng *rng, float *x, double spread)
{
    double length = 0, v[COLS], target = gsl_rng_uniform(rng) < 0.9 ? 1 : gsl_rng_uniform(rng);
    for (size_t j = 0; j < COLS; j++) {
        v[j] = (double)x[j] + gsl_ran_gaussian(rng, spread);
        length += v[j] * v[j];
    }
    for (size_t j = 0; j < COLS; j++)
        x[j] = (float)(v[j] * target / sqrt(length));
}

static double draw_label(gsl_rng *rng, const struct kind *k)
{
    return k->classes > 0 ? (double)gsl_rng_uniform_int(rng, k->classes)
                          : gsl_ran_gaussian(rng, 1) * pow(10, 6 * gsl_rng_uniform(rng));
}

/* Models of all lengths: far away slopes hardly change, near zero they do. */
static struct pair draw(gsl_rng *rng, const struct kind *k)
{
    struct pair p = {.person = gsl_rng_uniform_int(rng, ROWS), .other_label = draw_label(rng, k)};
    double size = pow(10, 6 * gsl_rng_uniform(rng) - 1);
    for (size_t i = 0; i < ROWS; i++) {
        draw_row(rng, p.x[i], 1);
        p.y[i] = draw_label(rng, k);
    }
    draw_row(rng, p.other, 1);
    for (size_t j = 0; j < outputs_of(k) * COLS; j++)
        p.model[j] = gsl_ran_gaussian(rng, size);
    return p;
}

static struct pair move(gsl_rng *rng, const struct kind *k, const struct pair *from)
{
    struct pair p = *from;
    double spread = pow(10, -4 * gsl_rng_uniform(rng));
    size_t i = gsl_rng_uniform(rng) < 0.5 ? p.person : gsl_rng_uniform_int(rng, ROWS),
           j = gsl_rng_uniform_int(rng, outputs_of(k) * COLS);
    switch (gsl_rng_uniform_int(rng, 7)) {
    case 0:
        draw_row(rng, p.x[i], spread);
        break;
    case 1:
        p.y[i] = draw_label(rng, k);
        break;
    case 2:
        draw_row(rng, p.other, spread);
        break;
    case 3:
        p.other_label = draw_label(rng, k);
        break;
    case 4:
        p.model[j] += gsl_ran_gaussian(rng, spread * (1 + fabs(p.model[j])));
        break;
    case 5:
        p.person = i;
        break;
    default:
        for (j = 0; j < MOST; j++)
            p.model[j] *= exp(gsl_ran_gaussian(rng, 1));
        break;
    }
    return p;
}

/* Searches from a few starts, and from more until the bound is nearly reached. */
static double search(struct dp_frame *frame, gsl_rng *rng, const struct kind *k)
{
    double best = 0;
    for (int s = 0; s < 4 || (best < 0.9 && s < 60); s++) {
        struct pair p = draw(rng, k);
        double far = distance(frame, k, &p);
        for (int m = 0; m < 400; m++) {
            struct pair q = move(rng, k, &p);
            double there = distance(frame, k, &q);
            if (there >= far) {
                far = there;
                p = q;
            }
        }
        best = fmax(best, far);
    }
    return best;
}

TEST(nothing_goes_beyond_the_bound_and_something_comes_near)
{
    static const char *const methods[] = {"descent --iterations 8", "permutation --passes 4 --batch 3",
                                          "permutation --passes 3 --batch 5 --decay inverse --lambda 0.2"};
    static const char *const losses[] = {"huber --loss-width 0.5", "logistic", "smooth-hinge",
                                         "huberised-hinge",        "softmax",  "logistic"};
    static const size_t classes[] = {0, 2, 2, 2, 3, 3};
    struct dp_frame *frame;
    gsl_rng *rng = random_numbers();
    frame = dp_frame_new();
    for (size_t m = 0; m < 3; m++) {
        for (size_t l = 0; l < 6; l++) {
            for (int which = 0; which < 4; which++) {
                char options[200];
                const char *lambda = m == 2 ? "" : which % 2 ? " --lambda 0.1" : " --lambda 0";
                if (m == 2 && which % 2 != 0)
                    continue;
                snprintf(options, sizeof options, "--method %s --loss %s%s", methods[m], losses[l], lambda);
                const struct kind k = {options, classes[l], which / 2 == 1};
                double best = search(frame, rng, &k);
                if (!(best >= 0.9))
                    fail_msg("%s%s: %g of the sensitivity was reached", options, k.replace_one ? ", replace-one" : "", best);
            }
        }
    }
    dp_frame_free(frame);
}

TESTS(NULL, NULL)
