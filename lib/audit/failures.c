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
    size_t size;
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
    struct dp_frame **released; /* hello, laps and end: what came out of the gate without the row */
    struct dp_frame **moved;    /* the same behind dp-step, from which the next lap begins on both sides */
    bool replace_one;
    int64_t row;  /* the person, from 0 on */
    int64_t laps; /* with that person in the batch */
    int errors;   /* the descriptor of standard error, while it is kept */
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

/* The text of the file, which the caller frees; standard error is itself again. */
static void end_errors(struct audit *a, struct ending *end)
{
    fflush(stderr);
    dup2(a->errors, STDERR_FILENO);
    off_t length = lseek(a->kept, 0, SEEK_END);
    end->said = dp_new((length > 0 ? (size_t)length : 0) + 1, 1);
    ssize_t got = 1;
    while (got > 0 && end->size < (size_t)length) {
        got = pread(a->kept, end->said + end->size, (size_t)length - end->size, (off_t)end->size);
        end->size += got > 0 ? (size_t)got : 0;
    }
    close(a->errors);
    close(a->kept);
}

static void say(void *self, const char *stage, const char *sentence)
{
    (void)self;
    fprintf(stderr, "%s: %s\n", stage, sentence);
}

static int take(struct audit *a, int part, struct dp_err *err)
{
    return a->part[part] != NULL ? dp_audit_part_take(a->part[part], a->out->watch, a->token, err) : DP_OK;
}

static int up_to_gate(struct audit *a, struct dp_err *err)
{
    int rc = take(a, SAMPLER, err);
    return rc ?: take(a, PRIVATE, err);
}

/* The hello frame goes up to the gate. */
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
    return rc ?: up_to_gate(a, err);
}

static bool has_person(const struct audit *a)
{
    const struct dp_array *rows = dp_frame_array(a->token, DP_F_ROWS);
    for (size_t i = 0; rows != NULL && i < rows->count; i++)
        if (((const int64_t *)rows->data)[i] == a->row)
            return true;
    return false;
}

/* The person is in the batch. A batch of a fixed size loses another one, the same on both sides. */
static int put_person(struct audit *a, enum dp_sampler sampler, struct dp_err *err)
{
    bool was;
    int rc = dp_audit_insert_person(a->token, a->row, &a->changed.rows, a->data->cols, &was, err);
    if (rc != DP_OK || was || sampler != DP_SAMPLER_FIXED)
        return rc;
    const struct dp_array *rows = dp_frame_array(a->token, DP_F_ROWS);
    const int64_t *id = rows->data;
    return rows->count > 1 ? dp_audit_remove_person(a->token, id[0] == a->row ? id[1] : id[0], &was, err) : rc;
}

/* A lap up to the gate. */
static int one_lap(struct audit *a, bool present, int64_t lap, struct dp_err *err)
{
    bool was;
    if (lap == 1)
        dp_frame_reset(a->token, DP_KIND_LAP);
    else
        dp_frame_copy(a->token, a->moved[lap - 1]);
    dp_frame_begin_lap(a->token, a->token, lap, a->out->laps, true);
    int rc = dp_audit_sampler_take(a->part[SAMPLER], a->out->watch, a->token, err);
    if (rc != DP_OK)
        return rc;
    enum dp_sampler sampler = a->token->record->sampler;
    if (sampler == DP_SAMPLER_POISSON || sampler == DP_SAMPLER_FIXED)
        rc = put_person(a, sampler, err);
    if (rc == DP_OK && !present && !a->replace_one && sampler != DP_SAMPLER_FULL)
        rc = dp_audit_remove_person(a->token, a->row, &was, err);
    a->laps += present && has_person(a);
    return rc ?: take(a, PRIVATE, err);
}

/* The side that the others are compared with: keeps its frames. at: the lap; 0: hello; one more than the laps: end. */
static int keep(struct audit *a, int64_t at, struct dp_err *err)
{
    dp_frame_copy(a->released[at], a->token);
    int rc = take(a, PUBLIC, err);
    if (rc == DP_OK)
        dp_frame_copy(a->moved[at], a->token);
    return rc;
}

static const char *unit_of(const struct audit *a)
{
    return a->data->person != NULL ? "person" : "row";
}

static int compare(struct audit *a, int64_t at, enum dp_provoke kind, struct dp_err *err)
{
    static const struct dp_model_tolerance exact = {.exact = true};
    char what[160], lap[32];
    snprintf(lap, sizeof lap, "lap %lld", (long long)at);
    const char *where = at == 0 ? "at the start" : at <= a->out->laps ? lap : "at the end";
    dp_frame_copy(a->aside, a->released[at]);
    dp_audit_keep_uncharged(a->aside);
    dp_audit_keep_uncharged(a->token);
    int rc = dp_model_compare(a->aside, a->token, &exact, what, sizeof what, err);
    a->out->differs = rc == 1;
    return rc == 1 ? dp_fail(err, DP_E_RUN, "%s %lld as '%s', %s: the frame shows it in a field that is not charged (%s)",
                             unit_of(a), (long long)a->row + 1, dp_provoke_names[kind], where, what)
                   : rc;
}

/* Keeps the frame behind the gate, or compares it. */
static int look(struct audit *a, bool reference, int64_t at, enum dp_provoke kind, struct dp_err *err)
{
    return reference ? keep(a, at, err) : compare(a, at, kind, err);
}

/* The end frame. *bad: as in one_run. */
static int end_run(struct audit *a, bool reference, enum dp_provoke kind, int *bad, struct dp_err *err, struct dp_err *why)
{
    dp_frame_reset(a->token, DP_KIND_END);
    int ended = up_to_gate(a, why);
    if (ended == DP_OK)
        *bad = look(a, reference, a->out->laps + 1, kind, err);
    return ended == DP_OK && *bad == DP_OK ? dp_audit_parts_finish(a->part, PARTS, why) : ended;
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
    if (ended == DP_OK && most >= 0)
        bad = look(a, reference, 0, kind, err);
    while (ended == DP_OK && bad == DP_OK && ++lap <= a->out->laps) {
        ended = one_lap(a, present, lap, &why);
        if (ended == DP_OK && lap > most) { /* the run without the row has ended here */
            lap++;
            break;
        }
        if (ended == DP_OK)
            bad = look(a, reference, lap, kind, err);
    }
    if (ended == DP_OK && bad == DP_OK && most == a->out->laps)
        ended = end_run(a, reference, kind, &bad, err, &why);
    dp_audit_parts_kill(a->part, PARTS);
    end_errors(a, end);
    end->lap = lap;
    end->status = ended;
    dp_err_text(&why, end->sentence, sizeof end->sentence);
    if (*a->out->watch->stop != 0)
        return dp_fail(err, DP_E_RUN, "interrupted");
    if (bad != DP_OK && err->message[0] == '\0') /* a process has said why */
        return dp_fail(err, bad, "%.300s", end->said);
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
                 {"standard error", without->size == with->size && memcmp(without->said, with->said, with->size) == 0}};
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
    a->laps = 0;
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
    if (rc == DP_OK && a->laps == 0)
        rc = dp_fail(err, DP_E_RUN, "%s %lld was in no batch: more laps, or a higher rate", unit_of(a), (long long)a->row + 1);
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
        a->replace_one = strcmp(dp_frame_text(a->released[1], DP_F_ADJACENCY, ""), "replace-one") == 0;
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
    a->released = dp_new((size_t)out->laps + 2, sizeof *a->released);
    a->moved = dp_new((size_t)out->laps + 2, sizeof *a->moved);
    for (int64_t at = 0; at < out->laps + 2; at++) {
        a->released[at] = dp_frame_new();
        a->moved[at] = dp_frame_new();
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
    for (int64_t at = 0; a.moved != NULL && at < audit->laps + 2; at++) {
        dp_frame_free(a.released[at]);
        dp_frame_free(a.moved[at]);
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
