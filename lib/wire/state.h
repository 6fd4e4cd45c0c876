/* What a stage keeps between laps, as named values: for a checkpoint. In a file it is one msgpack map, whose arrays are
   byte strings of little-endian numbers. */
#ifndef DP_WIRE_STATE_H
#define DP_WIRE_STATE_H

#include <msgpack.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define DP_STATE_VALUES 32
#define DP_STATE_NAME 32

enum dp_state_kind { DP_STATE_INT, DP_STATE_REAL, DP_STATE_BYTES };

struct dp_state_value {
    char name[DP_STATE_NAME];
    enum dp_state_kind kind;
    int64_t whole;
    double real;
    const void *bytes; /* borrowed: of whoever put them, or of the text that was decoded */
    size_t size;
};

struct dp_state {
    int count;
    struct dp_state_value value[DP_STATE_VALUES];
};

/* Putting: names are unlike one another and at most DP_STATE_NAME − 1 bytes, values at most DP_STATE_VALUES; more is a
   mistake in a program, and fails when the state is encoded. Bytes are borrowed. */
void dp_state_put_int(struct dp_state *state, const char *name, int64_t whole);
void dp_state_put_real(struct dp_state *state, const char *name, double real);
void dp_state_put_bytes(struct dp_state *state, const char *name, const void *bytes, size_t size);
void dp_state_put_text(struct dp_state *state, const char *name, const char *text);
void dp_state_put_reals(struct dp_state *state, const char *name, const double *reals, size_t count);
void dp_state_put_ints(struct dp_state *state, const char *name, const int64_t *ints, size_t count);

bool dp_state_has(const struct dp_state *state, const char *name);

/* Getting: DP_E_RUN where there is no such value, it is of another kind, or out of its range. */
int dp_state_get_int(const struct dp_state *state, const char *name, int64_t min, int64_t max, int64_t *whole,
                     struct dp_err *err);
int dp_state_get_real(const struct dp_state *state, const char *name, double *real, struct dp_err *err);
int dp_state_get_bytes(const struct dp_state *state, const char *name, const void **bytes, size_t *size, struct dp_err *err);
/* Copies; longer than size − 1, or with a NUL inside, is an error. */
int dp_state_get_text(const struct dp_state *state, const char *name, char *text, size_t size, struct dp_err *err);
/* *reals is the caller's to free; it is NULL where count is 0. */
int dp_state_get_reals(const struct dp_state *state, const char *name, double **reals, size_t *count, struct dp_err *err);
int dp_state_get_ints(const struct dp_state *state, const char *name, int64_t **ints, size_t *count, struct dp_err *err);

int dp_state_encode(const struct dp_state *state, msgpack_sbuffer *buffer, struct dp_err *err);

/* Takes exactly one map; byte strings are borrowed from `bytes`. */
int dp_state_decode(struct dp_state *state, const char *bytes, size_t size, struct dp_err *err);

#endif
