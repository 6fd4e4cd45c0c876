/* Writes rows as a stream of frames (dp-frame(5), A stream of rows): a few hundred in each, or fewer when the producer has to
 * wait. */
#pragma once

#include "data/row_facts.h"
#include "port/port.h"

#define DP_ROWS_TOGETHER 256 /* the most rows of one frame */

struct dp_row_writer;

/* Writes the hello frame. The port is borrowed. */
int dp_row_writer_open(struct dp_row_writer **writer, struct dp_port *port, const struct dp_row_facts *facts,
                       struct dp_err *err);

/* x: cols entries. */
int dp_row_writer_put(struct dp_row_writer *writer, const float *x, double y, struct dp_err *err);

/* Writes the rows that were put. DP_E_RUN: the reader is gone, or writing fails. */
int dp_row_writer_flush(struct dp_row_writer *writer, struct dp_err *err);

/* Writes the remaining rows and the end frame. */
int dp_row_writer_end(struct dp_row_writer *writer, struct dp_err *err);

/* Tells readers that no more rows will come, but not why. status: of the failure. */
void dp_row_writer_fail(struct dp_row_writer *writer, int status);

/* writer may be NULL. */
void dp_row_writer_close(struct dp_row_writer *writer);
