#include "audit/parts.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/version.h"

static int keep(struct dp_audit_stages *stages, const char *from, const char *to, struct dp_err *err)
{
    while (from < to && strchr(" \t\n", *from) != NULL)
        from++;
    if (from == to)
        return dp_fail(err, DP_E_USAGE, "an element of the pipeline is empty");
    if (stages->count == DP_AUDIT_MAX_STAGES)
        return dp_fail(err, DP_E_USAGE, "more than %d stages", DP_AUDIT_MAX_STAGES);
    char *text;
    int rc = dp_alloc(&text, (size_t)(to - from) + 1, 1, err);
    if (rc == DP_OK) {
        memcpy(text, from, (size_t)(to - from));
        stages->text[stages->count++] = text;
    }
    return rc;
}

int dp_audit_split(struct dp_audit_stages *stages, const char *text, struct dp_err *err)
{
    const char *from = text, *p = text;
    char quote = 0;
    *stages = (struct dp_audit_stages){0};
    for (; *p != '\0'; p++) {
        if (*p == '\\' && quote != '\'' && p[1] != '\0') {
            p++;
        } else if (quote != 0 || *p == '\'' || *p == '"') {
            quote = quote == 0 ? *p : *p == quote ? 0 : quote;
        } else if (strchr(";&()`", *p) != NULL || (*p == '|' && p[1] == '|')) {
            return dp_fail(err, DP_E_USAGE, "'%c' in the pipeline: it must be stages joined by bars", *p);
        } else if (*p == '|') {
            int rc = keep(stages, from, p, err);
            if (rc != DP_OK)
                return rc;
            from = p + 1;
        }
    }
    if (quote != 0)
        return dp_fail(err, DP_E_USAGE, "a quote in the pipeline is not closed");
    return keep(stages, from, p, err);
}

void dp_audit_stages_free(struct dp_audit_stages *stages)
{
    for (int i = 0; i < stages->count; i++)
        free(stages->text[i]);
    stages->count = 0;
}

bool dp_audit_stage_is(const struct dp_audit_stages *stages, int at, const char *name)
{
    size_t length = strlen(name);
    const char *text = stages->text[at];
    return strncmp(text, name, length) == 0 && (text[length] == '\0' || strchr(" \t\n", text[length]) != NULL);
}

bool dp_audit_names_data(const struct dp_audit_stages *stages)
{
    for (int i = 0; i < stages->count; i++)
        if (strstr(stages->text[i], "{}") != NULL)
            return true;
    return false;
}

/* Stages [from, to) with bars between them and 'data' for {}. */
static int join(char **joined, const struct dp_audit_stages *stages, int from, int to, const char *data, struct dp_err *err)
{
    size_t size = 1, length = strlen(data);
    for (int i = from; i < to; i++) {
        size += strlen(stages->text[i]) + 3;
        for (const char *p = stages->text[i]; (p = strstr(p, "{}")) != NULL; p += 2)
            size += length + 2;
    }
    int rc = dp_alloc(joined, size, 1, err);
    if (rc != DP_OK)
        return rc;
    char *to_byte = *joined;
    for (int i = from; i < to; i++) {
        if (i > from)
            to_byte = stpcpy(to_byte, " | ");
        for (const char *p = stages->text[i]; *p != '\0';) {
            if (p[0] == '{' && p[1] == '}') {
                *to_byte++ = '\'';
                to_byte = stpcpy(to_byte, data);
                *to_byte++ = '\'';
                p += 2;
            } else {
                *to_byte++ = *p++;
            }
        }
    }
    *to_byte = '\0';
    return DP_OK;
}

int dp_audit_part_start(struct dp_audit_part *part, const struct dp_audit_watch *watch, int slot,
                        const struct dp_audit_stages *stages, int from, int to, const char *data, struct dp_err *err)
{
    char *text;
    *part = (struct dp_audit_part){.slot = slot};
    int rc = join(&text, stages, from, to, data, err);
    if (rc != DP_OK)
        return rc;
    rc = dp_child_fused(&part->child, text, NULL, err);
    if (rc == 1) {
        err->message[0] = '\0';
        rc = dp_child_processes(&part->child, text, err);
    }
    free(text);
    if (rc == DP_OK)
        watch->group[slot] = dp_child_group(part->child);
    return rc;
}

int dp_audit_part_take(struct dp_audit_part *part, const struct dp_audit_watch *watch, struct dp_frame *frame,
                       struct dp_err *err)
{
    bool processes = dp_child_group(part->child) != 0;
    if (processes)
        alarm(watch->timeout);
    int rc = dp_child_pass(part->child, frame, frame, err);
    if (processes)
        alarm(0);
    if (*watch->stop == SIGALRM)
        return dp_fail(err, DP_E_RUN, "the pipeline gave no answer within %u s", watch->timeout);
    if (*watch->stop != 0)
        return dp_fail(err, DP_E_RUN, "interrupted");
    return rc;
}

int dp_audit_parts_end(struct dp_audit_part *part, int count, const struct dp_audit_watch *watch, struct dp_frame *frame,
                       struct dp_err *err)
{
    int rc = DP_OK;
    dp_frame_reset(frame, DP_KIND_END);
    for (int i = 0; rc == DP_OK && i < count; i++)
        if (part[i].child != NULL)
            rc = dp_audit_part_take(&part[i], watch, frame, err);
    for (int i = 0; rc == DP_OK && i < count; i++) {
        if (part[i].child == NULL)
            continue;
        watch->group[part[i].slot] = 0;
        rc = dp_child_finish(part[i].child, err);
        part[i].child = NULL;
    }
    dp_audit_parts_kill(part, count, watch);
    return rc;
}

void dp_audit_parts_kill(struct dp_audit_part *part, int count, const struct dp_audit_watch *watch)
{
    for (int i = 0; i < count; i++) {
        if (part[i].child == NULL)
            continue;
        watch->group[part[i].slot] = 0;
        dp_child_kill(part[i].child);
        part[i].child = NULL;
    }
}

int dp_audit_hello(struct dp_frame *frame, int64_t laps, int64_t seed, struct dp_err *err)
{
    dp_frame_reset(frame, DP_KIND_HELLO);
    dp_frame_set_int(frame, DP_F_FORMAT, DP_FRAME_FORMAT);
    dp_frame_set_int(frame, DP_F_STAGE, 0);
    dp_frame_set_int(frame, DP_F_LAPS, laps);
    if (seed >= 0)
        dp_frame_set_int(frame, DP_F_SEED, seed);
    return dp_frame_set_text(frame, DP_F_SOFTWARE, "dpline " DP_VERSION, strlen("dpline " DP_VERSION), err);
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

int dp_audit_remove_row(struct dp_frame *frame, int64_t id, bool *was, struct dp_err *err)
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
        shorten(frame, DP_F_X, i);
        shorten(frame, DP_F_Y, i);
    }
    return DP_OK;
}

int dp_audit_insert_row(struct dp_frame *frame, int64_t id, struct dp_err *err)
{
    const struct dp_array *rows;
    int rc = dp_frame_need_array(frame, DP_F_ROWS, DP_I64, 1, &rows, err);
    if (rc != DP_OK || dp_frame_has(frame, DP_F_X))
        return rc;
    size_t count = rows->count, at = 0;
    int64_t *old = rows->data, *copy, *grown;
    while (at < count && old[at] < id)
        at++;
    if (at < count && old[at] == id)
        return DP_OK;
    rc = dp_alloc(&copy, count + 1, sizeof *copy, err);
    if (rc != DP_OK)
        return rc;
    for (size_t i = 0; i <= count; i++)
        copy[i] = i < at ? old[i] : i == at ? id : old[i - 1];
    rc = dp_frame_make_array(frame, DP_F_ROWS, DP_I64, count + 1, 0, &grown, err);
    if (rc == DP_OK)
        memcpy(grown, copy, (count + 1) * sizeof *grown);
    free(copy);
    return rc;
}
