/* Frames to and from msgpack. */
#pragma once

#include <msgpack.h>

#include "base/err.h"
#include "wire/frame.h"

/* Limits on incoming frames, checked on the heads of values before any allocation. They leave room beyond the needs of
   wire/schema.h: a map of some fifty fields, one of which is a list of maps. */
#define DP_LIMIT_FRAME ((size_t)1 << 30) /* bytes in a frame */
#define DP_LIMIT_DEPTH 3                 /* the frame, the list of records, a record; no other field nests */
#define DP_LIMIT_ENTRIES 256             /* entries of a map or a list */
#define DP_LIMIT_ITEMS 4096              /* values in a frame, with keys, lists and maps */
#define DP_LIMIT_TEXT ((size_t)1 << 20)  /* bytes in a string */

#define DP_EXT_ARRAY 1 /* msgpack ext type: u8 dtype, u8 ndim, ndim × u64 dims, data; all little endian */

/* State of a scan that waits for more bytes. Starts zeroed. */
struct dp_scan {
    size_t at;                            /* bytes scanned so far */
    uint64_t pending[DP_LIMIT_DEPTH + 1]; /* values still expected at each depth */
    int depth;
    bool begun;
    size_t items;
    size_t key, key_length; /* position of the last key of the frame */
    bool nests;             /* the value of that key may be a list */
};

/* Scans the heads of the values of a frame, which begins at bytes[0]. Returns 1 and the frame's *length when the frame is
 * complete; the scan is then ready for another frame. Returns 0 when more bytes are needed, at least *length in all: pass the
 * same bytes, which may have moved, with more at the end, and the scan continues where it stopped. Returns a negative status
 * when the bytes cannot become a frame. Allocates nothing. */
int dp_wire_scan(struct dp_scan *scan, const char *bytes, size_t size, size_t *length, struct dp_err *err);

/* Appends the bytes to a msgpack_sbuffer: 0. A packer writes with it. */
int dp_wire_put(void *buffer, const char *bytes, size_t length);

int dp_wire_encode(msgpack_sbuffer *buffer, const struct dp_frame *frame, struct dp_err *err);

/* Decodes exactly one scanned frame of `length` bytes. Unknown keys, wrong types and doubled keys are errors. Allocates only
 * the frame's texts and arrays. */
int dp_wire_decode(struct dp_frame *frame, const char *bytes, size_t length, struct dp_err *err);

/* Scans and decodes bytes that must be exactly one frame. */
int dp_wire_read(struct dp_frame *frame, const char *bytes, size_t size, struct dp_err *err);
