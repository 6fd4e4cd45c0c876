/* Writes rows as a stream of frames (dp-frame(5), A stream of rows): a few hundred in each, or fewer when the producer has to
 * wait. */
#ifndef DP_ARRIVALS_ROW_WRITER_H
#define DP_ARRIVALS_ROW_WRITER_H

#include "data/row_facts.h"
#include "port/port.h"

#define DP_ROWS_TOGETHER 256 /* at most in one frame */

struct dp_row_writer;

/* The port stays the caller's. Writes the hello frame. */
int dp_row_writer_open(struct dp_row_writer **writer, struct dp_port *port, const struct dp_row_facts *facts,
                       struct dp_err *err);

/* x: cols entries. */
int dp_row_writer_put(struct dp_row_writer *writer, const float *x, double y, struct dp_err *err);

/* Writes the rows that were put. DP_E_RUN: nobody reads them any more, or writing fails. */
int dp_row_writer_flush(struct dp_row_writer *writer, struct dp_err *err);

/* The rest and the end frame. */
int dp_row_writer_end(struct dp_row_writer *writer, struct dp_err *err);

/* After a failure with that status: readers are told that no more will come, and not why. */
void dp_row_writer_fail(struct dp_row_writer *writer, int status);

/* writer may be NULL. */
void dp_row_writer_close(struct dp_row_writer *writer);

#endif
