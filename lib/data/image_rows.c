#include "data/image_rows.h"

#include "base/mem.h"

static int put_in_writer(void *to, const double *x, double y, struct dp_err *err)
{
    return dp_writer_row(to, x, y, err);
}

int dp_image_rows_start(struct dp_image_rows *r, enum dp_map_kind map, struct dp_image_shape shape, struct dp_err *err)
{
    size_t bytes = DP_IMAGE_ROWS * dp_image_bytes(shape);
    r->put = put_in_writer;
    int rc = dp_map_start(&r->map, map, shape, err);
    size_t columns = r->map.columns;
    if (rc == DP_OK) {
        r->x = dp_new(columns, sizeof *r->x);
        r->next.images = dp_new(bytes, sizeof *r->next.images);
        r->mapped.images = dp_new(bytes, sizeof *r->mapped.images);
        r->next.rows = dp_new(DP_IMAGE_ROWS * columns, sizeof *r->next.rows);
        r->mapped.rows = dp_new(DP_IMAGE_ROWS * columns, sizeof *r->mapped.rows);
        r->scratch = dp_new(dp_map_scratch(&r->map, DP_IMAGE_ROWS), sizeof *r->scratch);
    }
    return rc;
}

void dp_image_rows_open(struct dp_image_rows *r, struct dp_row_plan *plan)
{
    dp_map_finish(&r->map);
    dp_schema_alike(&plan->schema, r->map.columns - 1, (struct dp_column){.bounded = true, .low = -1, .high = 1});
    memcpy(plan->features_name, r->map.name, sizeof r->map.name);
    plan->bias = true;
    plan->choose_norm = false;
    plan->norm = DP_NORM_UNIT;
}

static int put_mapped(struct dp_image_rows *r, struct dp_err *err)
{
    const struct dp_image_batch *batch = &r->mapped;
    size_t columns = r->map.columns;
    int rc = DP_OK;
    for (size_t i = 0; rc == DP_OK && i < batch->held; i++) {
        for (size_t j = 0; j < columns; j++)
            r->x[j] = (double)batch->rows[i * columns + j];
        rc = r->put(batch->to[i], r->x, batch->label[i], err);
    }
    return rc;
}

/* Has the gathered images mapped, while it hands on the rows of the ones before. */
static int map_next(struct dp_image_rows *r, struct dp_err *err)
{
#pragma omp taskwait
    dp_map_rows(&r->map, r->next.images, r->next.held, r->next.rows, r->scratch);
    int rc = put_mapped(r, err);
    struct dp_image_batch done = r->mapped;
    done.held = 0;
    r->mapped = r->next;
    r->next = done;
    return rc;
}

int dp_image_rows_flush(struct dp_image_rows *r, struct dp_err *err)
{
    int rc = map_next(r, err);
    return rc ?: map_next(r, err);
}

int dp_image_rows_add(struct dp_image_rows *r, const struct dp_parsed *record, void *to, struct dp_err *err)
{
    size_t bytes = dp_image_bytes(r->map.shape);
    unsigned char *image = r->next.images + r->next.held * bytes;
    memset(image, 0, bytes);
    for (uint32_t k = 0; k < record->count; k++)
        image[record->column[k]] = (unsigned char)record->value[k];
    r->next.label[r->next.held] = record->label;
    r->next.to[r->next.held++] = to;
    return r->next.held < DP_IMAGE_ROWS ? DP_OK : map_next(r, err);
}

void dp_image_rows_close(struct dp_image_rows *r)
{
    dp_map_close(&r->map);
    free(r->next.images);
    free(r->mapped.images);
    free(r->next.rows);
    free(r->mapped.rows);
    free(r->x);
    free(r->scratch);
    *r = (struct dp_image_rows){0};
}
