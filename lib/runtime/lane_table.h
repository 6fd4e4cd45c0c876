/* The lanes of a run: a table (data/table.h) with a line for each, and texts in which {name} stands for what the line has in
 * that column. Columns `seed` and `laps` are options of the same name; {lane} is the number of the line. */
#ifndef DP_RUNTIME_LANE_TABLE_H
#define DP_RUNTIME_LANE_TABLE_H

#include "data/table.h"
#include "runtime/loop.h"

struct dp_lane_table {
    struct dp_table rows;
    struct dp_lane_texts {
        char *pipeline, *model, *init, *plan;
        int64_t seed, laps;
    } * lane; /* rows.count */
};

/* Reads loop->options.lanes and fills the texts of all lanes. The caller starts it zeroed and closes it, whatever this returns.
   DP_E_RUN: the file is no such table. DP_E_USAGE: the options do not go with lanes; a text names no column, or none names a
   column; a lane's pipeline needs a shell or waits for others; two lanes have one model's file. */
int dp_lane_table_open(struct dp_lane_table *table, const struct dp_loop *loop, struct dp_err *err);
void dp_lane_table_close(struct dp_lane_table *table);

/* Makes a copy of the loop that lane's: 0 ≤ lane < rows.count. The texts stay the table's. */
void dp_lane_table_take(const struct dp_lane_table *table, size_t lane, struct dp_loop *loop);

#endif
