/* Rows that are features of images. Images are gathered and mapped together, by tasks of OpenMP (images/map.h), and handed on in
 * their order, to the writer of a data set or to a model, while the next ones are mapped. */
#pragma once

#include "data/import.h"
#include "images/map.h"

#define DP_IMAGE_ROWS 512 /* images that are mapped together */

/* Starts zeroed. */
struct dp_image_rows {
    struct dp_map map;
    int (*put)(void *to, const double *x, double y, struct dp_err *err); /* takes a row, before it is scaled to norm 1 */
    double *x;                                                           /* one row */
    int16_t *scratch;                                                    /* of the map */
    struct dp_image_batch {
        size_t held;
        unsigned char *images;
        float *rows;
        double label[DP_IMAGE_ROWS];
        void *to[DP_IMAGE_ROWS];
    } next, mapped; /* the images that are gathered, and the ones that are mapped */
};

/* Starts to make the map for the shape of the images, which is known at the first record. */
int dp_image_rows_start(struct dp_image_rows *rows, enum dp_map_kind map, struct dp_image_shape shape, struct dp_err *err);

/* Completes the map, after all records are read. The columns of the schema become the features, and the constant of the map
 * becomes the bias; rows are scaled to norm 1. Sets the import's features_name. */
void dp_image_rows_open(struct dp_image_rows *rows, struct dp_row_plan *plan);

/* Adds the image of a record, with its pixels as values. to: a struct dp_writer, or another object that put takes. */
int dp_image_rows_add(struct dp_image_rows *rows, const struct dp_parsed *record, void *to, struct dp_err *err);

/* Hands on the images that wait. */
int dp_image_rows_flush(struct dp_image_rows *rows, struct dp_err *err);

void dp_image_rows_close(struct dp_image_rows *rows);
