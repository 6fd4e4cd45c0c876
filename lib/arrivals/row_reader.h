/* Reads a stream of rows (dp-frame(5), A stream of rows). Every row comes once: frames are numbered consecutively, and a stream
 * with a missing or repeated frame is refused. */
#pragma once

#include "data/row_facts.h"
#include "port/port.h"

struct dp_row_reader;

/* Some rows, borrowed until the next call. */
struct dp_rows {
    size_t count, cols;
    const float *x;  /* count × cols */
    const double *y; /* count: finite, with classes one of 0, 1, …; NAN for a null row */
};

/* The port is borrowed; messages call it `name`. */
void dp_row_reader_open(struct dp_row_reader **reader, struct dp_port *port, const char *name);

/* The next rows, one or more. Returns 1, or 0 after the end frame, or DP_PORT_UNREAD. DP_E_UPSTREAM: the sender has failed or
 * is gone; DP_E_UNSAFE: a frame is missing or came twice; DP_E_RUN: not such a stream. */
int dp_row_reader_next(struct dp_row_reader *reader, struct dp_rows *rows, struct dp_err *err);

/* The facts of the rows, after the first frame; the same for all rows. */
const struct dp_row_facts *dp_row_reader_facts(const struct dp_row_reader *reader);

/* reader may be NULL. */
void dp_row_reader_close(struct dp_row_reader *reader);
