#include "audit/membership.h"

#include <gsl/gsl_cdf.h>

#include "audit/bound.h"
#include "audit/choices.h"
#include "audit/sampler.h"
#include "audit/variant.h"
#include "base/mem.h"
#include "math/moments.h"
#include "model/family.h"
#include "model/sum.h"
#include "priv/bands.h"

#define NOISE_RUNS 16
#define NOISE_LAPS 64 /* the most laps of each run */

enum { SAMPLER, PRIVATE, GATE, PUBLIC, PARTS };

/* Statistics of one lap's feature a, the canary's part of the released sum. */
struct learnt {
    double *with, *without; /* outputs: Σ of a over laps with the canary in the batch, and Σ of a over runs without it */
    double squares;         /* Σ a² of runs without, all outputs */
    uint64_t with_count, without_count;
    double *direction; /* outputs: unit vector */
    double *mean;      /* outputs: of a without the canary */
    double shift, variance;
};

/* The noise of step 1. */
struct noises {
    int64_t *vector; /* count vectors of `size` */
    size_t count, size;
    double *squares; /* outputs: Σ (noise / recorded scale)², Gaussian noise only */
    double entries;  /* of each output in these sums */
};

struct audit {
    struct dp_membership *out;
    struct dp_pipeline pipeline;
    int gate;      /* index of dp-account */
    bool gathered; /* the first stage is dp-gather: rows are sampled in its workers, so batches are not visible */
    struct dp_dataset *data;
    struct dp_variant with, without, zeros;
    struct dp_child *part[PARTS];
    struct dp_frame *token;
    struct dp_audit_sampler sampler;
    struct dp_record record; /* of the first lap */
    int64_t row;             /* the canary's, from 0 on */
    float *x;                /* cols: the canary */
    double y;
    struct dp_form form; /* of the model */
    double *moved;       /* a model of that form: the sum of a lap */
    double *feature;     /* outputs */
    size_t outputs;
    struct learnt learnt;
    struct dp_audit_choices choices;
    struct noises noises;
    int64_t keys; /* runs begun: each has its own seed */
};

/* Whether the sum moves the model to the canary's class: then a step along it lowers the canary's loss. */
static bool toward(const struct audit *a)
{
    return a->feature[a->outputs - 1] > 0;
}

enum phase { PHASE_CLAIM, PHASE_NOISE, PHASE_LEARN, PHASE_SCORE };

/* Whether a lap sums moments and makes no model. Then the rows have the constant that the frame states, and perhaps labels
   after it. */
static bool sums_moments(const struct audit *a)
{
    return !dp_frame_has(a->token, DP_F_MODEL);
}

static int open_feature(struct audit *a, struct dp_err *err)
{
    struct learnt *l = &a->learnt;
    int rc = DP_OK;
    if (sums_moments(a))
        a->form = dp_form_for(&dp_family_linear, a->data->cols, 1, dp_frame_real(a->token, DP_F_INTERCEPT, 0));
    else
        rc = dp_form_read(&a->form, a->token, err);
    if (rc == DP_OK && a->form.family != &dp_family_linear)
        rc = dp_fail(err, DP_E_USAGE, "the audit needs a linear model; this one is a %s", a->form.family->name);
    if (rc == DP_OK && a->form.features != a->data->cols)
        rc = dp_fail(err, DP_E_RUN, "the model of lap %lld does not have the shape of the data", (long long)a->token->lap);
    if (rc != DP_OK)
        return rc;
    a->outputs = a->form.outputs;
    a->moved = dp_new(a->form.rows * a->form.cols, sizeof *a->moved);
    a->feature = dp_new(a->outputs, sizeof *a->feature);
    l->with = dp_new(a->outputs, sizeof *l->with);
    l->without = dp_new(a->outputs, sizeof *l->without);
    l->direction = dp_new(a->outputs, sizeof *l->direction);
    l->mean = dp_new(a->outputs, sizeof *l->mean);
    return DP_OK;
}

/* The moments along the canary's direction, in which its own part is largest. */
static int read_moments(struct audit *a, const struct dp_sum *sum, struct dp_err *err)
{
    size_t columns = a->form.cols + (size_t)dp_frame_int(a->token, DP_F_LABEL_COLUMNS, 0);
    int rc = dp_sum_need(sum, 1, dp_moments_size(columns), err);
    for (size_t j = 0; j < a->form.cols; j++)
        a->moved[j] = j < a->data->cols ? (double)a->x[j] : a->form.intercept;
    if (rc == DP_OK)
        *a->feature = sum->grid * dp_moments_along(sum->values->data, columns, a->moved, a->form.cols);
    return rc;
}

/* The canary's score under a model that is the sum: for a linear model, the canary's part of the sum is largest there. */
static int read_feature(struct audit *a, struct dp_err *err)
{
    const struct dp_row canary = dp_row_dense(a->x, a->data->cols);
    struct dp_sum sum;
    int rc = a->feature == NULL ? open_feature(a, err) : DP_OK;
    rc = rc ?: dp_sum_read(&sum, a->token, err);
    if (rc == DP_OK && sums_moments(a))
        return read_moments(a, &sum, err);
    if (rc != DP_OK)
        return rc;
    memset(a->moved, 0, a->form.rows * a->form.cols * sizeof *a->moved);
    rc = dp_sum_add(&sum, a->form.rows, a->form.cols, a->moved, err);
    if (rc == DP_OK)
        a->form.family->score(&a->form, a->moved, &canary, 1, NULL, a->feature, NULL, NULL);
    return rc;
}

static void learn(struct audit *a, bool with, bool in)
{
    struct learnt *l = &a->learnt;
    for (size_t k = 0; k < a->outputs; k++) {
        if (with && in)
            l->with[k] += a->feature[k];
        if (!with) {
            l->without[k] += a->feature[k];
            l->squares += a->feature[k] * a->feature[k];
        }
    }
    l->with_count += with && in;
    l->without_count += !with;
}

static int settle(struct audit *a, struct dp_err *err)
{
    struct learnt *l = &a->learnt;
    double length = 0, means = 0;
    if (l->with_count == 0)
        return dp_fail(err, DP_E_RUN, "the canary was in no batch of the first runs: more laps or runs are needed");
    for (size_t k = 0; k < a->outputs; k++) {
        l->mean[k] = l->without[k] / (double)l->without_count;
        l->direction[k] = l->with[k] / (double)l->with_count - l->mean[k];
        length += l->direction[k] * l->direction[k];
        means += l->mean[k] * l->mean[k];
    }
    /* If batches are not visible, the mean "with" the canary is also over laps whose batch did not have it, so the canary moves
       a sum by more than the two means differ. */
    l->shift = sqrt(length) / (a->gathered ? a->record.rate : 1);
    l->variance = (l->squares / (double)l->without_count - means) / (double)a->outputs;
    for (size_t k = 0; k < a->outputs; k++)
        l->direction[k] /= length > 0 ? sqrt(length) : 1;
    /* A sum without noise is treated as one with very little noise, which separates the two cases as well. */
    l->variance = fmax(l->variance, 1e-12 * l->shift * l->shift);
    return DP_OK;
}

/* The lap's part of the logarithm of the likelihood ratio. */
static double score(const struct audit *a, bool in)
{
    const struct learnt *l = &a->learnt;
    double along = 0;
    for (size_t k = 0; k < a->outputs; k++)
        along += l->direction[k] * (a->feature[k] - l->mean[k]);
    if (!(l->variance > 0))
        return 0;
    double ratio = (along * l->shift - l->shift * l->shift / 2) / l->variance;
    if (a->out->visible)
        return in ? ratio : 0;
    return dp_audit_evidence(a->record.rate, ratio);
}

/* The adversary's evidence from a lap. A lap's choice is a separate query. */
static int look(struct audit *a, enum phase phase, bool with, bool in, double *sum, struct dp_err *err)
{
    bool chosen;
    size_t choice;
    int rc = dp_audit_choices_read(&a->choices, a->token, &chosen, &choice, err);
    if (rc != DP_OK)
        return rc;
    if (phase == PHASE_LEARN) {
        learn(a, with, in);
        if (chosen)
            dp_audit_choices_learn(&a->choices, with, toward(a), choice);
    }
    if (phase == PHASE_SCORE)
        *sum += score(a, in) + (chosen ? dp_audit_choices_score(&a->choices, toward(a), choice) : 0);
    return DP_OK;
}

static bool same_record(const struct dp_record *a, const struct dp_record *b)
{
    return a->sampler == b->sampler && a->rate == b->rate && a->rows == b->rows && a->epoch_laps == b->epoch_laps;
}

/* Draws the batch of a lap, and checks it against its record if `note`. Takes the canary's row out unless `with`; *in: it was
   there. */
static int sampled_lap(struct audit *a, bool with, bool note, struct dp_record *sampled, bool *in, struct dp_err *err)
{
    const struct dp_array *rows;
    int rc = dp_frame_need_array(a->token, DP_F_ROWS, DP_I64, 1, &rows, err);
    if (rc != DP_OK)
        return rc;
    *sampled = *a->token->record;
    if (sampled->rows != (int64_t)a->data->persons)
        return dp_fail(err, DP_E_RUN, "the first stage samples from %lld rows, the data set has %zu", (long long)sampled->rows,
                       a->data->persons);
    if (a->sampler.now == NULL)
        dp_audit_sampler_open(&a->sampler, sampled);
    if (note)
        rc = dp_audit_sampler_note(&a->sampler, a->token->lap, rows->data, rows->count, err);
    if (rc != DP_OK)
        return rc;
    *in = false;
    for (size_t i = 0; i < rows->count; i++)
        *in |= ((int64_t *)rows->data)[i] == a->row;
    /* If the batch is visible, so are its rows of zeros, and the absent row is such a row. In the first run the absent row is a
       row of zeros, too, because visibility is not known yet. */
    bool was;
    return !with && !a->out->visible && sampled->sampler != DP_SAMPLER_FULL
               ? dp_audit_remove_person(a->token, a->row, &was, err)
               : DP_OK;
}

/* Sampler and private stages, one lap. *in: the canary's row was in the batch, or may have been. */
static int private_lap(struct audit *a, bool with, bool note, bool *in, struct dp_err *err)
{
    const struct dp_audit_watch *w = a->out->watch;
    struct dp_record sampled;
    int rc = (a->gathered ? dp_audit_part_take : dp_audit_sampler_take)(a->part[SAMPLER], w, a->token, err);
    *in = true;
    if (rc == DP_OK && !a->gathered)
        rc = sampled_lap(a, with, note, &sampled, in, err);
    if (rc == DP_OK && a->part[PRIVATE] != NULL)
        rc = dp_audit_part_take(a->part[PRIVATE], w, a->token, err);
    if (rc != DP_OK)
        return rc;
    const struct dp_record *m = dp_frame_record(a->token, DP_F_SUM);
    if (a->token->label != DP_LABEL_NOISED || m == NULL)
        return dp_fail(err, DP_E_USAGE, "what reaches dp-account is a %s frame, not a noised one",
                       dp_label_name(a->token->label));
    if (a->gathered)
        return DP_OK;
    if (m->sampler == DP_SAMPLER_REPEATED)
        return dp_fail(err, DP_E_USAGE, "lap %lld draws batches of its own, and who is in them does not show",
                       (long long)a->token->lap);
    if (!same_record(m, &sampled))
        return dp_fail(err, DP_E_UNSAFE, "rows were sampled as %s of rate %g, and lap %lld records %s of rate %g",
                       dp_sampler_names[sampled.sampler], sampled.rate, (long long)a->token->lap, dp_sampler_names[m->sampler],
                       m->rate);
    return DP_OK;
}

/* Passes the frame through the gate, or changes it as the gate would have. */
static int release(struct audit *a, enum phase phase, struct dp_err *err)
{
    const struct dp_audit_watch *w = a->out->watch;
    struct dp_frame *f = a->token;
    if (phase == PHASE_CLAIM)
        return dp_audit_part_take(a->part[GATE], w, f, err);
    double scale = dp_frame_record(f, DP_F_SUM)->scale;
    dp_frame_strip(f);
    dp_frame_set_real(f, DP_F_NOISE_SCALE, scale);
    f->label = DP_LABEL_RELEASED;
    return DP_OK;
}

/* The noise of the last lap that was kept. If it is correlated, the mechanism has drawn z = C r. */
static void add_squares(struct audit *a, const struct dp_array *sum)
{
    const struct dp_record *m = dp_frame_record(a->token, DP_F_SUM);
    double step = dp_frame_real(a->token, DP_F_GRID, 0) / m->scale;
    int64_t c[DP_BANDS_MOST], bands = m->query.kind == DP_QUERY_CORRELATED ? m->query.correlated : 1;
    if ((m->query.kind != DP_QUERY_GAUSSIAN && m->query.kind != DP_QUERY_CORRELATED) || !(m->scale > 0))
        return;
    dp_bands_coefficients(c, bands);
    for (size_t i = 0; i < sum->count; i++) {
        const int64_t *now = a->noises.vector + (a->noises.count - 1) * a->noises.size + i;
        double drawn = 0;
        for (int64_t k = 0; k < bands && k < a->token->lap; k++, now -= a->noises.size)
            drawn += (double)c[k] / DP_BANDS_UNIT * (double)*now;
        a->noises.squares[i / sum->dims[1]] += (step * drawn) * (step * drawn);
    }
    a->noises.entries += (double)sum->dims[1];
}

static int keep_noise(struct audit *a, struct dp_err *err)
{
    const struct dp_array *sum;
    int rc = dp_frame_need_array(a->token, DP_F_SUM, DP_I64, 2, &sum, err);
    if (rc == DP_OK && a->noises.vector == NULL) {
        int64_t laps = a->out->laps < NOISE_LAPS ? a->out->laps : NOISE_LAPS;
        a->noises.size = sum->count;
        a->noises.vector = dp_new((size_t)(laps * NOISE_RUNS) * sum->count, sizeof *a->noises.vector);
        a->noises.squares = dp_new(sum->dims[0], sizeof *a->noises.squares);
    }
    if (rc == DP_OK && sum->count == a->noises.size) {
        memcpy(a->noises.vector + a->noises.count++ * a->noises.size, sum->data, a->noises.size * sizeof *a->noises.vector);
        add_squares(a, sum);
    }
    return rc;
}

static int start(struct audit *a, enum phase phase, const char *path, struct dp_err *err)
{
    const struct dp_audit_watch *w = a->out->watch;
    const int from[] = {0, 1, a->gate, a->gate + 1}, to[] = {1, a->gate, a->gate + 1, a->pipeline.stages};
    int rc = DP_OK;
    for (int i = 0; rc == DP_OK && i < PARTS; i++)
        if (from[i] < to[i] && (i != GATE || phase == PHASE_CLAIM))
            rc = dp_audit_part_start(&a->part[i], w, &a->pipeline, from[i], to[i], path, err);
    if (rc == DP_OK)
        dp_audit_hello(a->token, a->out->laps, a->out->seed >= 0 ? a->out->seed + a->keys++ : -1);
    for (int i = 0; rc == DP_OK && i < PARTS; i++) {
        if (a->part[i] != NULL)
            rc = dp_audit_part_take(a->part[i], w, a->token, err);
        else if (i == GATE) /* a stage counts although it does not run, because keys depend on the numbers of stages */
            dp_frame_set_int(a->token, DP_F_STAGE, dp_frame_int(a->token, DP_F_STAGE, 0) + 1);
    }
    dp_frame_reset(a->token, DP_KIND_LAP);
    return rc;
}

/* A lap of a run, whose score is added to *sum. */
static int one_lap(struct audit *a, enum phase phase, bool with, int64_t lap, double *sum, struct dp_err *err)
{
    struct dp_membership *out = a->out;
    bool in;
    dp_frame_begin_lap(a->token, a->token, lap, out->laps, out->seed >= 0);
    int rc = private_lap(a, with, phase != PHASE_CLAIM, &in, err);
    if (rc == DP_OK && phase == PHASE_CLAIM && lap == 1) {
        a->record = *dp_frame_record(a->token, DP_F_SUM);
        out->visible = a->record.release == DP_RELEASE_SUM_AND_STATE;
    }
    rc = rc ?: phase == PHASE_NOISE ? keep_noise(a, err) : read_feature(a, err);
    rc = rc ?: look(a, phase, with, in, sum, err);
    rc = rc ?: release(a, phase, err);
    if (rc == DP_OK && a->part[PUBLIC] != NULL)
        rc = dp_audit_part_take(a->part[PUBLIC], out->watch, a->token, err);
    if (rc == DP_OK && dp_frame_has(a->token, DP_F_SUM) && !sums_moments(a))
        rc = dp_fail(err, DP_E_USAGE, "no stage applies the released sum: put dp-step after dp-account");
    return rc;
}

/* Reads what the run with a gate claims. */
static int read_claim(struct audit *a, struct dp_err *err)
{
    struct dp_membership *out = a->out;
    out->claimed = dp_frame_real(a->token, DP_F_EPSILON, NAN);
    out->delta = dp_frame_real(a->token, DP_F_DELTA, NAN);
    return isnan(out->claimed) || isnan(out->delta) ? dp_fail(err, DP_E_UNSAFE, "the pipeline claims no epsilon") : DP_OK;
}

/* One run; *total (may be NULL) is its score. */
static int one_run(struct audit *a, enum phase phase, bool with, double *total, struct dp_err *err)
{
    struct dp_membership *out = a->out;
    const struct dp_variant *v = phase == PHASE_NOISE ? &a->zeros : with ? &a->with : &a->without;
    int64_t laps = phase == PHASE_NOISE && out->laps > NOISE_LAPS ? NOISE_LAPS : out->laps;
    double sum = 0;
    int rc = start(a, phase, v->path, err);
    for (int64_t lap = 1; rc == DP_OK && lap <= laps; lap++)
        rc = one_lap(a, phase, with, lap, &sum, err);
    if (rc == DP_OK && phase == PHASE_CLAIM)
        rc = read_claim(a, err);
    if (total != NULL)
        *total = sum;
    if (rc != DP_OK) {
        dp_audit_parts_kill(a->part, PARTS);
        return rc;
    }
    return dp_audit_parts_end(a->part, PARTS, out->watch, a->token, err);
}

static int compare_noise(const void *left, const void *right, void *size)
{
    const int64_t *a = *(const int64_t *const *)left, *b = *(const int64_t *const *)right;
    int order = memcmp(a, b, *(const size_t *)size * sizeof *a);
    return order != 0 ? order : (a > b) - (a < b); /* the earlier first */
}

/* Step 1. Two rounded Gaussians of scale s (in grid steps) are equal with probability about 1/(2 √π s). */
static int check_noise(struct audit *a, struct dp_err *err)
{
    int64_t laps = a->out->laps < NOISE_LAPS ? a->out->laps : NOISE_LAPS;
    const int64_t **order;
    int rc = DP_OK;
    for (int run = 0; rc == DP_OK && run < NOISE_RUNS; run++)
        rc = one_run(a, PHASE_NOISE, false, NULL, err);
    if (rc != DP_OK)
        return rc;
    order = dp_new(a->noises.count, sizeof *order);
    for (size_t i = 0; i < a->noises.count; i++)
        order[i] = a->noises.vector + i * a->noises.size;
    size_t bytes = a->noises.size;
    qsort_r(order, a->noises.count, sizeof *order, compare_noise, &bytes);
    double scale = a->record.scale / fmax(a->record.bound * 0x1p-20, 0x1p-1000);
    double pairs = (double)a->noises.count * (double)a->noises.count / 2;
    double chance = pairs * pow(2 * sqrt(M_PI) * fmax(1, scale), -(double)a->noises.size);
    for (size_t i = 1; rc == DP_OK && i < a->noises.count && chance < 1 - a->out->confidence; i++) {
        if (memcmp(order[i - 1], order[i], a->noises.size * sizeof **order) != 0)
            continue;
        long long first = (long long)((size_t)(order[i - 1] - a->noises.vector) / a->noises.size);
        long long second = (long long)((size_t)(order[i] - a->noises.vector) / a->noises.size);
        rc = dp_fail(err, DP_E_RUN, "a key is used twice: lap %lld of run %lld has the noise of lap %lld of run %lld",
                     second % laps + 1, second / laps + 1, first % laps + 1, first / laps + 1);
    }
    free(order);
    return rc;
}

/* Step 2. Contributions of rows of zeros to the noise (an intercept, a regulariser) can only make the squares larger. */
static int check_scale(const struct audit *a, struct dp_err *err)
{
    for (size_t k = 0; a->noises.entries > 0 && k < a->outputs; k++)
        if (gsl_cdf_chisq_P(a->noises.squares[k], a->noises.entries) < (1 - a->out->confidence) / (double)a->outputs)
            return dp_fail(err, DP_E_RUN,
                           "the noise on output %zu of the sum has %.3g times the scale in its record (confidence %g)", k + 1,
                           sqrt(a->noises.squares[k] / a->noises.entries), a->out->confidence);
    return DP_OK;
}

static uint64_t count_above(const double *score, int64_t count, double threshold)
{
    uint64_t above = 0;
    for (int64_t i = 0; i < count; i++)
        above += score[i] > threshold;
    return above;
}

static int compare_real(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* The threshold, among quantiles of both kinds of run, with the largest bound for as many runs as will be counted. */
static double choose(const double *with, const double *without, int64_t count, double delta, double confidence, double *sorted)
{
    double best = -1, threshold = 0;
    memcpy(sorted, with, (size_t)count * sizeof *sorted);
    memcpy(sorted + count, without, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count * 2, sizeof *sorted, compare_real);
    int64_t step = count * 2 / 400 + 1;
    for (int64_t i = 0; i < count * 2; i += step) {
        double lower = dp_audit_epsilon_lower(count_above(with, count, sorted[i]), count_above(without, count, sorted[i]),
                                              (uint64_t)count, delta, confidence);
        if (lower > best) {
            best = lower;
            threshold = sorted[i];
        }
    }
    return threshold;
}

/* Step 4. */
static int measure(struct audit *a, struct dp_err *err)
{
    struct dp_membership *out = a->out;
    int64_t learning = out->runs / 10 > 10 ? out->runs / 10 : 10, scored = out->runs - learning, first = scored / 2,
            second = scored - first;
    double *with = dp_new((size_t)scored * 2, sizeof *with), *without = with + scored;
    double *sorted = dp_new((size_t)scored * 2, sizeof *sorted);
    int rc = DP_OK;
    for (int64_t i = 0; rc == DP_OK && i < 2 * learning; i++)
        rc = one_run(a, PHASE_LEARN, i % 2 == 0, NULL, err);
    rc = rc ?: settle(a, err);
    for (int64_t i = 0; rc == DP_OK && i < 2 * scored; i++)
        rc = one_run(a, PHASE_SCORE, i % 2 == 0, i % 2 == 0 ? &with[i / 2] : &without[i / 2], err);
    if (rc == DP_OK && !a->gathered)
        rc = dp_audit_sampler_judge(&a->sampler, out->confidence, err);
    if (rc == DP_OK) {
        double threshold = choose(with, without, first, out->delta, out->confidence, sorted);
        out->tested = (uint64_t)second;
        out->hits = count_above(with + first, second, threshold);
        out->alarms = count_above(without + first, second, threshold);
        out->lower = dp_audit_epsilon_lower(out->hits, out->alarms, out->tested, out->delta, out->confidence);
    }
    free(with);
    free(sorted);
    return rc;
}

/* The canary: the row itself, or an entry of 1 in the column where the other rows have the smallest entries. */
static void make_canary(struct audit *a)
{
    const struct dp_dataset *d = a->data;
    size_t best = 0;
    double *mass = dp_new(d->cols, sizeof *mass);
    size_t first, count = dp_dataset_person(d, (size_t)a->row, &first);
    for (size_t i = 0; a->out->keep_others && i < d->rows; i++) {
        struct dp_row r = dp_dataset_row(d, i);
        for (size_t j = 0; i - first >= count && j < r.count; j++)
            mass[r.columns != NULL ? (size_t)r.columns[j] : j] += fabs((double)dp_row_value(&r, j));
    }
    for (size_t j = 1; j < d->cols; j++)
        if (mass[j] < mass[best])
            best = j;
    const struct dp_row own = dp_dataset_row(d, first);
    for (size_t j = 0; j < d->cols; j++)
        a->x[j] = a->out->own_row ? (float)dp_row_at(own, j) : (float)(j == best);
    a->y = a->out->own_row ? d->y[first] : d->label.kind == DP_LABEL_CLASSES ? (double)(d->label.classes - 1) : 1;
    free(mass);
}

static int make_variants(struct audit *a, struct dp_err *err)
{
    struct dp_membership *out = a->out;
    bool blank = !out->keep_others;
    struct dp_variant_rows rows = {0};
    size_t cols = a->data->cols;
    float *x = NULL; /* entries of the canary, then zeros, for each row of the person */
    rows.count = dp_dataset_person(a->data, (size_t)a->row, &rows.first);
    x = dp_new(2 * rows.count * cols, sizeof *x);
    double *y = dp_new(rows.count, sizeof *y);
    int rc = DP_OK;
    rows.y = y;
    for (size_t i = 0; i < rows.count; i++) {
        memcpy(x + i * cols, a->x, cols * sizeof *x);
        y[i] = a->y;
    }
    struct dp_variant *v[] = {&a->with, &a->without, &a->zeros};
    for (int i = 0; rc == DP_OK && i < 3; i++) {
        rc = dp_variant_open(v[i], out->scratch, out->data, err);
        rows.x = i == 0 ? x : x + rows.count * cols;
        rc = rc ?: dp_variant_write(v[i], a->data, blank || i == 2, &rows, err);
    }
    free(x);
    free(y);
    return rc;
}

static int prepare(struct audit *a, struct dp_err *err)
{
    struct dp_membership *out = a->out;
    int rc = dp_audit_cut(&a->pipeline, out->pipeline, err);
    a->gathered = rc == DP_OK && dp_pipeline_find(&a->pipeline, "dp-gather") == 0;
    rc = rc ?: dp_audit_find_gate(&a->pipeline, a->gathered ? 1 : 2, &a->gate, err);
    rc = rc ?: dp_dataset_open(&a->data, out->data, err);
    if (rc == DP_OK && (a->data->persons < 2 || out->row > (int64_t)a->data->persons))
        rc = dp_fail(err, out->row > 0 ? DP_E_USAGE : DP_E_RUN, "%s has %zu %ss", out->data, a->data->persons,
                     a->data->person != NULL ? "person" : "row");
    if (rc == DP_OK && out->own_row && a->data->person != NULL)
        rc = dp_fail(err, DP_E_USAGE, "--canary row: the rows of a person in %s differ: use the unit canary", out->data);
    if (rc != DP_OK)
        return rc;
    a->x = dp_new(a->data->cols, sizeof *a->x);
    a->row = out->row > 0 ? out->row - 1 : (int64_t)a->data->persons - 1;
    make_canary(a);
    a->token = dp_frame_new();
    return make_variants(a, err);
}

int dp_membership_run(struct dp_membership *audit, struct dp_err *err)
{
    struct audit a = {.out = audit};
    int rc = prepare(&a, err);
    rc = rc ?: one_run(&a, PHASE_CLAIM, true, NULL, err);
    rc = rc ?: check_noise(&a, err);
    rc = rc ?: check_scale(&a, err);
    rc = rc ?: measure(&a, err);
    dp_audit_parts_kill(a.part, PARTS);
    dp_variant_close(&a.with);
    dp_variant_close(&a.without);
    dp_variant_close(&a.zeros);
    dp_audit_sampler_close(&a.sampler);
    dp_frame_free(a.token);
    dp_dataset_close(a.data);
    dp_pipeline_free(&a.pipeline);
    free(a.choices.made);
    free(a.learnt.with);
    free(a.learnt.without);
    free(a.learnt.direction);
    free(a.learnt.mean);
    free(a.moved);
    free(a.feature);
    free(a.noises.vector);
    free(a.noises.squares);
    free(a.x);
    return rc;
}
