/* A frame in memory. On the wire it is one msgpack map (man page dp-frame.5). A frame owns its buffers and keeps them when
 * cleared, so that a lap allocates nothing as long as shapes stay the same. */
#pragma once

#include "base/err.h"
#include "wire/record.h"
#include "wire/schema.h"

#define DP_FRAME_FORMAT 2 /* the format that is written; format 1 can be read, too */
#define DP_MAX_RECORDS 32 /* a hello frame has several records for each kind of laps */
#define DP_MAX_DIMS 4
#define DP_MAX_SHARDS 1024 /* shards of a data set: sums of this many shards, each of at most 2^31 rows, cannot overflow */
#define DP_RUN_DIGITS 32   /* hexadecimal digits of the name of a run */

enum dp_kind { DP_KIND_HELLO, DP_KIND_LAP, DP_KIND_END, DP_KIND_ERROR };

/* State of the private content of a lap frame. A stage declares the labels that it accepts, and emits, as sets of bits. */
enum dp_label { DP_LABEL_RAW = 1, DP_LABEL_BOUNDED = 2, DP_LABEL_NOISED = 4, DP_LABEL_RELEASED = 8 };

enum dp_dtype { DP_F32 = 1, DP_F64 = 2, DP_I32 = 3, DP_I64 = 4 };

struct dp_array {
    enum dp_dtype dtype;
    int ndim;
    uint64_t dims[DP_MAX_DIMS];
    size_t count; /* product of dims */
    void *data;   /* count elements, owned by the frame */
    size_t capacity;
};

struct dp_value {
    bool present;
    union {
        int64_t whole;
        double real;
        bool flag;
    } u;
    char *text; /* NUL-terminated, owned */
    size_t text_capacity;
    struct dp_array array;
};

struct dp_frame {
    enum dp_kind kind;
    enum dp_label label; /* lap frames only */
    int64_t lap;         /* 1, 2, …; lap frames only */
    int records;
    struct dp_record record[DP_MAX_RECORDS];
    struct dp_value value[DP_F_COUNT];
};

/* A new empty frame; dp_frame_free(NULL) is fine. */
struct dp_frame *dp_frame_new(void);
void dp_frame_free(struct dp_frame *frame);

/* Empties the frame and sets its kind; buffers are kept. */
void dp_frame_reset(struct dp_frame *frame, enum dp_kind kind);

const char *dp_kind_name(enum dp_kind kind);
const char *dp_label_name(enum dp_label label);
size_t dp_dtype_size(enum dp_dtype dtype);
const char *dp_dtype_name(enum dp_dtype dtype); /* "f4", "f8", "i4", "i8", as in NumPy */

static inline bool dp_frame_has(const struct dp_frame *frame, enum dp_field field)
{
    return frame->value[field].present;
}
static inline void dp_frame_drop(struct dp_frame *frame, enum dp_field field)
{
    frame->value[field].present = false;
}

/* Setters for each type; text is copied. */
void dp_frame_set_int(struct dp_frame *frame, enum dp_field field, int64_t value);
void dp_frame_set_real(struct dp_frame *frame, enum dp_field field, double value);
void dp_frame_set_bool(struct dp_frame *frame, enum dp_field field, bool value);
void dp_frame_set_text(struct dp_frame *frame, enum dp_field field, const char *text, size_t length);
static inline void dp_frame_set_string(struct dp_frame *frame, enum dp_field field, const char *text)
{
    dp_frame_set_text(frame, field, text, strlen(text));
}

/* Getters: the value, or the fallback when absent. For arrays there is one getter to read and one to change; both return NULL
   if the array is absent. */
int64_t dp_frame_int(const struct dp_frame *frame, enum dp_field field, int64_t fallback);
double dp_frame_real(const struct dp_frame *frame, enum dp_field field, double fallback);
bool dp_frame_bool(const struct dp_frame *frame, enum dp_field field);
const char *dp_frame_text(const struct dp_frame *frame, enum dp_field field, const char *fallback);
const struct dp_array *dp_frame_array(const struct dp_frame *frame, enum dp_field field);
struct dp_array *dp_frame_edit_array(struct dp_frame *frame, enum dp_field field);

/* Makes the field an array of this shape and returns its storage in *data (contents undefined; the same contents if the shape
 * is the same). d1 = 0 gives a vector. */
int dp_frame_make_array(struct dp_frame *frame, enum dp_field field, enum dp_dtype dtype, uint64_t d0, uint64_t d1, void *data,
                        struct dp_err *err);

/* The array, checked for dtype and number of dimensions; otherwise an error that names the field. */
int dp_frame_need_array(const struct dp_frame *frame, enum dp_field field, enum dp_dtype dtype, int ndim,
                        const struct dp_array **array, struct dp_err *err);

/* Element i as a double, whatever its dtype. */
double dp_array_at(const struct dp_array *array, size_t i);

/* Copies everything, or one field and its presence. */
void dp_frame_copy(struct dp_frame *to, const struct dp_frame *from);
void dp_frame_copy_field(struct dp_frame *to, const struct dp_frame *from, enum dp_field field);

/* A text with a name in each line: whether one of them is among these names (lines, too), and adds those that it lacks. */
bool dp_frame_has_name(const struct dp_frame *frame, enum dp_field field, const char *names);
void dp_frame_add_names(struct dp_frame *frame, enum dp_field field, const char *names);

/* Whether both frames have the field with the same bits, or neither has it. */
bool dp_frame_same_field(const struct dp_frame *a, const struct dp_frame *b, enum dp_field field);

/* Removes every field that may not pass the gate in a lap frame: only DP_FIXED, DP_MOVING and DP_PAID stay. */
void dp_frame_strip(struct dp_frame *frame);

/* Removes from an initial model all fields except fields of lifetime `model`: a run keeps only these. */
void dp_frame_begin_run(struct dp_frame *model);

/* The same for a model of public rows: only its weights, their meaning and whose rows it shows stay. The rows and the loss of
 * the run are others. */
void dp_frame_begin_public(struct dp_frame *model, const char *digest);

/* Makes the frame that a lap begins with: the frame of the last lap (which may be the same object) without the fields of
 * lifetime `lap` and without records. laps: number of laps of the run; seeded: the run's keys come from a seed. */
void dp_frame_begin_lap(struct dp_frame *token, const struct dp_frame *last, int64_t lap, int64_t laps, bool seeded);

/* The record of a field, or NULL. With DP_F_NONE, the open record: rows have been sampled and nothing has been bounded yet. The
   second function gives write access, to complete the record. */
const struct dp_record *dp_frame_record(const struct dp_frame *frame, enum dp_field field);
struct dp_record *dp_frame_edit_record(struct dp_frame *frame, enum dp_field field);

/* Adds a copy. DP_E_RUN: its field has a record already, or the frame is full. */
int dp_frame_add_record(struct dp_frame *frame, const struct dp_record *record, struct dp_err *err);
