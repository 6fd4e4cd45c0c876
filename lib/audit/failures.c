#include "audit/failures.h"

#include <sys/mman.h>
#include <unistd.h>

#include "audit/provoke.h"
#include "base/mem.h"
#include "math/rng.h"
#include "model/compare.h"

enum { SAMPLER, PRIVATE, PUBLIC, PARTS };

/* How a run has ended. */
struct ending {
    int64_t lap; /* 0: in the hello frame; one more than the laps: after the last one */
    int status;
    char sentence[DP_ERR_MESSAGE_SIZE];
    char *said; /* on standard error */
};

struct audit {
    struct dp_failures *out;
    struct dp_pipeline pipeline;
    int gate;
    struct dp_dataset *data;
    struct dp_variant variant;
    struct dp_provoked changed;
    struct dp_child *part[PARTS];
    struct dp_frame *token, *aside;
    struct dp_frame **released; /* laps: what came out of the gate without the row */
    struct dp_frame **moved;    /* laps: the same behind dp-step, from which the next lap begins on both sides */
    bool replace_one;
    int64_t row; /* the person, from 0 on */
    int errors;  /* the descriptor of standard error, while it is kept */
    int kept;
};

/* From now on standard error goes to a file in memory. */
static int keep_errors(struct audit *a, struct dp_err *err)
{
    fflush(stderr);
    a->errors = dup(STDERR_FILENO);
    a->kept = memfd_create("dp-audit", MFD_CLOEXEC);
    if (a->errors < 0 || a->kept < 0 || dup2(a->kept, STDERR_FILENO) < 0)
        return dp_fail_errno(err, errno, "cannot keep what stages say");
    return DP_OK;
}

/* The text of the file; standard error is itself again. The caller frees the text. */
static char *end_errors(struct audit *a)
{
    enum { MOST = 1 << 16 };
    char *said = dp_new(MOST, 1);
    fflush(stderr);
    dup2(a->errors, STDERR_FILENO);
    ssize_t length = pread(a->kept, said, MOST - 1, 0);
    said[length > 0 ? length : 0] = '\0';
    close(a->errors);
    close(a->kept);
    return said;
}

static void say(void *self, const char *stage, const char *sentence)
{
    (void)self;
    fprintf(stderr, "%s: %s\n", stage, sentence);
}

static int start(struct audit *a, bool reference, int64_t seed, struct dp_err *err)
{
    static const struct dp_warn warn = {.say = say};
    struct dp_audit_watch w = *a->out->watch;
    const int from[] = {0, 1, a->gate + 1}, to[] = {1, a->gate + 1, a->pipeline.stages};
    int rc = DP_OK;
    w.warn = &warn;
    for (int i = 0; rc == DP_OK && i < PARTS; i++)
        if (from[i] < to[i] && (reference || i != PUBLIC))
            rc = dp_audit_part_start(&a->part[i], &w, &a->pipeline, from[i], to[i], a->variant.path, err);
    if (rc == DP_OK)
        dp_audit_hello(a->token, a->out->laps, seed);
    for (int i = 0; rc == DP_OK && i < PARTS; i++)
        if (a->part[i] != NULL)
            rc = dp_audit_part_take(a->part[i], a->out->watch, a->token, err);
    return rc;
}

/* A lap up to the gate. */
static int one_lap(struct audit *a, bool present, int64_t lap, struct dp_err *err)
{
    bool was;
    if (lap == 1)
        dp_frame_reset(a->token, DP_KIND_LAP);
    else
        dp_frame_copy(a->token, a->moved[lap - 2]);
    dp_frame_begin_lap(a->token, a->token, lap, a->out->laps, true);
    int rc = dp_audit_part_take(a->part[SAMPLER], a->out->watch, a->token, err);
    if (rc == DP_OK && (a->token->label != DP_LABEL_RAW || a->token->records != 1))
        rc = dp_fail(err, DP_E_USAGE, "the first stage of the pipeline must sample rows, as dp-sample does");
    if (rc != DP_OK)
        return rc;
    enum dp_sampler sampler = a->token->record->sampler;
    if (present && sampler == DP_SAMPLER_POISSON)
        rc = dp_audit_insert_person(a->token, a->row, err);
    if (!present && !a->replace_one && sampler != DP_SAMPLER_FULL)
        rc = dp_audit_remove_person(a->token, a->row, &was, err);
    return rc ?: dp_audit_part_take(a->part[PRIVATE], a->out->watch, a->token, err);
}

/* The side that the others are compared with: keeps its frames. */
static int keep_lap(struct audit *a, int64_t lap, struct dp_err *err)
{
    dp_frame_copy(a->released[lap - 1], a->token);
    int rc = a->part[PUBLIC] != NULL ? dp_audit_part_take(a->part[PUBLIC], a->out->watch, a->token, err) : DP_OK;
    if (rc == DP_OK)
        dp_frame_copy(a->moved[lap - 1], a->token);
    return rc;
}

static void keep_uncharged(struct dp_frame *f)
{
    for (int i = 0; i < DP_F_COUNT; i++)
        if (dp_fields[i].visibility == DP_PAID)
            dp_frame_drop(f, (enum dp_field)i);
}

static const char *unit_of(const struct audit *a)
{
    return a->data->person != NULL ? "person" : "row";
}

static int compare_lap(struct audit *a, int64_t lap, enum dp_provoke kind, struct dp_err *err)
{
    static const struct dp_model_tolerance exact = {.exact = true};
    char what[160];
    dp_frame_copy(a->aside, a->released[lap - 1]);
    keep_uncharged(a->aside);
    keep_uncharged(a->token);
    int rc = dp_model_compare(a->aside, a->token, &exact, what, sizeof what, err);
    a->out->differs = rc == 1;
    return rc == 1 ? dp_fail(err, DP_E_RUN, "%s %lld as '%s', lap %lld: the frame shows it in a field that is not charged (%s)",
                             unit_of(a), (long long)a->row + 1, dp_provoke_names[kind], (long long)lap, what)
                   : rc;
}

/* One run, and how it has ended; without: how the run without the row has, NULL for that run. An error that is returned is an
 * error of the audit, or a difference. */
static int one_run(struct audit *a, const struct ending *without, int64_t seed, enum dp_provoke kind, struct ending *end,
                   struct dp_err *err)
{
    struct dp_err why = {0};
    const bool reference = without == NULL, present = !reference || a->replace_one;
    const int64_t most = reference || without->lap > a->out->laps ? a->out->laps : without->lap - 1;
    int64_t lap = 0;
    int bad = DP_OK, rc = dp_variant_write(&a->variant, a->data, false, &a->changed.rows, err);
    *end = (struct ending){0};
    rc = rc ?: keep_errors(a, err);
    if (rc != DP_OK)
        return rc;
    int ended = start(a, reference, seed, &why);
    while (ended == DP_OK && bad == DP_OK && ++lap <= a->out->laps) {
        ended = one_lap(a, present, lap, &why);
        if (ended == DP_OK && lap > most) { /* the run without the row has ended here */
            lap++;
            break;
        }
        if (ended == DP_OK)
            bad = reference ? keep_lap(a, lap, err) : compare_lap(a, lap, kind, err);
    }
    if (ended == DP_OK && bad == DP_OK)
        ended = dp_audit_parts_end(a->part, PARTS, a->out->watch, a->token, &why);
    dp_audit_parts_kill(a->part, PARTS);
    end->said = end_errors(a);
    end->lap = lap;
    end->status = ended;
    dp_err_text(&why, end->sentence, sizeof end->sentence);
    if (*a->out->watch->stop != 0)
        return dp_fail(err, DP_E_RUN, "interrupted");
    return ended == DP_E_USAGE ? dp_fail(err, ended, "%s", end->sentence) : bad;
}

/* Says in words how the endings differ. */
static int compare_endings(struct audit *a, const struct ending *without, const struct ending *with, enum dp_provoke kind,
                           struct dp_err *err)
{
    const struct {
        const char *what;
        bool same;
    } parts[] = {{"the lap at which the run ends", without->lap == with->lap},
                 {"the exit status", without->status == with->status},
                 {"the sentence of the stage that ended the run", strcmp(without->sentence, with->sentence) == 0},
                 {"standard error", strcmp(without->said, with->said) == 0}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!parts[i].same) {
            const struct ending *says = with->sentence[0] != '\0' || with->said[0] != '\0' ? with : without;
            const char *sentence = says->sentence[0] != '\0' ? says->sentence : says->said;
            a->out->differs = true;
            return dp_fail(err, DP_E_RUN, "%s %lld as '%s': %s differs from the run without it%s%.300s", unit_of(a),
                           (long long)a->row + 1, dp_provoke_names[kind], parts[i].what, sentence[0] != '\0' ? ": " : "",
                           sentence);
        }
    a->out->runs++;
    return DP_OK;
}

static int one_row(struct audit *a, int64_t seed, size_t other, struct dp_err *err)
{
    struct ending without, with;
    dp_provoke(&a->changed, a->replace_one ? DP_PROVOKE_ITSELF : DP_PROVOKE_BLANK, (size_t)a->row, other);
    int rc = one_run(a, NULL, seed, DP_PROVOKE_BLANK, &without, err);
    for (int kind = 0; rc == DP_OK && kind < DP_PROVOKES; kind++) {
        if (!dp_provoke(&a->changed, (enum dp_provoke)kind, (size_t)a->row, other))
            continue;
        rc = one_run(a, &without, seed, (enum dp_provoke)kind, &with, err);
        rc = rc ?: compare_endings(a, &without, &with, (enum dp_provoke)kind, err);
        free(with.said);
    }
    a->out->ended = without.lap <= a->out->laps ? without.lap : 0;
    free(without.said);
    return rc;
}

/* Learns from one lap what one person can change. */
static int probe(struct audit *a, struct dp_err *err)
{
    struct ending end;
    a->row = 0;
    dp_provoke(&a->changed, DP_PROVOKE_ITSELF, 0, 0);
    int64_t laps = a->out->laps;
    a->out->laps = 1;
    int rc = one_run(a, NULL, a->out->seed, DP_PROVOKE_ITSELF, &end, err);
    a->out->laps = laps;
    if (rc == DP_OK && end.status != DP_OK)
        rc = dp_fail(err, end.status, "%s", end.sentence[0] != '\0' ? end.sentence : end.said);
    if (rc == DP_OK)
        a->replace_one = strcmp(dp_frame_text(a->released[0], DP_F_ADJACENCY, ""), "replace-one") == 0;
    free(end.said);
    return rc;
}

static int open_all(struct audit *a, struct dp_err *err)
{
    struct dp_failures *out = a->out;
    int rc = dp_audit_cut(&a->pipeline, out->pipeline, err);
    rc = rc ?: dp_audit_find_gate(&a->pipeline, 2, &a->gate, err);
    rc = rc ?: dp_dataset_open(&a->data, out->data, err);
    if (rc == DP_OK && a->data->persons < 2)
        rc = dp_fail(err, DP_E_RUN, "%s has fewer than two %ss", out->data, unit_of(a));
    rc = rc ?: dp_variant_open(&a->variant, out->scratch, out->data, err);
    if (rc != DP_OK)
        return rc;
    dp_provoke_open(&a->changed, a->data);
    a->token = dp_frame_new();
    a->aside = dp_frame_new();
    a->released = dp_new((size_t)out->laps, sizeof *a->released);
    a->moved = dp_new((size_t)out->laps, sizeof *a->moved);
    for (int64_t lap = 0; lap < out->laps; lap++) {
        a->released[lap] = dp_frame_new();
        a->moved[lap] = dp_frame_new();
    }
    return DP_OK;
}

int dp_failures_run(struct dp_failures *audit, struct dp_err *err)
{
    struct audit a = {.out = audit};
    struct dp_key key;
    struct dp_stream stream;
    int rc = open_all(&a, err);
    rc = rc ?: probe(&a, err);
    dp_key_derive(&key, audit->seed, "dp-audit", 0);
    dp_stream_start(&stream, &key, DP_DRAW_BATCH, 0);
    for (int64_t n = 0; rc == DP_OK && n < audit->rows; n++) {
        uint64_t rows = a.data->persons, row = dp_stream_below(&stream, rows);
        a.row = (int64_t)row;
        rc = one_row(&a, audit->seed + n, (row + 1 + dp_stream_below(&stream, rows - 1)) % rows, err);
    }
    dp_variant_close(&a.variant);
    for (int64_t lap = 0; a.moved != NULL && lap < audit->laps; lap++) {
        dp_frame_free(a.released[lap]);
        dp_frame_free(a.moved[lap]);
    }
    free(a.released);
    free(a.moved);
    dp_frame_free(a.token);
    dp_frame_free(a.aside);
    dp_provoke_close(&a.changed);
    dp_dataset_close(a.data);
    dp_pipeline_free(&a.pipeline);
    return rc;
}
