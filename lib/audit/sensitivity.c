#include "audit/sensitivity.h"

#include <float.h>

#include "audit/bound.h"
#include "audit/provoke.h"
#include "base/mem.h"
#include "math/rng.h"
#include "model/compare.h"
#include "model/sum.h"
#include "model/transform.h"
#include "wire/model.h"

struct audit {
    struct dp_sensitivity *out;
    struct dp_pipeline pipeline;
    struct dp_dataset *data;
    struct dp_variant variant;
    struct dp_child *part[2]; /* the sampler, and the rest */
    struct dp_frame *token, *aside;
    struct dp_frame **absent; /* laps: the frames that came back with the row absent */
    double *model;            /* the model that the sums so far would have trained */
    size_t model_rows, model_cols;
    struct dp_key key;          /* of rows and models */
    struct dp_provoked changed; /* the rows that replace the rows of one person */
    int64_t row;                /* the person, from 0 on */
    bool alone;                 /* state of other rows must not depend on this row */
};

/* For messages. */
static const char *unit_of(const struct audit *a)
{
    return a->data->person != NULL ? "person" : "row";
}

/* Writes the data set with the changed rows, and starts the pipeline on it. */
static int start(struct audit *a, int64_t seed, struct dp_err *err)
{
    const struct dp_audit_watch *w = a->out->watch;
    int rc = dp_variant_write(&a->variant, a->data, false, &a->changed.rows, err);
    rc = rc ?: dp_audit_part_start(&a->part[0], w, &a->pipeline, 0, 1, a->variant.path, err);
    rc = rc ?: dp_audit_part_start(&a->part[1], w, &a->pipeline, 1, a->pipeline.stages, a->variant.path, err);
    if (rc == DP_OK)
        dp_audit_hello(a->token, a->out->laps, seed);
    for (int i = 0; rc == DP_OK && i < 2; i++)
        rc = dp_audit_part_take(a->part[i], w, a->token, err);
    /* Each side computes the same models again from the kept sums. */
    if (a->model != NULL)
        memset(a->model, 0, a->model_rows * a->model_cols * sizeof *a->model);
    return rc;
}

/* The model of a lap, the same on both sides: none in the first lap, then in turn random, zero, and trained. */
static int set_model(struct audit *a, int64_t lap, struct dp_err *err)
{
    double *model, size = pow(10, (double)(lap / 3 % 7) - 3);
    size_t count = a->model_rows * a->model_cols;
    if (a->model == NULL) /* laps that make no model */
        return DP_OK;
    int rc = dp_frame_make_array(a->token, DP_F_MODEL, DP_F64, a->model_rows, a->model_cols, &model, err);
    if (rc != DP_OK)
        return rc;
    for (size_t j = 0; j < count; j++) {
        uint64_t bits[8] = {0};
        if (lap % 3 == 2)
            dp_draw(&a->key, DP_DRAW_NOISE, (uint64_t)lap, j * sizeof bits, bits, sizeof bits);
        model[j] = lap % 3 == 2 ? size * (double)(int64_t)bits[0] * 0x1p-63 : lap % 3 == 0 ? 0 : a->model[j];
    }
    return DP_OK;
}

/* The token of a lap, as the gate and dp-step would have returned it. */
static int make_token(struct audit *a, int64_t lap, struct dp_err *err)
{
    int rc = DP_OK;
    if (lap == 1) {
        dp_frame_reset(a->token, DP_KIND_LAP);
    } else {
        dp_frame_copy(a->token, a->absent[lap - 2]);
        dp_frame_strip(a->token);
        dp_frame_set_real(a->token, DP_F_NOISE_SCALE, dp_frame_record(a->token, DP_F_SUM)->sensitivity);
        rc = set_model(a, lap, err);
    }
    if (rc == DP_OK)
        dp_frame_begin_lap(a->token, a->token, lap, a->out->laps, true);
    return rc;
}

/* The count of dp-clip --adaptive: a number, in halves, with a separate record. */
static int check_count(const struct dp_frame *f, struct dp_err *err)
{
    const struct dp_array *count;
    const struct dp_record *m = dp_frame_record(f, DP_F_WITHIN);
    int rc = dp_frame_need_array(f, DP_F_WITHIN, DP_I64, 2, &count, err);
    if (rc == DP_OK && (count->count != 1 || !(m->sensitivity > 0 && isfinite(m->sensitivity)) ||
                        m->adjacency != dp_frame_record(f, DP_F_SUM)->adjacency))
        rc = dp_fail(err, DP_E_UNSAFE, "lap %lld does not record by how much one row may move the count", (long long)f->lap);
    return rc;
}

/* The fields that a bounded frame must have for a check. */
static int check_bounded(struct audit *a, const struct dp_record *sampled, struct dp_err *err)
{
    struct dp_frame *f = a->token;
    const struct dp_record *m = dp_frame_record(f, DP_F_SUM);
    bool counted = dp_frame_has(f, DP_F_WITHIN);
    /* The members that dp-sample records; the stage that bounds the sum adds the others. */
    unsigned sampling = (dp_record_alike(DP_ALIKE_LAP) & dp_record_changes(DP_CHANGE_PLANNED)) | 1u << DP_RECORD_rows;
    const struct dp_array *sum;
    if (f->label != DP_LABEL_BOUNDED)
        return dp_fail(err, DP_E_USAGE, "the pipeline ends with a %s frame: end it where the sum is bounded, before dp-noise",
                       dp_label_name(f->label));
    int rc = dp_frame_need_array(f, DP_F_SUM, DP_I64, 2, &sum, err);
    if (rc != DP_OK)
        return rc;
    double grid = dp_frame_real(f, DP_F_GRID, 0);
    int exponent;
    if (f->records != (counted ? 2 : 1) || m == NULL || (counted && dp_frame_record(f, DP_F_WITHIN) == NULL) ||
        !(m->bound > 0 && isfinite(m->bound)) || !(m->sensitivity > 0 && isfinite(m->sensitivity)))
        return dp_fail(err, DP_E_UNSAFE, "lap %lld does not record by how much one row may move the sum", (long long)f->lap);
    if (!(grid > 0) || frexp(grid, &exponent) != 0.5)
        return dp_fail(err, DP_E_UNSAFE, "lap %lld has no grid that is a power of two", (long long)f->lap);
    if (m->query.kind == DP_QUERY_OBJECTIVE)
        return dp_fail(
            err, DP_E_USAGE,
            "the sum of lap %lld is the minimiser of a perturbed objective: noise on the objective hides a person, and "
            "the bound is on something else; dp-audit epsilon looks at what is released",
            (long long)f->lap);
    if (dp_frame_real(f, DP_F_BOUND, 0) != m->bound)
        return dp_fail(err, DP_E_UNSAFE, "the clip bounds of lap %lld disagree: %g on the sum, %g in its record",
                       (long long)f->lap, dp_frame_real(f, DP_F_BOUND, 0), m->bound);
    for (int i = 0; i < f->records; i++) {
        m = &f->record[i];
        if (m->sampler == DP_SAMPLER_REPEATED)
            return dp_fail(err, DP_E_USAGE,
                           "lap %lld draws batches of its own: how far a row may move its result is random, and no record says "
                           "how far it may in one run",
                           (long long)f->lap);
        if (dp_record_differs(m, sampled, sampling) != DP_RECORD_MEMBER_COUNT)
            return dp_fail(err, DP_E_UNSAFE, "rows were sampled as %s of rate %g, and lap %lld records %s of rate %g",
                           dp_sampler_names[sampled->sampler], sampled->rate, (long long)f->lap, dp_sampler_names[m->sampler],
                           m->rate);
    }
    return counted ? check_count(f, err) : DP_OK;
}

/* In every fourth lap the row is in no batch, on neither side. The sums must then be the same; otherwise the state of another
   row (its dual variable) depends on this row. */
static bool nobody_in(const struct audit *a, int64_t lap, const struct dp_record *sampled)
{
    return a->alone && lap % 4 == 0 && sampled->sampler != DP_SAMPLER_FULL;
}

/* One lap through both parts, with the row in the batch or not. */
static int one_lap(struct audit *a, int64_t lap, bool present, struct dp_err *err)
{
    const struct dp_audit_watch *w = a->out->watch;
    bool was;
    int rc = make_token(a, lap, err);
    rc = rc ?: dp_audit_sampler_take(a->part[0], w, a->token, err);
    if (rc != DP_OK)
        return rc;
    struct dp_record sampled = *a->token->record;
    present &= !nobody_in(a, lap, &sampled);
    if (present && sampled.sampler == DP_SAMPLER_POISSON)
        rc = dp_audit_insert_person(a->token, a->row, &a->changed.rows, a->data->cols, &was, err);
    if (!present && sampled.sampler != DP_SAMPLER_FULL)
        rc = dp_audit_remove_person(a->token, a->row, &was, err);
    rc = rc ?: dp_audit_part_take(a->part[1], w, a->token, err);
    return rc ?: check_bounded(a, &sampled, err);
}

/* The same for a sum after a transform. */
static int train_behind(struct audit *a, const struct dp_sum *sum, const struct dp_transform *transform, struct dp_err *err)
{
    size_t count = a->model_rows * transform->rows;
    int rc = dp_sum_need(sum, a->model_rows, transform->rows, err);
    if (rc != DP_OK)
        return rc;
    double *move = dp_new(count, sizeof *move);
    for (size_t i = 0; i < count; i++)
        move[i] = dp_sum_at(sum, i);
    dp_transform_push(transform, move, a->model_rows, a->model);
    free(move);
    return DP_OK;
}

static int train(struct audit *a, const struct dp_frame *f, struct dp_err *err)
{
    struct dp_sum sum;
    struct dp_transform transform = {0};
    if (!dp_frame_has(f, DP_F_MODEL)) /* a sum of moments moves no model */
        return DP_OK;
    int rc = dp_sum_read(&sum, f, err);
    if (rc == DP_OK && a->model == NULL) {
        rc = dp_model_shape(f, &a->model_rows, &a->model_cols, err);
        if (rc == DP_OK)
            a->model = dp_new(a->model_rows * a->model_cols, sizeof *a->model);
    }
    rc = rc ?: dp_transform_read(&transform, f, a->model_cols, err);
    if (rc == DP_OK && transform.rows > 0)
        return train_behind(a, &sum, &transform, err);
    return rc ?: dp_sum_add(&sum, a->model_rows, a->model_cols, a->model, err);
}

/* Compares the public fields, which are released in addition to the charged ones. */
static void keep_rest(struct dp_frame *f)
{
    dp_frame_strip(f);
    dp_audit_keep_uncharged(f);
}

/* Everything except the sum and the count must be the same on both sides. */
static int compare_rest(struct audit *a, const struct dp_frame *without, const char *kind, struct dp_err *err)
{
    static const struct dp_model_tolerance exact = {.exact = true};
    char what[160];
    dp_frame_copy(a->aside, without);
    keep_rest(a->aside);
    keep_rest(a->token);
    int rc = dp_model_compare(a->aside, a->token, &exact, what, sizeof what, err);
    return rc == 1 ? dp_fail(err, DP_E_RUN, "%s %lld as '%s', lap %lld: the frame shows it outside the sum (%s)", unit_of(a),
                             (long long)a->row + 1, kind, (long long)a->token->lap, what)
                   : rc;
}

/* Compares one whole-number vector of the two sides, in units of grid, with its record. Keeps the worst sum and the first query
   whose bound is exceeded. */
static void judge(struct audit *a, enum dp_field field, double grid, const struct dp_record *m, const char *kind)
{
    struct dp_sensitivity *out = a->out;
    const struct dp_array *s = dp_frame_array(a->absent[a->token->lap - 1], field), *t = dp_frame_array(a->token, field);
    bool count = field == DP_F_WITHIN;
    bool in_l1 = !count && m->query.kind == DP_QUERY_LAPLACE_COUNTS;
    unsigned __int128 distance2 = (in_l1 ? dp_audit_distance1 : dp_audit_distance2)(s->data, t->data, s->count);
    bool exceeded = dp_audit_exceeds(distance2, m->sensitivity, grid);
    double measured = sqrt((double)distance2) * grid, ratio = measured / m->sensitivity;
    bool worse = exceeded == out->exceeded && count == out->count && ratio > out->ratio;
    if (worse || (exceeded && !out->exceeded)) {
        out->ratio = ratio;
        out->measured = measured;
        out->declared = m->sensitivity;
        out->exceeded = exceeded;
        out->count = count;
        out->row = a->row + 1;
        out->lap = a->token->lap;
        out->kind = kind;
    }
}

static int compare(struct audit *a, const char *kind, struct dp_err *err)
{
    const struct dp_frame *without = a->absent[a->token->lap - 1];
    const struct dp_array *s = dp_frame_array(without, DP_F_SUM), *t = dp_frame_array(a->token, DP_F_SUM);
    bool counted = dp_frame_has(a->token, DP_F_WITHIN);
    if (s->dims[0] != t->dims[0] || s->dims[1] != t->dims[1] || counted != dp_frame_has(without, DP_F_WITHIN))
        return dp_fail(err, DP_E_RUN, "%s %lld as '%s', lap %lld: the sum changes its shape", unit_of(a), (long long)a->row + 1,
                       kind, (long long)a->token->lap);
    if (nobody_in(a, a->token->lap, dp_frame_record(a->token, DP_F_SUM)) && dp_audit_distance2(s->data, t->data, s->count) != 0)
        return dp_fail(err, DP_E_RUN,
                       "%s %lld as '%s', lap %lld: the sum depends on it although it is not in the batch: the state of "
                       "another row depends on it",
                       unit_of(a), (long long)a->row + 1, kind, (long long)a->token->lap);
    judge(a, DP_F_SUM, dp_frame_real(a->token, DP_F_GRID, 0), dp_frame_record(a->token, DP_F_SUM), kind);
    if (counted)
        judge(a, DP_F_WITHIN, 0.5, dp_frame_record(a->token, DP_F_WITHIN), kind);
    a->out->compared++;
    a->out->unit = unit_of(a);
    return compare_rest(a, without, kind, err);
}

/* The side that the others are compared with; keeps its frames. */
static int run_absent(struct audit *a, int64_t seed, struct dp_err *err)
{
    dp_provoke(&a->changed, a->out->replace_one ? DP_PROVOKE_ITSELF : DP_PROVOKE_BLANK, (size_t)a->row, 0);
    int rc = start(a, seed, err);
    for (int64_t lap = 1; rc == DP_OK && lap <= a->out->laps; lap++) {
        rc = one_lap(a, lap, a->out->replace_one, err);
        if (rc == DP_OK)
            dp_frame_copy(a->absent[lap - 1], a->token);
        rc = rc ?: train(a, a->token, err);
    }
    return rc ?: dp_audit_parts_end(a->part, 2, a->out->watch, a->token, err);
}

static int run_present(struct audit *a, int64_t seed, enum dp_provoke kind, struct dp_err *err)
{
    int rc = start(a, seed, err);
    for (int64_t lap = 1; rc == DP_OK && lap <= a->out->laps; lap++) {
        rc = one_lap(a, lap, true, err);
        if (rc != DP_OK)
            break;
        rc = compare(a, dp_provoke_names[kind], err);
        if (rc != DP_OK)
            return rc;
        rc = train(a, a->absent[lap - 1], err);
    }
    rc = rc ?: dp_audit_parts_end(a->part, 2, a->out->watch, a->token, err);
    if (rc == DP_OK || *a->out->watch->stop != 0)
        return rc;
    /* The run worked without the row: its failure reveals something about the row. */
    char why[DP_ERR_MESSAGE_SIZE];
    dp_err_text(err, why, sizeof why);
    *err = (struct dp_err){0};
    return dp_fail(err, DP_E_RUN, "%s %lld as '%s' ends the run, which does not end without it%s%.300s", unit_of(a),
                   (long long)a->row + 1, dp_provoke_names[kind], why[0] != '\0' ? ": " : "", why);
}

/* Learns the adjacency from the record of a first lap. */
static int probe(struct audit *a, struct dp_err *err)
{
    int64_t laps = a->out->laps;
    a->out->laps = 1;
    a->row = 0;
    int rc = run_absent(a, a->out->seed, err);
    a->out->laps = laps;
    if (rc == DP_OK) {
        const struct dp_record *m = dp_frame_record(a->absent[0], DP_F_SUM);
        a->out->replace_one = m->adjacency == DP_ADJACENCY_REPLACE_ONE;
        a->alone = m->release != DP_RELEASE_SUM_AND_STATE;
        if (m->adjacency == DP_ADJACENCY_NONE)
            rc = dp_fail(err, DP_E_UNSAFE, "the record does not say what one person can change");
    }
    return rc;
}

static int one_row(struct audit *a, int64_t seed, size_t other, struct dp_err *err)
{
    int rc = run_absent(a, seed, err);
    for (int kind = 0; rc == DP_OK && kind < DP_PROVOKES; kind++)
        if (dp_provoke(&a->changed, (enum dp_provoke)kind, (size_t)a->row, other))
            rc = run_present(a, seed, (enum dp_provoke)kind, err);
    return rc;
}

static int run(struct audit *a, struct dp_err *err)
{
    struct dp_sensitivity *out = a->out;
    int rc = dp_audit_cut(&a->pipeline, out->pipeline, err);
    if (rc == DP_OK && a->pipeline.stages < 2)
        rc = dp_fail(err, DP_E_USAGE, "the pipeline must sample rows and bound a sum: it is one stage");
    rc = rc ?: dp_dataset_open(&a->data, out->data, err);
    if (rc == DP_OK && a->data->persons < 2)
        rc = dp_fail(err, DP_E_RUN, "%s has fewer than two %ss", out->data, unit_of(a));
    if (rc != DP_OK)
        return rc;
    dp_provoke_open(&a->changed, a->data);
    a->token = dp_frame_new();
    a->aside = dp_frame_new();
    a->absent = dp_new((size_t)out->laps, sizeof *a->absent);
    for (int64_t lap = 0; lap < out->laps; lap++)
        a->absent[lap] = dp_frame_new();
    rc = dp_variant_open(&a->variant, out->scratch, out->data, err);
    rc = rc ?: probe(a, err);
    struct dp_stream stream;
    dp_key_derive(&a->key, out->seed, "dp-audit", 0);
    dp_stream_start(&stream, &a->key, DP_DRAW_BATCH, 0);
    for (int64_t n = 0; rc == DP_OK && n < out->rows; n++) {
        uint64_t rows = a->data->persons, row = dp_stream_below(&stream, rows);
        a->row = (int64_t)row;
        rc = one_row(a, out->seed + n, (row + 1 + dp_stream_below(&stream, rows - 1)) % rows, err);
    }
    return rc;
}

int dp_sensitivity_run(struct dp_sensitivity *audit, struct dp_err *err)
{
    struct audit a = {.out = audit};
    int rc = run(&a, err);
    dp_audit_parts_kill(a.part, 2);
    dp_variant_close(&a.variant);
    for (int64_t lap = 0; a.absent != NULL && lap < audit->laps; lap++)
        dp_frame_free(a.absent[lap]);
    free(a.absent);
    dp_frame_free(a.token);
    dp_frame_free(a.aside);
    dp_dataset_close(a.data);
    dp_pipeline_free(&a.pipeline);
    free(a.model);
    dp_provoke_close(&a.changed);
    return rc;
}
