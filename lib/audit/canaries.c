#include "audit/canaries.h"

#include <sodium.h>
#include <unistd.h>

#include "audit/bound.h"
#include "base/json.h"
#include "base/mem.h"
#include "data/dataset_write.h"
#include "model/family.h"
#include "model/sum.h"

enum { SAMPLER, PRIVATE, GATE, PUBLIC, PARTS };

struct audit {
    struct dp_canaries *out;
    struct dp_pipeline pipeline;
    int gate;
    char directory[DP_AUDIT_PATH], path[DP_AUDIT_PATH + 16]; /* temporary; the data set in it */
    struct dp_dataset *data;
    size_t canaries;
    bool *in;      /* canaries: the coins */
    double *score; /* canaries */
    struct dp_child *part[PARTS];
    struct dp_frame *token;
    struct dp_form form;
    double *sum; /* a lap's, in the form of the model */
};

/* Fair coins; with a seed always the same. */
static void toss(struct audit *a)
{
    unsigned char key[randombytes_SEEDBYTES] = {0};
    if (a->out->seed >= 0)
        memcpy(key, &a->out->seed, sizeof a->out->seed);
    else
        randombytes_buf(key, sizeof key);
    unsigned char *coins = (unsigned char *)a->score; /* as room: 8 bytes for each canary */
    randombytes_buf_deterministic(coins, a->canaries, key);
    for (size_t k = 0; k < a->canaries; k++)
        a->in[k] = coins[k] & 1;
    memset(a->score, 0, a->canaries * sizeof *a->score);
}

/* The label of the data set, for the description of the one with canaries. */
static int describe(const char *path, json_t **description, struct dp_err *err)
{
    char name[4200];
    json_t *root = NULL;
    if ((size_t)snprintf(name, sizeof name, "%s/dataset.json", path) >= sizeof name)
        return dp_fail(err, DP_E_RUN, "%.60s…: the path is too long", path);
    int rc = dp_json_load(&root, name, err);
    *description = json_pack("{s:O?, s:O?}", "label", json_object_get(root, "label"), "private_preprocessing",
                             json_object_get(root, "private_preprocessing"));
    json_decref(root);
    return rc;
}

static int write_rows(struct audit *a, struct dp_writer *w, double *x, struct dp_err *err)
{
    const struct dp_dataset *d = a->data;
    const double class = d->label.kind == DP_LABEL_CLASSES ? (double)(d->label.classes - 1) : 1;
    int rc = DP_OK;
    for (size_t i = 0; rc == DP_OK && i < d->rows; i++) {
        struct dp_row row = dp_dataset_row(d, i);
        for (size_t j = 0; j < d->cols; j++)
            x[j] = 0;
        for (size_t j = 0; j < row.count; j++)
            x[row.columns != NULL ? (size_t)row.columns[j] : j] = (double)dp_row_value(&row, j);
        rc = dp_writer_row(w, x, d->y[i], err);
    }
    memset(x, 0, d->cols * sizeof *x);
    for (size_t k = 0; rc == DP_OK && k < a->canaries; k++) {
        x[d->cols + k] = a->in[k];
        rc = dp_writer_row(w, x, class, err);
        x[d->cols + k] = 0;
    }
    return rc;
}

static int write_data(struct audit *a, struct dp_err *err)
{
    const struct dp_writer_options options = {
        .cols = a->data->cols + a->canaries, .storage = DP_STORAGE_CSR, .public_rows = true};
    struct dp_writer *writer = NULL;
    json_t *description = NULL;
    double *x = dp_new(options.cols, sizeof *x);
    int rc = describe(a->out->data, &description, err);
    rc = rc ?: dp_writer_open(&writer, a->path, &options, err);
    rc = rc ?: write_rows(a, writer, x, err);
    rc = rc ?: dp_writer_finish(writer, description, err);
    if (rc == DP_OK)
        rc = dp_writer_commit(writer, err);
    else
        dp_writer_abort(writer);
    json_decref(description);
    free(x);
    return rc;
}

static void remove_directory(const struct audit *a)
{
    static const char *const files[] = {"dataset.json", "y.npy", "X_data.npy", "X_indices.npy", "X_indptr.npy"};
    char path[sizeof a->path + 32];
    for (size_t i = 0; a->directory[0] != '\0' && i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", a->path, files[i]);
        unlink(path);
    }
    if (a->directory[0] == '\0')
        return;
    rmdir(a->path);
    rmdir(a->directory);
}

static int prepare(struct audit *a, struct dp_err *err)
{
    int rc = dp_audit_cut(&a->pipeline, a->out->pipeline, err);
    a->gate = rc == DP_OK ? dp_pipeline_find(&a->pipeline, "dp-account") : 0;
    if (rc == DP_OK && (a->gate < 2 || a->gate + 1 >= a->pipeline.stages))
        rc = dp_fail(err, DP_E_USAGE,
                     "the pipeline must sample rows, release a noised sum of them through dp-account, and apply it");
    rc = rc ?: dp_audit_without_ledger(&a->pipeline, a->gate, err);
    rc = rc ?: dp_dataset_open(&a->data, a->out->data, err);
    if (rc == DP_OK && a->data->person != NULL)
        rc = dp_fail(err, DP_E_USAGE, "the rows of %s belong to persons: use dp-audit epsilon", a->out->data);
    a->in = dp_new(a->canaries, sizeof *a->in);
    a->score = dp_new(a->canaries, sizeof *a->score);
    a->token = dp_frame_new();
    rc = rc ?: dp_audit_directory(a->directory, a->out->scratch, err);
    if (rc != DP_OK)
        return rc;
    snprintf(a->path, sizeof a->path, "%s/rows.dp", a->directory);
    toss(a);
    return write_data(a, err);
}

static int start(struct audit *a, struct dp_err *err)
{
    const int from[] = {0, 1, a->gate, a->gate + 1}, to[] = {1, a->gate, a->gate + 1, a->pipeline.stages};
    int rc = DP_OK;
    for (int i = 0; rc == DP_OK && i < PARTS; i++)
        rc = dp_audit_part_start(&a->part[i], a->out->watch, &a->pipeline, from[i], to[i], a->path, err);
    dp_audit_hello(a->token, a->out->laps, a->out->seed);
    for (int i = 0; rc == DP_OK && i < PARTS; i++)
        rc = dp_audit_part_take(a->part[i], a->out->watch, a->token, err);
    dp_frame_reset(a->token, DP_KIND_LAP);
    return rc;
}

/* Draws the batch, without the canaries that are out. */
static int sampled_lap(struct audit *a, struct dp_err *err)
{
    bool was;
    int rc = dp_audit_sampler_take(a->part[SAMPLER], a->out->watch, a->token, err);
    const bool full = rc == DP_OK && a->token->record->sampler == DP_SAMPLER_FULL;
    for (size_t k = 0; rc == DP_OK && !full && k < a->canaries; k++)
        if (!a->in[k])
            rc = dp_audit_remove_person(a->token, (int64_t)(a->data->rows + k), &was, err);
    return rc;
}

static int open_sum(struct audit *a, struct dp_err *err)
{
    int rc = dp_frame_has(a->token, DP_F_MODEL) ? dp_form_read(&a->form, a->token, err) : DP_OK;
    if (rc == DP_OK && (a->form.family != &dp_family_linear || a->form.features != a->data->cols + a->canaries))
        rc = dp_fail(err, DP_E_USAGE, "the audit needs a linear model of all columns");
    if (rc == DP_OK)
        a->sum = dp_new(a->form.rows * a->form.cols, sizeof *a->sum);
    return rc;
}

/* Adds the lap to the scores of the canaries. `m`: the record of the sum. */
static int look(struct audit *a, const struct dp_record *m, struct dp_err *err)
{
    struct dp_sum sum;
    int rc = a->sum == NULL ? open_sum(a, err) : DP_OK;
    rc = rc ?: dp_sum_read(&sum, a->token, err);
    if (rc != DP_OK)
        return rc;
    memset(a->sum, 0, a->form.rows * a->form.cols * sizeof *a->sum);
    rc = dp_sum_add(&sum, a->form.rows, a->form.cols, a->sum, err);
    const double *own = a->sum + (a->form.rows - 1) * a->form.cols + a->data->cols;
    double scale = fmax(m->scale, 1e-6 * m->bound), shift = m->bound / scale;
    for (size_t k = 0; rc == DP_OK && k < a->canaries; k++)
        a->score[k] += dp_audit_evidence(m->rate, shift * own[k] / scale - shift * shift / 2);
    return rc;
}

static int one_lap(struct audit *a, int64_t lap, struct dp_err *err)
{
    const struct dp_audit_watch *w = a->out->watch;
    dp_frame_begin_lap(a->token, a->token, lap, a->out->laps, a->out->seed >= 0);
    int rc = sampled_lap(a, err);
    rc = rc ?: dp_audit_part_take(a->part[PRIVATE], w, a->token, err);
    const struct dp_record *m = rc == DP_OK ? dp_frame_record(a->token, DP_F_SUM) : NULL;
    if (rc == DP_OK && (a->token->label != DP_LABEL_NOISED || m == NULL))
        rc = dp_fail(err, DP_E_USAGE, "lap %lld releases no noised sum", (long long)lap);
    if (rc == DP_OK && m->release == DP_RELEASE_SUM_AND_STATE)
        rc = dp_fail(err, DP_E_USAGE, "the batches of this pipeline are visible: use dp-audit epsilon");
    rc = rc ?: look(a, m, err);
    rc = rc ?: dp_audit_part_take(a->part[GATE], w, a->token, err);
    return rc ?: dp_audit_part_take(a->part[PUBLIC], w, a->token, err);
}

static int one_run(struct audit *a, struct dp_err *err)
{
    struct dp_canaries *out = a->out;
    int rc = start(a, err);
    for (int64_t lap = 1; rc == DP_OK && lap <= out->laps; lap++)
        rc = one_lap(a, lap, err);
    out->claimed = rc == DP_OK ? dp_frame_real(a->token, DP_F_EPSILON, NAN) : NAN;
    out->delta = rc == DP_OK ? dp_frame_real(a->token, DP_F_DELTA, NAN) : NAN;
    if (rc == DP_OK && (isnan(out->claimed) || isnan(out->delta)))
        rc = dp_fail(err, DP_E_UNSAFE, "the pipeline claims no epsilon");
    return rc ?: dp_audit_parts_end(a->part, PARTS, out->watch, a->token, err);
}

/* Orders canaries by their scores; equal scores by their number, which has nothing to do with the coins. */
static int compare(const void *left, const void *right, void *scores)
{
    size_t a = *(const size_t *)left, b = *(const size_t *)right;
    const double *score = scores;
    return score[a] != score[b] ? (score[a] > score[b]) - (score[a] < score[b]) : (a > b) - (a < b);
}

static void guess(struct audit *a)
{
    struct dp_canaries *out = a->out;
    size_t tenth = a->canaries / 10, *order = dp_new(a->canaries, sizeof *order);
    for (size_t k = 0; k < a->canaries; k++)
        order[k] = k;
    qsort_r(order, a->canaries, sizeof *order, compare, a->score);
    for (size_t i = 0; i < tenth; i++)
        out->correct += (uint64_t)!a->in[order[i]] + (uint64_t)a->in[order[a->canaries - 1 - i]];
    out->guesses = 2 * tenth;
    out->mu = dp_audit_guessed_mu(out->correct, out->guesses, a->canaries, out->confidence);
    out->epsilon = dp_audit_guessed_epsilon(out->correct, out->guesses, a->canaries, out->delta, out->confidence);
    free(order);
}

int dp_canaries_run(struct dp_canaries *audit, struct dp_err *err)
{
    struct audit a = {.out = audit, .canaries = (size_t)audit->canaries};
    int rc = prepare(&a, err);
    rc = rc ?: one_run(&a, err);
    if (rc == DP_OK)
        guess(&a);
    dp_audit_parts_kill(a.part, PARTS);
    remove_directory(&a);
    dp_frame_free(a.token);
    dp_dataset_close(a.data);
    dp_pipeline_free(&a.pipeline);
    free(a.in);
    free(a.score);
    free(a.sum);
    return rc;
}
