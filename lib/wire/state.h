/* The state of a stage between laps, as named values, for a checkpoint. In a file it is one msgpack map, whose arrays are byte
 * strings of little-endian numbers. */
#pragma once

#include <msgpack.h>

#include "base/err.h"

#define DP_STATE_VALUES 32
#define DP_STATE_NAME 32

enum dp_state_kind { DP_STATE_INT, DP_STATE_REAL, DP_STATE_BYTES };

struct dp_state_value {
    char name[DP_STATE_NAME];
    enum dp_state_kind kind;
    int64_t whole;
    double real;
    const void *bytes; /* borrowed from the caller of dp_state_put_*, or from the decoded bytes */
    size_t size;
};

struct dp_state {
    int count;
    struct dp_state_value value[DP_STATE_VALUES];
};

/* Setters. Names are distinct and have at most DP_STATE_NAME − 1 bytes; there are at most DP_STATE_VALUES values. Anything else
 * is a programming error, and dp_state_encode fails. Bytes are borrowed. */
void dp_state_put_int(struct dp_state *state, const char *name, int64_t whole);
void dp_state_put_real(struct dp_state *state, const char *name, double real);
void dp_state_put_bytes(struct dp_state *state, const char *name, const void *bytes, size_t size);
void dp_state_put_text(struct dp_state *state, const char *name, const char *text);
void dp_state_put_reals(struct dp_state *state, const char *name, const double *reals, size_t count);
void dp_state_put_ints(struct dp_state *state, const char *name, const int64_t *ints, size_t count);

bool dp_state_has(const struct dp_state *state, const char *name);

/* Getters. DP_E_RUN: there is no such value, or it is of another type or out of range. */
int dp_state_get_int(const struct dp_state *state, const char *name, int64_t min, int64_t max, int64_t *whole,
                     struct dp_err *err);
int dp_state_get_real(const struct dp_state *state, const char *name, double *real, struct dp_err *err);
int dp_state_get_bytes(const struct dp_state *state, const char *name, const void **bytes, size_t *size, struct dp_err *err);
/* Copies the text. DP_E_RUN, too: it is longer than size − 1, or contains a NUL. */
int dp_state_get_text(const struct dp_state *state, const char *name, char *text, size_t size, struct dp_err *err);
/* The caller frees *reals, which is NULL if count is 0. */
int dp_state_get_reals(const struct dp_state *state, const char *name, double **reals, size_t *count, struct dp_err *err);
int dp_state_get_ints(const struct dp_state *state, const char *name, int64_t **ints, size_t *count, struct dp_err *err);

int dp_state_encode(const struct dp_state *state, msgpack_sbuffer *buffer, struct dp_err *err);

/* Decodes exactly one map. Byte strings are borrowed from `bytes`. */
int dp_state_decode(struct dp_state *state, const char *bytes, size_t size, struct dp_err *err);
