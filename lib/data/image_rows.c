#include "data/image_rows.h"

#include <sys/stat.h>

#include "base/mem.h"
#include "data/row_facts.h"
#include "data/zip.h"

/* From here on the columns of the schema are the features. */
static void replace_columns(struct dp_schema *s, size_t columns)
{
    struct dp_column *column = dp_new(columns, sizeof *column);
    for (size_t j = 0; j < columns; j++)
        column[j] = (struct dp_column){.bounded = true, .low = -1, .high = 1};
    free(s->column); /* columns of pixels own no text */
    s->column = column;
    s->columns = columns;
}

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
    replace_columns(&plan->schema, r->map.columns - 1);
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

struct stream {
    struct dp_import import;
    struct dp_image_rows rows;
    const struct dp_image_sink *to;
    float *row;
    size_t count;
};

static int put_in_sink(void *self, const double *x, double y, struct dp_err *err)
{
    struct stream *s = self;
    const struct dp_row_length length = {.norm = DP_NORM_UNIT, .cols = s->rows.map.columns};
    (void)y;
    int rc = dp_row_shorten(&length, x, ++s->count, s->row, err);
    const struct dp_row row = dp_row_dense(s->row, s->rows.map.columns);
    return rc ?: s->to->row(s->to->self, &row, err);
}

/* Before the first image: its shape is known now. */
static int begin(struct stream *s, struct dp_err *err)
{
    char unit[DP_ROW_NORM_TEXT], row_norm[DP_MAP_NAME + 2 + DP_ROW_NORM_TEXT];
    int rc = dp_image_rows_start(&s->rows, s->import.map, s->import.plan.shape, err);
    s->rows.put = put_in_sink;
    if (rc == DP_OK) {
        dp_map_finish(&s->rows.map);
        s->row = dp_new(s->rows.map.columns, sizeof *s->row);
    }
    dp_row_norm_text(dp_row_norms[DP_NORM_UNIT], 0, true, DP_BASIS_NONE, false, unit);
    snprintf(row_norm, sizeof row_norm, "%s, %s", s->rows.map.name, unit);
    const struct dp_row_facts facts = {.cols = s->rows.map.columns, .row_norm = row_norm};
    return rc ?: s->to->begin(s->to->self, &facts, err);
}

static int put_image(void *self, const struct dp_parsed *record, struct dp_err *err)
{
    struct stream *s = self;
    int rc = s->row == NULL ? begin(s, err) : DP_OK;
    return rc ?: dp_image_rows_add(&s->rows, record, s, err);
}

/* Whether the images are in files of their own: in a directory, an archive, or a folder in an archive. */
static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? S_ISDIR(st.st_mode) || dp_zip_is(path) : errno == ENOTDIR;
}

int dp_image_rows_stream(const char *path, enum dp_map_kind kind, int threads, const struct dp_image_sink *to,
                         struct dp_err *err)
{
    struct stream s = {.import = {.source.format = DP_IMPORT_IDX, .source.input = path, .map = kind, .unlabelled = true},
                       .to = to};
    const struct dp_import_sink sink = {.self = &s, .put = put_image};
    int rc = DP_OK;
#pragma omp parallel num_threads(threads)
#pragma omp master
    {
        rc = (is_folder(path) ? dp_read_images : dp_read_idx)(&s.import, &sink, err);
        rc = rc ?: dp_image_rows_flush(&s.rows, err);
        dp_image_rows_close(&s.rows);
    }
    dp_import_free(&s.import);
    free(s.row);
    return rc;
}
