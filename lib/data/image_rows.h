/* Rows of a data set that are features of images: images are gathered, mapped together by several threads, and written in their
 * order. */
#ifndef DP_DATA_IMAGE_ROWS_H
#define DP_DATA_IMAGE_ROWS_H

#include "data/import.h"
#include "images/map.h"

#define DP_IMAGE_ROWS 512 /* images that are mapped together */

/* Starts zeroed. */
struct dp_image_rows {
    struct dp_map map;
    int threads;
    size_t held;           /* images that wait */
    unsigned char *images; /* DP_IMAGE_ROWS images */
    float *rows;           /* their rows */
    double *x;             /* one row */
    double label[DP_IMAGE_ROWS];
    struct dp_writer *to[DP_IMAGE_ROWS];
};

/* Makes the map for the shape of the import. The columns of the schema become the features, and the constant of the map becomes
 * the bias; rows are scaled to norm 1. Sets the import's features_name. */
int dp_image_rows_open(struct dp_image_rows *rows, struct dp_import *import, struct dp_err *err);

/* Adds the image of a record, with its pixels as values. */
int dp_image_rows_add(struct dp_image_rows *rows, const struct dp_parsed *record, struct dp_writer *to, struct dp_err *err);

/* Writes the images that wait. */
int dp_image_rows_flush(struct dp_image_rows *rows, struct dp_err *err);

void dp_image_rows_close(struct dp_image_rows *rows);

#endif
