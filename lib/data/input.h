/* The bytes of a file or of standard input. Input that is compressed by gzip, xz or zstd is decompressed. */
#pragma once

#include "base/err.h"

struct dp_input;

/* "-" is standard input. Refuses, by name, formats that it cannot read: other compressions, archives, workbooks. */
int dp_input_open(struct dp_input **input, const char *path, struct dp_err *err);

/* The rows of a query of an SQLite database (sqlite.h). */
int dp_input_open_query(struct dp_input **input, const char *path, const char *sql, struct dp_err *err);

#define DP_INPUT_DIGEST 32

/* BLAKE2b of all decompressed bytes that were read so far. */
void dp_input_digest(struct dp_input *input, unsigned char digest[DP_INPUT_DIGEST]);

/* input may be NULL. */
void dp_input_close(struct dp_input *input);

/* The size and modification time, in seconds since 1970, of a regular file that is not compressed. Fails for other input. */
int dp_input_file(const struct dp_input *input, uint64_t *size, int64_t *modified, struct dp_err *err);

/* The offset in such a file of the next byte that is read, and another offset for it. */
uint64_t dp_input_at(const struct dp_input *input);
int dp_input_go(struct dp_input *input, uint64_t offset, struct dp_err *err);

/* The name for messages: the path given to dp_input_open, borrowed, or "standard input". */
const char *dp_input_name(const struct dp_input *input);

/* Sets a callback: wait is called before a read that has to wait for input. If wait returns a status other than 0, the read
 * ends with it. NULL: no callback. */
void dp_input_before_wait(struct dp_input *input, int (*wait)(void *self, struct dp_err *err), void *self);

/* Reads up to size bytes; *got is 0 only at the end. Fails if a compressed file is damaged or truncated, or if a signal is
 * pending (interrupt.h). Several compressed streams in sequence are one input. */
int dp_input_read(struct dp_input *input, void *bytes, size_t size, size_t *got, struct dp_err *err);
