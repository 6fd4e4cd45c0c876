/* Writes messages of Protocol Buffers: fields in the wire format of protobuf.dev/programming-guides/encoding. */
#pragma once

#include "base/err.h"

/* A message in memory, whose fields go to `out`. Starts zeroed. */
struct proto {
    FILE *out;
    char *bytes;
    size_t size;
};

/* proto_close writes the message as a field of `into` and frees it; if it was never opened, it does nothing. */
void proto_open(struct proto *message);
void proto_close(struct proto *message, FILE *into, unsigned field);

void proto_number(FILE *out, unsigned field, uint64_t value);
void proto_float(FILE *out, unsigned field, double value);
void proto_text(FILE *out, unsigned field, const char *text);

/* count floats as one field of bytes, little-endian. */
void proto_floats(FILE *out, unsigned field, const double *value, size_t count);
