/* The bytes of a file or of standard input, decompressed where they are compressed by gzip, xz or zstd. */
#ifndef DP_DATA_INPUT_H
#define DP_DATA_INPUT_H

#include <stddef.h>

#include "base/err.h"

struct dp_input;

/* "-" is standard input. Names formats that it cannot read: other compressions, archives, workbooks. */
int dp_input_open(struct dp_input **input, const char *path, struct dp_err *err);

#define DP_INPUT_DIGEST 32

/* BLAKE2b of all bytes that were read so far, as they are when decompressed. */
void dp_input_digest(struct dp_input *input, unsigned char digest[DP_INPUT_DIGEST]);

/* input may be NULL. */
void dp_input_close(struct dp_input *input);

/* What messages call it: path, or "standard input". Borrowed from dp_input_open. */
const char *dp_input_name(const struct dp_input *input);

/* wait is called before a read that finds nothing there yet, and what it returns ends the reading unless it is 0. NULL: nobody
   is told. */
void dp_input_before_wait(struct dp_input *input, int (*wait)(void *self, struct dp_err *err), void *self);

/* Up to size bytes; *got is 0 at the end only. Fails where a compressed file is damaged or cut short, and
   when a signal is pending (interrupt.h). Several compressed streams one after the other are one input. */
int dp_input_read(struct dp_input *input, void *bytes, size_t size, size_t *got, struct dp_err *err);

#endif
