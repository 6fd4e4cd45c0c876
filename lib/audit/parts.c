#include "audit/parts.h"

#include "audit/variant.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/version.h"

int dp_audit_cut(struct dp_pipeline *pipeline, const char *text, struct dp_err *err)
{
    int rc = dp_pipeline_cut(pipeline, text, err);
    if (rc == 1)
        return err->status; /* it cannot be split */
    if (rc == DP_OK && strstr(text, "{}") == NULL)
        rc = dp_fail(err, DP_E_USAGE, "the pipeline has no {}, which the path of the data set replaces");
    return rc;
}

int dp_audit_find_gate(struct dp_pipeline *pipeline, int least, int *gate, struct dp_err *err)
{
    *gate = dp_pipeline_find(pipeline, "dp-account");
    if (*gate == pipeline->stages)
        return dp_fail(err, DP_E_USAGE, "the pipeline has no dp-account, so that it claims nothing");
    if (*gate < least)
        return dp_fail(err, DP_E_USAGE, "the pipeline must sample rows and release a noised sum of them");
    return dp_audit_without_ledger(pipeline, *gate, err);
}

int dp_audit_without_ledger(struct dp_pipeline *pipeline, int gate, struct dp_err *err)
{
    const struct dp_pipeline_stage *stage = &pipeline->stage[gate];
    bool none = true, noted = true; /* it has no option about a ledger, and about the registry */
    for (int i = 1; i < stage->argc; i++) {
        if (strcmp(stage->argv[i], "--non-private") == 0)
            return DP_OK;
        none &= strstr(stage->argv[i], "ledger") == NULL;
        noted &= strstr(stage->argv[i], "registry") == NULL;
    }
    char *text = dp_format("%.*s%s%s%s", (int)stage->to, pipeline->text, none ? " --no-ledger" : "",
                           noted ? " --no-registry" : "", pipeline->text + stage->to);
    dp_pipeline_free(pipeline);
    int rc = dp_audit_cut(pipeline, text, err);
    free(text);
    return rc;
}

int dp_audit_directory(char path[DP_AUDIT_PATH], const char *parent, struct dp_err *err)
{
    char name[DP_AUDIT_PATH];
    if ((size_t)snprintf(name, sizeof name, "%s/dp-audit.XXXXXX", parent) >= sizeof name)
        return dp_fail(err, DP_E_RUN, "TMPDIR: '%.60s' is too long a path", parent);
    if (mkdtemp(name) == NULL)
        return dp_fail_errno(err, errno, "cannot make a directory in %s", parent);
    memcpy(path, name, sizeof name);
    return DP_OK;
}

/* text[from .. to) with `data` for each {}. */
static void name_data(char **named, const char *text, size_t from, size_t to, const char *data)
{
    size_t size;
    FILE *f = dp_got(open_memstream(named, &size));
    for (size_t i = from; i < to; i++) {
        if (text[i] == '{' && text[i + 1] == '}') {
            dp_text_shell(data, f);
            i++;
        } else {
            fputc(text[i], f);
        }
    }
    dp_close_text(f);
}

int dp_audit_part_start(struct dp_child **part, const struct dp_audit_watch *watch, const struct dp_pipeline *pipeline,
                        int from, int to, const char *data, struct dp_err *err)
{
    char *text;
    *part = NULL;
    name_data(&text, pipeline->text, pipeline->stage[from].from, pipeline->stage[to - 1].to, data);
    int rc = dp_child_fused(part, text, watch->warn, err);
    if (rc == 1) {
        err->message[0] = '\0';
        rc = dp_child_processes(part, text, err);
    }
    free(text);
    if (rc == DP_OK) {
        dp_child_cancel(*part, watch->stop);
        dp_child_limit(*part, watch->timeout);
    }
    return rc;
}

int dp_audit_part_take(struct dp_child *part, const struct dp_audit_watch *watch, struct dp_frame *frame, struct dp_err *err)
{
    int rc = dp_child_pass(part, frame, frame, err);
    if (rc == DP_CHILD_EXHAUSTED)
        rc = dp_fail(err, DP_E_RUN, "no more rows arrive");
    return *watch->stop != 0 ? dp_fail(err, DP_E_RUN, "interrupted") : rc;
}

int dp_audit_sampler_take(struct dp_child *part, const struct dp_audit_watch *watch, struct dp_frame *frame, struct dp_err *err)
{
    int rc = dp_audit_part_take(part, watch, frame, err);
    return rc != DP_OK || (frame->label == DP_LABEL_RAW && frame->records == 1)
               ? rc
               : dp_fail(err, DP_E_USAGE, "the first stage of the pipeline must sample rows, as dp-sample does");
}

void dp_audit_keep_uncharged(struct dp_frame *frame)
{
    for (int i = 0; i < DP_F_COUNT; i++)
        if (dp_fields[i].visibility == DP_PAID)
            dp_frame_drop(frame, (enum dp_field)i);
}

int dp_audit_parts_end(struct dp_child **part, int count, const struct dp_audit_watch *watch, struct dp_frame *frame,
                       struct dp_err *err)
{
    int rc = DP_OK;
    dp_frame_reset(frame, DP_KIND_END);
    for (int i = 0; rc == DP_OK && i < count; i++)
        if (part[i] != NULL)
            rc = dp_audit_part_take(part[i], watch, frame, err);
    rc = rc ?: dp_audit_parts_finish(part, count, err);
    dp_audit_parts_kill(part, count);
    return rc;
}

int dp_audit_parts_finish(struct dp_child **part, int count, struct dp_err *err)
{
    int rc = DP_OK;
    for (int i = 0; rc == DP_OK && i < count; i++) {
        if (part[i] != NULL)
            rc = dp_child_finish(part[i], err);
        part[i] = NULL;
    }
    return rc;
}

void dp_audit_parts_kill(struct dp_child **part, int count)
{
    for (int i = 0; i < count; i++) {
        dp_child_kill(part[i]);
        part[i] = NULL;
    }
}

void dp_audit_hello(struct dp_frame *frame, int64_t laps, int64_t seed)
{
    dp_frame_reset(frame, DP_KIND_HELLO);
    dp_frame_set_int(frame, DP_F_FORMAT, DP_FRAME_FORMAT);
    dp_frame_set_int(frame, DP_F_STAGE, 0);
    dp_frame_set_int(frame, DP_F_LAPS, laps);
    if (seed >= 0)
        dp_frame_set_int(frame, DP_F_SEED, seed);
    dp_frame_set_string(frame, DP_F_SOFTWARE, "dpline " DP_VERSION);
}

/* Drops element `at` of the first axis. */
static void shorten(struct dp_frame *frame, enum dp_field field, size_t at)
{
    struct dp_array *a = dp_frame_edit_array(frame, field);
    if (a == NULL || a->ndim < 1 || a->dims[0] <= at)
        return;
    size_t width = a->count / a->dims[0], bytes = width * dp_dtype_size(a->dtype);
    char *data = a->data;
    memmove(data + at * bytes, data + (at + 1) * bytes, (a->dims[0] - at - 1) * bytes);
    a->dims[0]--;
    a->count -= width;
}

/* The first inline row of the person at place `at`. */
static size_t first_row(const struct dp_frame *frame, size_t at)
{
    const struct dp_array *sizes = dp_frame_array(frame, DP_F_PERSON_ROWS);
    size_t first = sizes == NULL ? at : 0;
    for (size_t i = 0; sizes != NULL && i < at && i < sizes->count; i++)
        first += (size_t)((const int64_t *)sizes->data)[i];
    return first;
}

/* Drops the inline rows of the person at place `at`. */
static void shorten_rows(struct dp_frame *frame, size_t at)
{
    const struct dp_array *sizes = dp_frame_array(frame, DP_F_PERSON_ROWS);
    size_t first = first_row(frame, at), count = sizes == NULL ? 1 : (size_t)((const int64_t *)sizes->data)[at];
    for (size_t i = 0; i < count; i++) {
        shorten(frame, DP_F_X, first);
        shorten(frame, DP_F_Y, first);
    }
    shorten(frame, DP_F_PERSON_ROWS, at);
}

int dp_audit_remove_person(struct dp_frame *frame, int64_t id, bool *was, struct dp_err *err)
{
    const struct dp_array *rows;
    *was = false;
    int rc = dp_frame_need_array(frame, DP_F_ROWS, DP_I64, 1, &rows, err);
    if (rc != DP_OK)
        return rc;
    for (size_t i = rows->count; i-- > 0;) {
        if (((int64_t *)rows->data)[i] != id)
            continue;
        *was = true;
        shorten(frame, DP_F_ROWS, i);
        shorten_rows(frame, i);
    }
    return DP_OK;
}

/* Puts `more` elements of the first axis before element `at`. */
static int lengthen(struct dp_frame *frame, enum dp_field field, size_t at, size_t more, const void *put, struct dp_err *err)
{
    const struct dp_array *a = dp_frame_array(frame, field);
    const size_t before = a->dims[0], width = a->ndim == 2 ? a->dims[1] : 0;
    const size_t bytes = (a->ndim == 2 ? width : 1) * dp_dtype_size(a->dtype);
    char *old = dp_new(before + 1, bytes), *grown;
    if (before > 0)
        memcpy(old, a->data, before * bytes);
    int rc = dp_frame_make_array(frame, field, a->dtype, before + more, width, &grown, err);
    if (rc == DP_OK) {
        memcpy(grown, old, at * bytes);
        memcpy(grown + at * bytes, put, more * bytes);
        memcpy(grown + (at + more) * bytes, old + at * bytes, (before - at) * bytes);
    }
    free(old);
    return rc;
}

/* The inline rows of the person at place `at`. */
static int lengthen_rows(struct dp_frame *frame, size_t at, const struct dp_variant_rows *own, size_t cols, struct dp_err *err)
{
    const struct dp_array *x, *y, *sizes = dp_frame_array(frame, DP_F_PERSON_ROWS);
    const int64_t count = (int64_t)own->count;
    size_t first = first_row(frame, at);
    int rc = dp_frame_need_array(frame, DP_F_X, DP_F32, 2, &x, err);
    rc = rc ?: dp_frame_need_array(frame, DP_F_Y, DP_F64, 1, &y, err);
    if (rc == DP_OK && (x->dims[1] != cols || x->dims[0] < first || y->count < first))
        rc = dp_fail(err, DP_E_RUN, "the rows of lap %lld do not have the shape of the data set", (long long)frame->lap);
    rc = rc ?: lengthen(frame, DP_F_X, first, own->count, own->x, err);
    rc = rc ?: lengthen(frame, DP_F_Y, first, own->count, own->y, err);
    return rc == DP_OK && sizes != NULL ? lengthen(frame, DP_F_PERSON_ROWS, at, 1, &count, err) : rc;
}

int dp_audit_insert_person(struct dp_frame *frame, int64_t id, const struct dp_variant_rows *own, size_t cols, bool *was,
                           struct dp_err *err)
{
    const struct dp_array *rows;
    *was = false;
    int rc = dp_frame_need_array(frame, DP_F_ROWS, DP_I64, 1, &rows, err);
    if (rc != DP_OK)
        return rc;
    const int64_t *old = rows->data;
    size_t at = 0;
    while (at < rows->count && old[at] < id)
        at++;
    *was = at < rows->count && old[at] == id;
    if (!*was && dp_frame_has(frame, DP_F_X))
        rc = lengthen_rows(frame, at, own, cols, err);
    return rc == DP_OK && !*was ? lengthen(frame, DP_F_ROWS, at, 1, &id, err) : rc;
}
