/* Frames to and from msgpack. */
#ifndef DP_WIRE_CODEC_H
#define DP_WIRE_CODEC_H

#include <msgpack.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "wire/frame.h"

/* Limits on what comes in, checked on the heads of values before anything is allocated for them. They leave room around
   what wire/schema.h has: a map of some fifty fields, one of which is a list of maps. */
#define DP_LIMIT_FRAME ((size_t)1 << 30) /* bytes in a frame */
#define DP_LIMIT_DEPTH 3                 /* the frame, the list of records, a record; no other field nests */
#define DP_LIMIT_ENTRIES 256             /* of a map or a list */
#define DP_LIMIT_ITEMS 4096              /* values in a frame, keys, lists and maps included */
#define DP_LIMIT_LAP ((int64_t)1 << 40)  /* laps address randomness in 40 bits */
#define DP_LIMIT_TEXT ((size_t)1 << 20)  /* bytes in a string */

#define DP_EXT_ARRAY 1 /* msgpack ext type: u8 dtype, u8 ndim, ndim × u64 dims, data; all little endian */

/* Where a scan stands that waits for more bytes. Starts zeroed. */
struct dp_scan {
    size_t at;                            /* bytes that have been looked at */
    uint64_t pending[DP_LIMIT_DEPTH + 1]; /* values to come at each depth */
    int depth;
    bool begun;
    size_t items;
    size_t key, key_length; /* where the last key of the frame is */
    bool nests;             /* its value may be a list */
};

/* Walks the heads of the values of a frame, which begins at bytes[0]. Returns 1 and its *length when it is complete, and
   the scan is ready for another frame; 0 when more bytes are needed (at least *length of them in all): the next call has the
   same bytes, wherever they now are, and more, and goes on from where this one stood; or a negative status when it cannot
   become a frame. Allocates nothing. */
int dp_wire_scan(struct dp_scan *scan, const char *bytes, size_t size, size_t *length, struct dp_err *err);

/* Appends the frame to the buffer. */
int dp_wire_encode(msgpack_sbuffer *buffer, const struct dp_frame *frame, struct dp_err *err);

/* Decodes exactly one scanned frame of `length` bytes. Unknown keys, wrong types and doubled keys are errors. Takes memory
   for the frame's texts and arrays and for nothing else. */
int dp_wire_decode(struct dp_frame *frame, const char *bytes, size_t length, struct dp_err *err);

/* Scans and decodes bytes that are to be exactly one frame. */
int dp_wire_read(struct dp_frame *frame, const char *bytes, size_t size, struct dp_err *err);

#endif
