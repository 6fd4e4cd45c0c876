/* Frames, which pass between stages, and streams of frames. dp-frame(5) has the fields: their names, types and meaning. */
#ifndef DPLINE_FRAME_H
#define DPLINE_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"

#ifdef __cplusplus
extern "C" {
#endif

struct dpline_frame;

enum dpline_kind_of_frame { DPLINE_HELLO = 0, DPLINE_LAP = 1, DPLINE_END = 2, DPLINE_FAILURE = 3 };

/* State of the private content of a lap. */
enum dpline_label { DPLINE_RAW = 1, DPLINE_BOUNDED = 2, DPLINE_NOISED = 4, DPLINE_RELEASED = 8 };

enum dpline_type { DPLINE_F4 = 1, DPLINE_F8 = 2, DPLINE_I4 = 3, DPLINE_I8 = 4 };

/* An array, in C order; borrowed from a frame until the frame is changed. */
struct dpline_array {
    enum dpline_type type;
    int dimensions;
    uint64_t size[4];
    size_t count; /* their product */
    const void *data;
};

/* An empty frame. */
DPLINE_PUBLIC int dpline_frame_new(struct dpline_frame **frame, struct dpline_error *error);
DPLINE_PUBLIC void dpline_frame_free(struct dpline_frame *frame); /* NULL is fine */

/* Empties the frame; what it has allocated is kept for later. */
DPLINE_PUBLIC void dpline_frame_reset(struct dpline_frame *frame, enum dpline_kind_of_frame kind);

DPLINE_PUBLIC enum dpline_kind_of_frame dpline_frame_kind(const struct dpline_frame *frame);
DPLINE_PUBLIC enum dpline_label dpline_frame_label(const struct dpline_frame *frame);
DPLINE_PUBLIC int64_t dpline_frame_lap(const struct dpline_frame *frame); /* 1, 2, … */

/* The value of a field, or the fallback if the field is absent or of another type. */
DPLINE_PUBLIC int dpline_frame_has(const struct dpline_frame *frame, const char *field);
DPLINE_PUBLIC int64_t dpline_frame_int(const struct dpline_frame *frame, const char *field, int64_t fallback);
DPLINE_PUBLIC double dpline_frame_real(const struct dpline_frame *frame, const char *field, double fallback);
DPLINE_PUBLIC int dpline_frame_flag(const struct dpline_frame *frame, const char *field, int fallback);
DPLINE_PUBLIC const char *dpline_frame_text(const struct dpline_frame *frame, const char *field, const char *fallback);

/* DPLINE_E_RUN: the field is absent, or not an array of that type and that many dimensions. */
DPLINE_PUBLIC int dpline_frame_array(const struct dpline_frame *frame, const char *field, enum dpline_type type, int dimensions,
                                     struct dpline_array *array, struct dpline_error *error);

/* Sets a field; text and data are copied. DPLINE_E_USAGE: there is no such field, or it has another type. columns = 0 makes a
   vector. */
DPLINE_PUBLIC int dpline_frame_set_int(struct dpline_frame *frame, const char *field, int64_t value,
                                       struct dpline_error *error);
DPLINE_PUBLIC int dpline_frame_set_real(struct dpline_frame *frame, const char *field, double value,
                                        struct dpline_error *error);
DPLINE_PUBLIC int dpline_frame_set_flag(struct dpline_frame *frame, const char *field, int value, struct dpline_error *error);
DPLINE_PUBLIC int dpline_frame_set_text(struct dpline_frame *frame, const char *field, const char *text,
                                        struct dpline_error *error);
DPLINE_PUBLIC int dpline_frame_set_array(struct dpline_frame *frame, const char *field, enum dpline_type type, uint64_t rows,
                                         uint64_t columns, const void *data, struct dpline_error *error);
DPLINE_PUBLIC int dpline_frame_drop(struct dpline_frame *frame, const char *field, struct dpline_error *error);

/* A member of the record of a field, by its key: a number, or a text. field NULL: the open record, of sampled rows of which
   nothing has been bounded yet. Returns the fallback if there is no such record or member. */
DPLINE_PUBLIC double dpline_frame_record_real(const struct dpline_frame *frame, const char *field, const char *member,
                                              double fallback);
DPLINE_PUBLIC const char *dpline_frame_record_text(const struct dpline_frame *frame, const char *field, const char *member,
                                                   const char *fallback);

/* Turns a raw lap into a bounded one. sum, rows × columns in units of dpline_grid_for(bound), adds up one vector for each row
 * of the batch, of L2 norm at most bound, and depends on nothing else. Completes the record of how the batch was sampled, and
 * drops the rows. replace_one as in struct dpline_run. The bound is your promise: dp-audit(1) can test it, and nothing can
 * prove it. DPLINE_E_UNSAFE: the frame does not record how its rows were sampled, or is not raw. */
DPLINE_PUBLIC int dpline_frame_bound(struct dpline_frame *frame, const int64_t *sum, uint64_t rows, uint64_t columns,
                                     double bound, int replace_one, struct dpline_error *error);

/* The frame with all fields and records as JSON, as dp-cat(1) prints it; free(3) it. */
DPLINE_PUBLIC int dpline_frame_json(const struct dpline_frame *frame, char **json, struct dpline_error *error);

/* Frames from or to a port: "-" is standard input or output, "ipc://PATH" and "tcp://HOST:PORT" are ZeroMQ, with the keys that
   dp-key(1) has made, anything else is a file, which gets its name when it is committed. */
struct dpline_stream;

DPLINE_PUBLIC int dpline_stream_read_from(struct dpline_stream **stream, const char *port, struct dpline_error *error);
DPLINE_PUBLIC int dpline_stream_write_to(struct dpline_stream **stream, const char *port, struct dpline_error *error);

/* The next frame: 1; 0 at the end of input between frames; or an error. */
DPLINE_PUBLIC int dpline_stream_read(struct dpline_stream *stream, struct dpline_frame *frame, struct dpline_error *error);

/* DPLINE_E_UNSAFE: a lap that is not released, to a terminal. */
DPLINE_PUBLIC int dpline_stream_write(struct dpline_stream *stream, const struct dpline_frame *frame,
                                      struct dpline_error *error);

/* Ends the output. Without this call an output file is not created. */
DPLINE_PUBLIC int dpline_stream_commit(struct dpline_stream *stream, struct dpline_error *error);
DPLINE_PUBLIC void dpline_stream_free(struct dpline_stream *stream); /* NULL is fine */

#ifdef __cplusplus
}
#endif

#endif
