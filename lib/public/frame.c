#include <dpline/frame.h>

#include "base/json.h"
#include "base/init.h"
#include "base/mem.h"
#include "convert.h"
#include "frame.h"
#include "port/port.h"
#include "stages/bounded.h"
#include "wire/json.h"

_Static_assert((int)DPLINE_HELLO == (int)DP_KIND_HELLO && (int)DPLINE_LAP == (int)DP_KIND_LAP &&
                   (int)DPLINE_END == (int)DP_KIND_END && (int)DPLINE_FAILURE == (int)DP_KIND_ERROR,
               "kinds pass as they are");
_Static_assert((int)DPLINE_RAW == (int)DP_LABEL_RAW && (int)DPLINE_BOUNDED == (int)DP_LABEL_BOUNDED &&
                   (int)DPLINE_NOISED == (int)DP_LABEL_NOISED && (int)DPLINE_RELEASED == (int)DP_LABEL_RELEASED,
               "labels pass as they are");
_Static_assert((int)DPLINE_F4 == (int)DP_F32 && (int)DPLINE_F8 == (int)DP_F64 && (int)DPLINE_I4 == (int)DP_I32 &&
                   (int)DPLINE_I8 == (int)DP_I64,
               "types of elements pass as they are");
_Static_assert(sizeof((struct dpline_array *)0)->size == sizeof((struct dp_array *)0)->dims, "all dimensions fit");

int dpline_frame_new(struct dpline_frame **frame, struct dpline_error *error)
{
    (void)error;
    dp_init();
    *frame = dp_public_frame_out(dp_frame_new());
    return DPLINE_OK;
}

void dpline_frame_free(struct dpline_frame *frame)
{
    dp_frame_free(dp_public_frame(frame));
}

void dpline_frame_reset(struct dpline_frame *frame, enum dpline_kind_of_frame kind)
{
    dp_frame_reset(dp_public_frame(frame), (enum dp_kind)kind);
}

enum dpline_kind_of_frame dpline_frame_kind(const struct dpline_frame *frame)
{
    return (enum dpline_kind_of_frame)dp_public_frame_const(frame)->kind;
}

enum dpline_label dpline_frame_label(const struct dpline_frame *frame)
{
    return (enum dpline_label)dp_public_frame_const(frame)->label;
}

int64_t dpline_frame_lap(const struct dpline_frame *frame)
{
    return dp_public_frame_const(frame)->lap;
}

/* The field with that name and type if the frame has it; else DP_F_COUNT. */
static enum dp_field present(const struct dpline_frame *frame, const char *name, enum dp_type type)
{
    enum dp_field field = dp_field_find(name, strlen(name));
    return field != DP_F_COUNT && dp_fields[field].type == type && dp_frame_has(dp_public_frame_const(frame), field)
               ? field
               : DP_F_COUNT;
}

int dpline_frame_has(const struct dpline_frame *frame, const char *name)
{
    enum dp_field field = dp_field_find(name, strlen(name));
    return field != DP_F_COUNT && dp_frame_has(dp_public_frame_const(frame), field);
}

int64_t dpline_frame_int(const struct dpline_frame *frame, const char *name, int64_t fallback)
{
    enum dp_field field = present(frame, name, DP_T_INT);
    return field != DP_F_COUNT ? dp_frame_int(dp_public_frame_const(frame), field, fallback) : fallback;
}

double dpline_frame_real(const struct dpline_frame *frame, const char *name, double fallback)
{
    enum dp_field field = present(frame, name, DP_T_REAL);
    return field != DP_F_COUNT ? dp_frame_real(dp_public_frame_const(frame), field, fallback) : fallback;
}

int dpline_frame_flag(const struct dpline_frame *frame, const char *name, int fallback)
{
    enum dp_field field = present(frame, name, DP_T_BOOL);
    return field != DP_F_COUNT ? dp_frame_bool(dp_public_frame_const(frame), field) : fallback;
}

const char *dpline_frame_text(const struct dpline_frame *frame, const char *name, const char *fallback)
{
    enum dp_field field = present(frame, name, DP_T_TEXT);
    return field != DP_F_COUNT ? dp_frame_text(dp_public_frame_const(frame), field, fallback) : fallback;
}

int dpline_frame_array(const struct dpline_frame *frame, const char *name, enum dpline_type type, int dimensions,
                       struct dpline_array *array, struct dpline_error *error)
{
    struct dp_err err = {0};
    const struct dp_array *a;
    enum dp_field field = present(frame, name, DP_T_ARRAY);
    if (field == DP_F_COUNT)
        return dpline_fail(error, DPLINE_E_RUN, "the frame has no array '%.40s'", name);
    int rc = dp_frame_need_array(dp_public_frame_const(frame), field, (enum dp_dtype)type, dimensions, &a, &err);
    if (rc != DP_OK)
        return dp_public_result(error, rc, &err);
    *array = (struct dpline_array){.type = type, .dimensions = a->ndim, .count = a->count, .data = a->data};
    memcpy(array->size, a->dims, (size_t)a->ndim * sizeof a->dims[0]);
    return DPLINE_OK;
}

static int settable(enum dp_field *field, const char *name, enum dp_type type, struct dpline_error *error)
{
    static const char *const types[] = {[DP_T_INT] = "a whole number",
                                        [DP_T_REAL] = "a number",
                                        [DP_T_BOOL] = "a flag",
                                        [DP_T_TEXT] = "a text",
                                        [DP_T_ARRAY] = "an array"};
    *field = dp_field_find(name, strlen(name));
    if (*field == DP_F_COUNT)
        return dpline_fail(error, DPLINE_E_USAGE, "frames have no field '%.40s'", name);
    if (dp_fields[*field].type != type)
        return dpline_fail(error, DPLINE_E_USAGE, "the field %s is not %s", name, types[type]);
    return DPLINE_OK;
}

int dpline_frame_set_int(struct dpline_frame *frame, const char *name, int64_t value, struct dpline_error *error)
{
    enum dp_field field;
    int rc = settable(&field, name, DP_T_INT, error);
    if (rc == DP_OK)
        dp_frame_set_int(dp_public_frame(frame), field, value);
    return rc;
}

int dpline_frame_set_real(struct dpline_frame *frame, const char *name, double value, struct dpline_error *error)
{
    enum dp_field field;
    int rc = settable(&field, name, DP_T_REAL, error);
    if (rc == DP_OK)
        dp_frame_set_real(dp_public_frame(frame), field, value);
    return rc;
}

int dpline_frame_set_flag(struct dpline_frame *frame, const char *name, int value, struct dpline_error *error)
{
    enum dp_field field;
    int rc = settable(&field, name, DP_T_BOOL, error);
    if (rc == DP_OK)
        dp_frame_set_bool(dp_public_frame(frame), field, value != 0);
    return rc;
}

int dpline_frame_set_text(struct dpline_frame *frame, const char *name, const char *text, struct dpline_error *error)
{
    enum dp_field field;
    int rc = settable(&field, name, DP_T_TEXT, error);
    if (rc == DP_OK)
        dp_frame_set_string(dp_public_frame(frame), field, text);
    return rc;
}

int dpline_frame_set_array(struct dpline_frame *frame, const char *name, enum dpline_type type, uint64_t rows, uint64_t columns,
                           const void *data, struct dpline_error *error)
{
    struct dp_err err = {0};
    enum dp_field field;
    void *to;
    int rc = settable(&field, name, DP_T_ARRAY, error);
    if (rc != DP_OK)
        return rc;
    if (type < DPLINE_F4 || type > DPLINE_I8)
        return dpline_fail(error, DPLINE_E_USAGE, "no such type of elements: %d", (int)type);
    rc = dp_frame_make_array(dp_public_frame(frame), field, (enum dp_dtype)type, rows, columns, &to, &err);
    size_t size = rows * (columns > 0 ? columns : 1) * dp_dtype_size((enum dp_dtype)type);
    if (rc == DP_OK && size > 0)
        memcpy(to, data, size);
    return dp_public_result(error, rc, &err);
}

int dpline_frame_drop(struct dpline_frame *frame, const char *name, struct dpline_error *error)
{
    enum dp_field field = dp_field_find(name, strlen(name));
    if (field == DP_F_COUNT)
        return dpline_fail(error, DPLINE_E_USAGE, "frames have no field '%.40s'", name);
    dp_frame_drop(dp_public_frame(frame), field);
    return DPLINE_OK;
}

/* Finds the member with that key in the record of a field, of one of two types; false if it does not exist. */
static bool record_member(const struct dpline_frame *frame, const char *name, const char *key, bool text,
                          struct dp_record_value *value)
{
    enum dp_field field = name != NULL ? dp_field_find(name, strlen(name)) : DP_F_NONE;
    const struct dp_record *record =
        name == NULL || field != DP_F_NONE ? dp_frame_record(dp_public_frame_const(frame), field) : NULL;
    int member = dp_record_find(key, strlen(key));
    if (record == NULL || member == DP_RECORD_MEMBER_COUNT || !dp_record_has(record, member))
        return false;
    *value = dp_record_get(record, member);
    return (value->type == DP_T_TEXT) == text;
}

double dpline_frame_record_real(const struct dpline_frame *frame, const char *field, const char *member, double fallback)
{
    struct dp_record_value value;
    if (!record_member(frame, field, member, false, &value))
        return fallback;
    return value.type == DP_T_INT ? (double)value.whole : value.real;
}

const char *dpline_frame_record_text(const struct dpline_frame *frame, const char *field, const char *member,
                                     const char *fallback)
{
    struct dp_record_value value;
    return record_member(frame, field, member, true, &value) ? value.text : fallback;
}

int dpline_frame_bound(struct dpline_frame *frame, const int64_t *sum, uint64_t rows, uint64_t columns, double bound,
                       int replace_one, struct dpline_error *error)
{
    struct dp_frame *f = dp_public_frame(frame);
    struct dp_record *record = dp_frame_edit_record(f, DP_F_NONE);
    if (f->kind != DP_KIND_LAP || f->label != DP_LABEL_RAW || record == NULL)
        return dpline_fail(error, DPLINE_E_UNSAFE, "the frame is not a raw lap that records how its rows were sampled");
    if (!(bound > 0) || !isfinite(bound))
        return dpline_fail(error, DPLINE_E_USAGE, "a bound is positive and finite, not %g", bound);
    int rc = dpline_frame_set_array(frame, "sum", DPLINE_I8, rows, columns, sum, error);
    if (rc != DP_OK)
        return rc;
    record->release = DP_RELEASE_SUM;
    dp_bounded_state(f, replace_one ? DP_ADJACENCY_REPLACE_ONE : DP_ADJACENCY_NULL_RECORD, bound);
    dp_batch_forget(f);
    return DPLINE_OK;
}

int dpline_frame_json(const struct dpline_frame *frame, char **json, struct dpline_error *error)
{
    (void)error;
    dp_init();
    json_t *object = dp_json_frame(dp_public_frame_const(frame), true);
    *json = dp_json_text(object, JSON_COMPACT);
    json_decref(object);
    return DPLINE_OK;
}

struct dpline_stream {
    struct dp_port *port;
};

static int open_stream(struct dpline_stream **stream, const char *port, enum dp_direction direction, struct dpline_error *error)
{
    struct dp_err err = {0};
    dp_init();
    struct dpline_stream *s = dp_new(1, sizeof *s);
    int rc = dp_port_open(&s->port, port, direction, &err);
    if (rc == DP_OK)
        *stream = s;
    else
        free(s);
    return dp_public_result(error, rc, &err);
}

int dpline_stream_read_from(struct dpline_stream **stream, const char *port, struct dpline_error *error)
{
    return open_stream(stream, port, DP_IN, error);
}

int dpline_stream_write_to(struct dpline_stream **stream, const char *port, struct dpline_error *error)
{
    return open_stream(stream, port, DP_OUT, error);
}

int dpline_stream_read(struct dpline_stream *stream, struct dpline_frame *frame, struct dpline_error *error)
{
    struct dp_err err = {0};
    return dp_public_result(error, dp_port_read(stream->port, dp_public_frame(frame), &err), &err);
}

int dpline_stream_write(struct dpline_stream *stream, const struct dpline_frame *frame, struct dpline_error *error)
{
    struct dp_err err = {0};
    const struct dp_frame *f = dp_public_frame_const(frame);
    if (f->kind == DP_KIND_LAP && f->label != DP_LABEL_RELEASED && dp_port_exposure(stream->port) != DP_EXPOSED_NO)
        return dpline_fail(error, DPLINE_E_UNSAFE, "will not write a %s frame to a terminal", dp_label_name(f->label));
    int rc = dp_port_write(stream->port, f, &err);
    if (rc == DP_OK) /* the caller may wait for an answer next */
        rc = dp_port_flush(stream->port, &err);
    return dp_public_result(error, rc, &err);
}

int dpline_stream_commit(struct dpline_stream *stream, struct dpline_error *error)
{
    struct dp_err err = {0};
    return dp_public_result(error, dp_port_commit(stream->port, &err), &err);
}

void dpline_stream_free(struct dpline_stream *stream)
{
    if (stream == NULL)
        return;
    dp_port_close(stream->port);
    free(stream);
}
