/* Public maps of images: the histograms against their definition, scattering against tests/vectors/scatter.tsv (made by
 * make-scatter.py), whitening against covariances, and bytes that must never change. */
#include "unit.h"

#include "images/leaves.h"
#include "images/map.h"

#define SIDE 16
#define IMAGES_HASH 0xfa0601d1586f0648u
#define ROWS_HASH 0xc869db1972c98512u
#define SCATTER_HASH 0xc50af0cf8a3e2722u

static void fill(unsigned char *image, size_t bytes, unsigned seed)
{
    for (size_t i = 0; i < bytes; i++)
        image[i] = (unsigned char)(rand_r(&seed) >> 4);
}

/* The pixel at a place, where the edge is repeated. */
static double pixel(const unsigned char *image, int i, int j, int k, int channels)
{
    i = i < 0 ? 0 : i >= SIDE ? SIDE - 1 : i;
    j = j < 0 ? 0 : j >= SIDE ? SIDE - 1 : j;
    return image[(i * SIDE + j) * channels + k] / 255.0;
}

/* The parts of (x, y) along two neighbours among the eight directions, by solving for each pair. */
static void split(double x, double y, double part[8])
{
    memset(part, 0, 8 * sizeof *part);
    for (int k = 0; k < 8; k++) {
        double ax = cos(k * M_PI / 4), ay = sin(k * M_PI / 4), bx = cos((k + 1) * M_PI / 4), by = sin((k + 1) * M_PI / 4);
        double area = ax * by - ay * bx, a = (x * by - y * bx) / area, b = (ax * y - ay * x) / area;
        if (a < -1e-9 || b < -1e-9)
            continue;
        part[k] = a;
        part[(k + 1) % 8] = b;
        return;
    }
}

/* The numbers of one cell, from all pixels. */
static void cell_of(const unsigned char *image, int channels, int side, int r, int c, double *number)
{
    memset(number, 0, (size_t)(9 + channels) * sizeof *number);
    double variance = 0;
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            double weight = fmax(0, 1 - fabs((i + 0.5) / side - (r + 0.5))) * fmax(0, 1 - fabs((j + 0.5) / side - (c + 0.5)));
            double x = 0, y = 0, part[8];
            for (int k = 0; k < channels; k++) {
                double dx = pixel(image, i, j + 1, k, channels) - pixel(image, i, j - 1, k, channels);
                double dy = pixel(image, i + 1, j, k, channels) - pixel(image, i - 1, j, k, channels);
                if (dx * dx + dy * dy > x * x + y * y + 1e-12) {
                    x = dx;
                    y = dy;
                }
            }
            split(x, y, part);
            for (int k = 0; k < 8; k++)
                number[k] += weight * part[k];
        }
    for (int k = 0; k < channels; k++) {
        double sum = 0, squares = 0, count = side * side;
        for (int i = 0; i < side; i++)
            for (int j = 0; j < side; j++) {
                double value = pixel(image, r * side + i, c * side + j, k, channels);
                sum += value;
                squares += value * value;
            }
        number[8 + k] = sum / count * side;
        variance += squares / count - sum * sum / count / count;
    }
    number[8 + channels] = sqrt(fmax(0, variance)) * side;
}

static size_t hog_by_definition(const unsigned char *image, int channels, double *row)
{
    static const int sides[] = {4, 4, 8};
    size_t columns = 0;
    double norm2 = 0;
    for (int l = 0; l < 3; l++) {
        int cells = SIDE / sides[l], numbers = 9 + channels;
        for (int r = 0; r + 1 < cells; r++)
            for (int c = 0; c + 1 < cells; c++) {
                double squares = 0.1, *block = row + columns;
                for (int q = 0; q < 4; q++, columns += (size_t)numbers)
                    cell_of(image, channels, sides[l], r + q / 2, c + q % 2, row + columns);
                for (int k = 0; k < 4 * numbers; k++)
                    squares += block[k] * block[k];
                for (int k = 0; k < 4 * numbers; k++)
                    block[k] = sqrt(block[k] / sqrt(squares));
            }
    }
    for (size_t k = 0; k < columns; k++)
        norm2 += row[k] * row[k];
    for (size_t k = 0; k < columns && norm2 > 0; k++)
        row[k] /= sqrt(norm2);
    return columns;
}

TEST(hog_is_its_definition)
{
    unsigned char image[SIDE * SIDE * 3];
    for (int channels = 1; channels <= 3; channels += 2)
        for (unsigned seed = 0; seed < 5; seed++) {
            struct dp_hog hog;
            float row[1000];
            double wanted[1000];
            fill(image, sizeof image, seed);
            if (seed == 4)
                memset(image, 0, sizeof image);
            assert_int_equal(dp_hog_open(&hog, (struct dp_image_shape){SIDE, SIDE, (size_t)channels}, &err), DP_OK);
            assert_int_equal(hog.columns, hog_by_definition(image, channels, wanted));
            dp_hog_row(&hog, image, row);
            for (size_t k = 0; k < hog.columns; k++)
                assert_near((double)row[k], wanted[k], 2e-6);
        }
}

/* picture() of make-scatter.py */
static void draw(struct dp_image_shape shape, unsigned char *image)
{
    for (size_t i = 0; i < dp_image_bytes(shape); i++) {
        size_t pixel = i / shape.channels, line = pixel / shape.width;
        size_t value = (pixel * pixel * 3 + line * line * 5 + i * 11 + i % shape.channels * 40) % 251;
        image[i] = (unsigned char)(value + (line > shape.height / 2 ? 4 : 0));
    }
}

TEST(scattering_is_its_definition)
{
    static float row[2136];
    struct dp_scatter scatter = {0};
    struct dp_image_shape shape;
    unsigned char image[20 * 20 * 3];
    size_t column, compared = 0;
    double wanted;
    FILE *file = fopen("tests/vectors/scatter.tsv", "r");
    assert_non_null(file);
    while (fscanf(file, "%zu %zu %zu %zu %lf", &shape.height, &shape.width, &shape.channels, &column, &wanted) == 5) {
        if (memcmp(&scatter.shape, &shape, sizeof shape) != 0) {
            assert_int_equal(dp_scatter_open(&scatter, shape, &err), DP_OK);
            assert_int_equal(scatter.columns, shape.channels == 1 ? 1424 : 2136);
            draw(shape, image);
            dp_scatter_row(&scatter, image, row);
        }
        assert_true(column < scatter.columns);
        assert_near((double)row[column], wanted, 3e-6);
        compared++;
    }
    fclose(file);
    assert_int_equal(compared, 210);
}

TEST(colours_mean_the_same_in_a_mirror)
{
    static float row[2136], mirrored[2136];
    const struct dp_image_shape shape = {20, 24, 3};
    struct dp_scatter scatter;
    unsigned char image[20 * 24 * 3], other[20 * 24 * 3];
    fill(image, sizeof image, 9);
    for (size_t i = 0; i < 20; i++)
        for (size_t j = 0; j < 24; j++)
            memcpy(other + (i * 24 + j) * 3, image + (i * 24 + 23 - j) * 3, 3);
    assert_int_equal(dp_scatter_open(&scatter, shape, &err), DP_OK);
    dp_scatter_row(&scatter, image, row);
    dp_scatter_row(&scatter, other, mirrored);
    for (size_t k = 0; k < scatter.columns; k++)
        assert_near((double)row[k], (double)mirrored[k], 2e-6);
}

TEST(shapes_without_features)
{
    static const struct dp_image_shape bad[] = {{27, 28, 1}, {28, 30, 1}, {12, 28, 1}, {28, 44, 1}, {0, 0, 0}, {28, 28, 2}};
    struct dp_hog hog;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(dp_hog_open(&hog, bad[i], &err), DP_E_RUN);
    assert_string_equal(err.message, "a pixel has 2 channels, and the features hog are for 1 (grey) or 3 (colour)");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(dp_map_fits(DP_MAP_SCATTER, bad[i], &err), DP_E_RUN);
    assert_string_equal(err.message, "a pixel has 2 channels, and the features scatter are for 1 (grey) or 3 (colour)");
    assert_int_equal(dp_hog_open(&hog, (struct dp_image_shape){28, 28, 1}, &err), DP_OK);
    assert_int_equal(hog.columns, 1840);
    assert_int_equal(dp_hog_open(&hog, (struct dp_image_shape){40, 16, 3}, &err), DP_OK);
}

/* Rows with the covariance A Aᵀ of a known A. */
TEST(whitened_rows_have_the_covariance_of_the_formula)
{
    enum { COUNT = 333, COLS = 48, ENTRIES = 40 };
    static float rows[COUNT * COLS], kept[COUNT * COLS];
    static double covariance[ENTRIES][ENTRIES];
    static int16_t scratch[DP_WHITENER_ROWS * COLS];
    struct dp_whitener w = {0}, other = {0};
    unsigned seed = 3;
    for (size_t i = 0; i < COUNT; i++)
        for (size_t j = 0; j < ENTRIES; j++)
            rows[i * COLS + j] =
                (float)rand_r(&seed) / (float)RAND_MAX + (j > 0 ? 0.5f * rows[i * COLS + j - 1] : 0) + 0.1f * (float)j;
    memcpy(kept, rows, sizeof rows);
    assert_int_equal(dp_whitener_columns(ENTRIES), COLS);
    dp_whitener_open(&other, rows, COUNT, COLS, 1e-5);
    memcpy(rows, kept, sizeof rows);
    int rc = DP_E_RUN;
#pragma omp parallel num_threads(3)
#pragma omp master
    dp_whitener_open(&w, rows, COUNT, COLS, 1e-5);
    rc = DP_OK;
    assert_int_equal(rc, DP_OK);
    assert_memory_equal(w.inverse, other.inverse, (size_t)128 * 3 * 4 * sizeof *w.inverse);
    assert_memory_equal(w.step, other.step, COLS * sizeof *w.step);
    assert_memory_equal(w.mean, other.mean, COLS * sizeof *w.mean);
    for (size_t i = 0; i < COUNT; i += DP_WHITENER_ROWS)
        dp_whitener_apply(&w, kept + i * COLS, COUNT - i < DP_WHITENER_ROWS ? COUNT - i : DP_WHITENER_ROWS, ENTRIES, COLS,
                          scratch);
    for (size_t i = 0; i < COUNT; i++)
        for (size_t j = 0; j < ENTRIES; j++)
            for (size_t k = 0; k < ENTRIES; k++)
                covariance[j][k] += (double)kept[i * COLS + j] * (double)kept[i * COLS + k] / COUNT;
    for (size_t j = 0; j < ENTRIES; j++)
        for (size_t k = 0; k < ENTRIES; k++)
            assert_near(covariance[j][k], j == k, 1e-3);
    dp_whitener_close(&w);
    dp_whitener_close(&other);
}

/* A column that is the sum of all others has a row of L^-1 whose numbers are all alike: the longest, in units of the largest. */
TEST(whole_numbers_stay_short)
{
    enum { COUNT = 200, COLS = 48 };
    static float rows[COUNT * COLS];
    struct dp_whitener w = {0};
    unsigned seed = 4;
    for (size_t i = 0; i < COUNT; i++)
        for (size_t j = 0; j < COLS; j++)
            rows[i * COLS + j] = (float)rand_r(&seed) / (float)RAND_MAX;
    for (size_t i = 0; i < COUNT; i++)
        for (size_t j = 0; j + 1 < COLS; j++)
            rows[i * COLS + COLS - 1] += 50 * rows[i * COLS + j];
    dp_whitener_open(&w, rows, COUNT, COLS, 1e-9);
    double longest = 0;
    for (size_t i = 0; i < COLS; i++) {
        const int16_t *panel = w.inverse + 128 * (i / 16) * (i / 16 + 1);
        double squares = 0;
        for (size_t j = 0; j < (i / 16 + 1) * 16; j++)
            squares += pow((double)panel[dp_pairs_at(j, i % 16)], 2);
        longest = fmax(longest, sqrt(squares));
    }
    assert_true(longest > 64000 && longest < 65033); /* with rows of up to 32,733: below 2^31 */
    dp_whitener_close(&w);
}

static uint64_t hash(const void *data, size_t size)
{
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < size; i++)
        h = (h ^ ((const unsigned char *)data)[i]) * 1099511628211u;
    return h;
}

/* A model that was trained on rows of this map needs the same rows for new images, in each later version. */
TEST(bytes_stay)
{
    enum { COUNT = 80, BYTES = SIDE * SIDE, COLUMNS = 761 };
    const struct dp_image_shape shape = {SIDE, SIDE, 1};
    static unsigned char images[COUNT * BYTES];
    static float rows[COUNT * COLUMNS], again[COUNT * COLUMNS];
    struct dp_map map = {0};
    int rc = DP_E_RUN;
#pragma omp parallel num_threads(2)
#pragma omp master
    {
        rc = dp_map_start(&map, DP_MAP_HOG, shape, &err);
        dp_map_finish(&map);
    }
    assert_int_equal(rc, DP_OK);
    assert_string_equal(map.name, "hog:v1 16x16 seed 1");
    assert_int_equal(map.columns, COLUMNS);
    for (size_t i = 0; i < COUNT; i++)
        dp_leaves_image(shape, 7, i, images + i * BYTES);
    assert_int_equal(hash(images, sizeof images), IMAGES_HASH);
    memset(images, 0, BYTES);
    memset(images + BYTES, 255, BYTES);
    fill(images + 2 * BYTES, BYTES, 5);
    for (size_t j = 0; j < BYTES; j++)
        images[3 * BYTES + j] = (j + j / SIDE) % 2 == 0 ? 0 : 255;
    int16_t *scratch = malloc(dp_map_scratch(&map, COUNT) * sizeof *scratch);
    assert_non_null(scratch);
#pragma omp parallel num_threads(2)
#pragma omp master
    dp_map_rows(&map, images, COUNT, rows, scratch);
    dp_map_rows(&map, images, COUNT, again, scratch);
    assert_memory_equal(rows, again, sizeof rows);
    assert_int_equal(hash(rows, sizeof rows), ROWS_HASH);
    /* a row depends on its own image only, not on its place */
    dp_map_rows(&map, images + 3 * BYTES, 1, again, scratch);
    assert_memory_equal(rows + 3 * COLUMNS, again, COLUMNS * sizeof *rows);
    for (size_t i = 0; i < COUNT; i++) {
        double norm2 = 0;
        for (size_t j = 0; j < COLUMNS; j++)
            norm2 += (double)rows[i * COLUMNS + j] * (double)rows[i * COLUMNS + j];
        assert_near(norm2, 1, 1e-6);
        assert_true(rows[i * COLUMNS + COLUMNS - 1] == 0.3f);
    }
    dp_map_close(&map);
    free(scratch);
}

TEST(bytes_of_scattering_stay)
{
    const struct dp_image_shape shape = {16, 20, 1};
    static unsigned char image[320];
    static float rows[20][1424];
    struct dp_scatter scatter;
    assert_int_equal(dp_scatter_open(&scatter, shape, &err), DP_OK);
    for (size_t i = 0; i < 20; i++) {
        dp_leaves_image(shape, 7, i, image);
        if (i == 0)
            memset(image, 0, sizeof image);
        if (i == 1)
            fill(image, sizeof image, 5);
        dp_scatter_row(&scatter, image, rows[i]);
    }
    assert_int_equal(hash(rows, sizeof rows), SCATTER_HASH);
}

TEST(names_of_maps)
{
    assert_int_equal(dp_map_named("hog:v1 28x28 seed 1, unit, bias"), DP_MAP_HOG);
    assert_int_equal(dp_map_named("scatter:v1 28x28 seed 1"), DP_MAP_SCATTER);
    assert_int_equal(dp_map_named("scattering:v1"), DP_MAP_NONE);
    assert_int_equal(dp_map_named(""), DP_MAP_NONE);
}

TESTS(NULL, NULL)
