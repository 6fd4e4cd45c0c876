/* Frames to and from msgpack. */
#ifndef DP_WIRE_CODEC_H
#define DP_WIRE_CODEC_H

#include <msgpack.h>
#include <stddef.h>

#include "base/err.h"
#include "wire/frame.h"

/* Limits on what comes in, checked on the headers before anything is allocated for it. */
#define DP_LIMIT_FRAME ((size_t)1 << 30) /* bytes in a frame */
#define DP_LIMIT_DEPTH 4                 /* nesting */
#define DP_LIMIT_ITEMS 256               /* entries of a map or a list */
#define DP_LIMIT_LAP ((int64_t)1 << 40)  /* laps address randomness in 40 bits */
#define DP_LIMIT_TEXT ((size_t)1 << 20)  /* bytes in a string */

#define DP_EXT_ARRAY 1 /* msgpack ext type: u8 dtype, u8 ndim, ndim × u64 dims, data; all little endian */

/* Walks the headers of one msgpack value. Returns 1 and its *length when it is complete, 0 when more bytes are needed
   (at least *length of them in all), or a negative status when it cannot become a frame. Allocates nothing. */
int dp_wire_scan(const char *bytes, size_t size, size_t *length, struct dp_err *err);

/* Appends the frame to the buffer. */
int dp_wire_encode(msgpack_sbuffer *buffer, const struct dp_frame *frame, struct dp_err *err);

/* Decodes exactly one scanned frame of `length` bytes. Unknown keys, wrong types and doubled keys are errors. */
int dp_wire_decode(struct dp_frame *frame, const char *bytes, size_t length, struct dp_err *err);

#endif
