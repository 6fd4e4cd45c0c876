/* Rows that are made of the cells of a table each time they are read, from a data set of storage "cells". A row of cosines and
 * products (data/features.h) has tens of entries for each cell, so the rows of a large table are long to write and to read.
 * The schema that the data set carries (data/carried.h) makes the rows, by the functions of an import: they have the same bits
 * as the rows of a dense data set. */
#pragma once

#include "base/err.h"
#include "math/vec.h"

struct dp_row_maker;

/* schema: as dp_carried_take; name: for messages. DP_E_RUN: not such a text, or its rows are not made of numbers and categories
 * (dp_features_no_cells). The caller frees *maker with dp_row_maker_close. */
int dp_row_maker_open(struct dp_row_maker **maker, const char *schema, const char *name, struct dp_err *err);
void dp_row_maker_close(struct dp_row_maker *maker);

size_t dp_row_maker_cells(const struct dp_row_maker *maker); /* of a row, as dp_features_cells */
size_t dp_row_maker_cols(const struct dp_row_maker *maker);  /* entries of the row that is made */

/* The row of these cells; NULL: a null row. The row stays as it is until the same thread has made DP_ROW_MAKER_KEPT more. Cells
 * that no import writes make a row of zeros. Threads may call this at the same time. */
#define DP_ROW_MAKER_KEPT 256
struct dp_row dp_row_maker_row(const struct dp_row_maker *maker, const double *values);
