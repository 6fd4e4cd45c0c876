#include "images/map.h"

#include <omp.h>

#include "base/mem.h"
#include "images/leaves.h"
#include "math/clones.h"

#define SEED 1
#define IMAGES ((size_t)5000)
#define RIDGE 0.1
#define CONSTANT 0.3f
#define LANES 8

static const char *const names[] = {"", "hog", "scatter"};

enum dp_map_kind dp_map_named(const char *name)
{
    for (int kind = DP_MAP_HOG; kind <= DP_MAP_SCATTER; kind++) {
        size_t length = strlen(names[kind]);
        if (strncmp(name, names[kind], length) == 0 && name[length] == ':')
            return (enum dp_map_kind)kind;
    }
    return DP_MAP_NONE;
}

int dp_map_fits(enum dp_map_kind kind, struct dp_image_shape shape, struct dp_err *err)
{
    return kind == DP_MAP_NONE ? DP_OK : dp_image_fits(shape, names[kind], err);
}

static void map_row(const struct dp_map *map, const unsigned char *image, float *row)
{
    if (map->kind == DP_MAP_HOG)
        dp_hog_row(&map->hog, image, row);
    else
        dp_scatter_row(&map->scatter, image, row);
}

/* rows: IMAGES × columns of the whitener. */
static int synthetic_rows(const struct dp_map *map, size_t columns, int threads, float *rows, struct dp_err *err)
{
    struct dp_image_shape shape = map->shape;
    size_t bytes = dp_image_bytes(shape);
    unsigned char *images;
    int rc = dp_alloc(&images, IMAGES, bytes, err);
    if (rc != DP_OK)
        return rc;
#pragma omp parallel for schedule(dynamic, 16) num_threads(threads)
    for (size_t i = 0; i < IMAGES; i++) {
        dp_leaves_image(shape, SEED, i, images + i * bytes);
        map_row(map, images + i * bytes, rows + i * columns);
    }
    free(images);
    return DP_OK;
}

static void print_name(struct dp_map *map)
{
    struct dp_image_shape shape = map->shape;
    snprintf(map->name, sizeof map->name, "%s:v1 %zux%zu%s seed %d", names[map->kind], shape.height, shape.width,
             shape.channels == 3 ? "x3" : "", SEED);
}

int dp_map_open(struct dp_map *map, enum dp_map_kind kind, struct dp_image_shape shape, int threads, struct dp_err *err)
{
    float *rows = NULL;
    int rc = kind == DP_MAP_HOG ? dp_hog_open(&map->hog, shape, err) : dp_scatter_open(&map->scatter, shape, err);
    if (rc != DP_OK)
        return rc;
    map->kind = kind;
    map->shape = shape;
    map->entries = kind == DP_MAP_HOG ? map->hog.columns : map->scatter.columns;
    size_t columns = dp_whitener_columns(map->entries);
    map->columns = map->entries + 1;
    print_name(map);
    rc = dp_alloc(&rows, IMAGES * columns, sizeof *rows, err);
    if (rc == DP_OK)
        rc = synthetic_rows(map, columns, threads, rows, err);
    if (rc == DP_OK)
        rc = dp_whitener_open(&map->whitener, rows, IMAGES, columns, RIDGE, threads, err);
    free(rows);
    return rc;
}

/* Rows of norm √(1 − CONSTANT²) and a constant. */
CLONES static void finish(float *row, size_t entries)
{
    double squares[LANES] = {0}, sum = 0;
    size_t whole = entries / LANES * LANES;
    for (size_t j = 0; j < whole; j += LANES)
        for (size_t k = 0; k < LANES; k++)
            squares[k] += (double)row[j + k] * (double)row[j + k];
    for (size_t j = whole; j < entries; j++)
        sum += (double)row[j] * (double)row[j];
    for (size_t k = 0; k < LANES; k++)
        sum += squares[k];
    float factor = sum > 0 ? (float)sqrt((1 - (double)CONSTANT * (double)CONSTANT) / sum) : 0;
    for (size_t j = 0; j < entries; j++)
        row[j] *= factor;
    row[entries] = CONSTANT;
}

/* space: for the whitener. */
static void some_rows(const struct dp_map *map, const unsigned char *images, size_t count, int16_t *space, float *rows)
{
    for (size_t r = 0; r < count; r++)
        map_row(map, images + r * dp_image_bytes(map->shape), rows + r * map->columns);
    dp_whitener_apply(&map->whitener, rows, count, map->entries, map->columns, space);
    for (size_t r = 0; r < count; r++)
        finish(rows + r * map->columns, map->entries);
}

int dp_map_rows(const struct dp_map *map, const unsigned char *images, size_t count, int threads, float *rows,
                int (*meanwhile)(void *self, struct dp_err *err), void *self, struct dp_err *err)
{
    size_t bytes = dp_image_bytes(map->shape), space = map->whitener.columns * DP_WHITENER_ROWS;
    int16_t *x;
    int rc = dp_alloc(&x, (size_t)threads, space * sizeof *x, err);
    if (rc != DP_OK)
        return rc;
#pragma omp parallel num_threads(threads)
    {
#pragma omp master
        rc = meanwhile != NULL ? meanwhile(self, err) : DP_OK;
#pragma omp for schedule(dynamic)
        for (size_t from = 0; from < count; from += DP_WHITENER_ROWS) {
            size_t some = count - from < DP_WHITENER_ROWS ? count - from : DP_WHITENER_ROWS;
            some_rows(map, images + from * bytes, some, x + (size_t)omp_get_thread_num() * space, rows + from * map->columns);
        }
    }
    free(x);
    return rc;
}

void dp_map_close(struct dp_map *map)
{
    dp_whitener_close(&map->whitener);
    *map = (struct dp_map){0};
}
