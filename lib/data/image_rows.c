#include "data/image_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* From here on the columns of the schema are the features. */
static int replace_columns(struct dp_schema *s, size_t columns, struct dp_err *err)
{
    struct dp_column *column;
    int rc = dp_alloc(&column, columns, sizeof *column, err);
    if (rc != DP_OK)
        return rc;
    for (size_t j = 0; j < columns; j++)
        column[j] = (struct dp_column){.bounded = true, .low = -1, .high = 1};
    free(s->column); /* columns of pixels own no text */
    s->column = column;
    s->columns = columns;
    return DP_OK;
}

int dp_image_rows_open(struct dp_image_rows *r, struct dp_import *import, struct dp_err *err)
{
    r->threads = import->threads;
    int rc = dp_map_open(&r->map, import->shape, r->threads, err);
    if (rc == DP_OK)
        rc = dp_alloc(&r->images, DP_IMAGE_ROWS, dp_image_bytes(import->shape), err);
    if (rc == DP_OK)
        rc = dp_alloc(&r->rows, DP_IMAGE_ROWS * r->map.columns, sizeof *r->rows, err);
    if (rc == DP_OK)
        rc = dp_alloc(&r->x, r->map.columns, sizeof *r->x, err);
    if (rc == DP_OK)
        rc = replace_columns(&import->schema, r->map.columns - 1, err);
    memcpy(import->features_name, r->map.name, sizeof r->map.name);
    import->bias = true;
    import->choose_norm = false;
    import->writer.norm = DP_NORM_UNIT;
    return rc;
}

int dp_image_rows_flush(struct dp_image_rows *r, struct dp_err *err)
{
    size_t columns = r->map.columns;
    int rc = dp_map_rows(&r->map, r->images, r->held, r->threads, r->rows, err);
    for (size_t i = 0; rc == DP_OK && i < r->held; i++) {
        for (size_t j = 0; j < columns; j++)
            r->x[j] = (double)r->rows[i * columns + j];
        rc = dp_writer_row(r->to[i], r->x, r->label[i], err);
    }
    r->held = 0;
    return rc;
}

int dp_image_rows_add(struct dp_image_rows *r, const struct dp_parsed *record, struct dp_writer *to, struct dp_err *err)
{
    size_t bytes = dp_image_bytes(r->map.hog.shape);
    unsigned char *image = r->images + r->held * bytes;
    memset(image, 0, bytes);
    for (uint32_t k = 0; k < record->count; k++)
        image[record->column[k]] = (unsigned char)record->value[k];
    r->label[r->held] = record->label;
    r->to[r->held++] = to;
    return r->held < DP_IMAGE_ROWS ? DP_OK : dp_image_rows_flush(r, err);
}

void dp_image_rows_close(struct dp_image_rows *r)
{
    dp_map_close(&r->map);
    free(r->images);
    free(r->rows);
    free(r->x);
    *r = (struct dp_image_rows){0};
}
