#include "images/map.h"

#include "base/mem.h"
#include "images/leaves.h"

#define SEED 1
#define IMAGES ((size_t)5000)
#define RIDGE 0.1
#define CONSTANT 0.3f
#define LANES 8
#define TOGETHER ((size_t)64) /* synthetic images of a task */

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

/* Rows of synthetic images, from number `from` on. */
static void synthetic_rows(const struct dp_map *map, size_t from, size_t columns, float *rows)
{
    unsigned char image[3 * DP_IMAGE_SIDE_MOST * DP_IMAGE_SIDE_MOST];
    for (size_t i = from; i < IMAGES && i < from + TOGETHER; i++) {
        dp_leaves_image(map->shape, SEED, i, image);
        map_row(map, image, rows + i * columns);
    }
}

static void print_name(struct dp_map *map)
{
    struct dp_image_shape shape = map->shape;
    snprintf(map->name, sizeof map->name, "%s:v1 %zux%zu%s seed %d", names[map->kind], shape.height, shape.width,
             shape.channels == 3 ? "x3" : "", SEED);
}

int dp_map_start(struct dp_map *map, enum dp_map_kind kind, struct dp_image_shape shape, struct dp_err *err)
{
    int rc = kind == DP_MAP_HOG ? dp_hog_open(&map->hog, shape, err) : dp_scatter_open(&map->scatter, shape, err);
    if (rc != DP_OK)
        return rc;
    map->kind = kind;
    map->shape = shape;
    map->entries = kind == DP_MAP_HOG ? map->hog.columns : map->scatter.columns;
    map->columns = map->entries + 1;
    print_name(map);
    size_t columns = dp_whitener_columns(map->entries);
    map->synthetic = dp_new(IMAGES * columns, sizeof *map->synthetic);
    for (size_t i = 0; i < IMAGES; i += TOGETHER) {
#pragma omp task
        synthetic_rows(map, i, columns, map->synthetic);
    }
    return rc;
}

void dp_map_finish(struct dp_map *map)
{
#pragma omp taskwait
    dp_whitener_open(&map->whitener, map->synthetic, IMAGES, dp_whitener_columns(map->entries), RIDGE);
    free(map->synthetic);
    map->synthetic = NULL;
}

/* Rows of norm √(1 − CONSTANT²) and a constant. */
static void finish(float *row, size_t entries)
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

static void some_rows(const struct dp_map *map, const unsigned char *images, size_t count, float *rows, int16_t *scratch)
{
    for (size_t r = 0; r < count; r++)
        map_row(map, images + r * dp_image_bytes(map->shape), rows + r * map->columns);
    dp_whitener_apply(&map->whitener, rows, count, map->entries, map->columns, scratch);
    for (size_t r = 0; r < count; r++)
        finish(rows + r * map->columns, map->entries);
}

size_t dp_map_scratch(const struct dp_map *map, size_t count)
{
    return (count + DP_WHITENER_ROWS) * dp_whitener_columns(map->entries);
}

void dp_map_rows(const struct dp_map *map, const unsigned char *images, size_t count, float *rows, int16_t *scratch)
{
    for (size_t from = 0; from < count; from += DP_WHITENER_ROWS) {
        size_t some = count - from < DP_WHITENER_ROWS ? count - from : DP_WHITENER_ROWS;
#pragma omp task
        some_rows(map, images + from * dp_image_bytes(map->shape), some, rows + from * map->columns,
                  scratch + from * map->whitener.columns);
    }
}

void dp_map_close(struct dp_map *map)
{
#pragma omp taskwait
    dp_whitener_close(&map->whitener);
    free(map->synthetic);
    *map = (struct dp_map){0};
}
