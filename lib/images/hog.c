#include "images/hog.h"

#include "math/clones.h"

#define SIDE DP_IMAGE_SIDE_MOST
#define DIRECTIONS DP_HOG_DIRECTIONS
#define CELLS (SIDE / 4)             /* the most rows of cells */
#define NUMBERS (DIRECTIONS + 3 + 1) /* the most numbers of a cell */

/* Added to the squares of a block, so that a block without gradients stays small. */
#define BLOCK_FLOOR 0.1f

/* The place of a pixel between the centres of two cells, for each pixel of a side. */
static void place(size_t side, size_t cells, int *first, float *second)
{
    size_t length = side / cells;
    for (size_t i = 0; i < side; i++) {
        int twice = 2 * (int)i + 1 - (int)length, cell = twice < 0 ? -1 : twice / (2 * (int)length);
        first[i] = cell;
        second[i] = (float)(twice - cell * 2 * (int)length) / (float)(2 * length);
    }
}

int dp_hog_open(struct dp_hog *hog, struct dp_image_shape shape, struct dp_err *err)
{
    int rc = dp_image_fits(shape, "hog", err);
    if (rc != DP_OK)
        return rc;
    const size_t rows[DP_HOG_LEVELS] = {shape.height / 4, 4, 2}, cols[DP_HOG_LEVELS] = {shape.width / 4, 4, 2};
    *hog = (struct dp_hog){.shape = shape, .numbers = DIRECTIONS + shape.channels + 1};
    for (int l = 0; l < DP_HOG_LEVELS; l++) {
        struct dp_hog_level *level = &hog->level[l];
        level->rows = rows[l];
        level->cols = cols[l];
        place(shape.height, rows[l], level->above, level->below);
        place(shape.width, cols[l], level->before, level->after);
        hog->columns += (rows[l] - 1) * (cols[l] - 1) * 4 * hog->numbers;
    }
    return DP_OK;
}

/* Adds the gradient (x, y) to its two directions: it is (longer − shorter) along an axis and √2 × shorter along a diagonal. */
static void add_gradient(int x, int y, float *direction)
{
    int across = abs(x), down = abs(y), diagonal = y >= 0 ? (x >= 0 ? 1 : 3) : (x >= 0 ? 7 : 5);
    int axis = across >= down ? (x >= 0 ? 0 : 4) : (y >= 0 ? 2 : 6);
    int shorter = across < down ? across : down, longer = across < down ? down : across;
    direction[axis] = (float)(longer - shorter) * (1 / 255.f);
    direction[diagonal] = (float)shorter * (1.41421356f / 255.f);
}

/* plane: for each pixel its eight directions. */
static void gradients(const struct dp_hog *hog, const unsigned char *image, float *plane)
{
    size_t height = hog->shape.height, width = hog->shape.width, channels = hog->shape.channels, line = width * channels;
    memset(plane, 0, height * width * DIRECTIONS * sizeof *plane);
    for (size_t i = 0; i < height; i++)
        for (size_t j = 0; j < width; j++) {
            const unsigned char *up = image + (i - (i > 0)) * line + j * channels, *at = image + i * line;
            const unsigned char *down = image + (i + (i + 1 < height)) * line + j * channels;
            const unsigned char *left = at + (j - (j > 0)) * channels, *right = at + (j + (j + 1 < width)) * channels;
            int x = 0, y = 0;
            for (size_t k = 0; k < channels; k++) {
                int dx = right[k] - left[k], dy = down[k] - up[k];
                if (dx * dx + dy * dy > x * x + y * y) {
                    x = dx;
                    y = dy;
                }
            }
            if (x != 0 || y != 0)
                add_gradient(x, y, plane + (i * width + j) * DIRECTIONS);
        }
}

static inline __attribute__((always_inline)) void add_times(float weight, const float *from, size_t count, float *to)
{
    for (size_t k = 0; k < count; k++)
        to[k] += weight * from[k];
}

/* Adds up the orientations of all cells of a level: first over pixel rows, then over pixel columns. */
CLONES static void orientations(const struct dp_hog_level *level, struct dp_image_shape shape, const float *plane,
                                size_t numbers, float *cell)
{
    float line[CELLS][SIDE * DIRECTIONS];
    size_t count = shape.width * DIRECTIONS;
    memset(line, 0, sizeof line);
    for (size_t i = 0; i < shape.height; i++) {
        int above = level->above[i];
        if (above >= 0)
            add_times(1 - level->below[i], plane + i * count, count, line[above]);
        if (above + 1 < (int)level->rows)
            add_times(level->below[i], plane + i * count, count, line[above + 1]);
    }
    for (size_t r = 0; r < level->rows; r++)
        for (size_t j = 0; j < shape.width; j++) {
            int before = level->before[j];
            float *to = cell + ((long)(r * level->cols) + before) * (long)numbers;
            if (before >= 0)
                add_times(1 - level->after[j], line[r] + j * DIRECTIONS, DIRECTIONS, to);
            if (before + 1 < (int)level->cols)
                add_times(level->after[j], line[r] + j * DIRECTIONS, DIRECTIONS, to + numbers);
        }
}

/* Means and standard deviation of the pixels of one cell, whose first pixel is at `image`. */
static void moments_of_cell(struct dp_image_shape shape, const unsigned char *image, size_t height, size_t width, float *number)
{
    int pixels = (int)(height * width);
    double variance = 0, side = sqrt((double)pixels);
    for (size_t k = 0; k < shape.channels; k++) {
        int sum = 0, squares = 0;
        for (size_t i = 0; i < height; i++)
            for (size_t j = 0; j < width; j++) {
                int value = image[(i * shape.width + j) * shape.channels + k];
                sum += value;
                squares += value * value;
            }
        number[k] = (float)((double)sum / (255.0 * pixels) * side);
        variance += (double)((long)squares * pixels - (long)sum * sum) / ((255.0 * pixels) * (255.0 * pixels));
    }
    number[shape.channels] = (float)(sqrt(variance) * side);
}

/* The rows of numbers of each block of 2 × 2 cells. Returns the end of what was written. */
static float *blocks(const struct dp_hog_level *level, const float *cell, size_t numbers, float *row)
{
    float root[CELLS * CELLS * NUMBERS];
    for (size_t i = 0; i < level->rows * level->cols * numbers; i++)
        root[i] = sqrtf(cell[i]);
    for (size_t r = 0; r + 1 < level->rows; r++)
        for (size_t c = 0; c + 1 < level->cols; c++) {
            float squares = BLOCK_FLOOR;
            for (size_t q = 0; q < 4; q++) {
                const float *h = cell + ((r + q / 2) * level->cols + c + q % 2) * numbers;
                for (size_t k = 0; k < numbers; k++)
                    squares += h[k] * h[k];
            }
            float factor = 1 / sqrtf(sqrtf(squares));
            for (size_t q = 0; q < 4; q++, row += numbers) {
                const float *h = root + ((r + q / 2) * level->cols + c + q % 2) * numbers;
                for (size_t k = 0; k < numbers; k++)
                    row[k] = factor * h[k];
            }
        }
    return row;
}

void dp_hog_row(const struct dp_hog *hog, const unsigned char *image, float *row)
{
    float plane[SIDE * SIDE * DIRECTIONS], cell[CELLS * CELLS * NUMBERS], *to = row;
    double squares = 0;
    gradients(hog, image, plane);
    for (int l = 0; l < DP_HOG_LEVELS; l++) {
        const struct dp_hog_level *level = &hog->level[l];
        size_t height = hog->shape.height / level->rows, width = hog->shape.width / level->cols;
        memset(cell, 0, level->rows * level->cols * hog->numbers * sizeof *cell);
        orientations(level, hog->shape, plane, hog->numbers, cell);
        for (size_t r = 0; r < level->rows; r++)
            for (size_t c = 0; c < level->cols; c++)
                moments_of_cell(hog->shape, image + (r * height * hog->shape.width + c * width) * hog->shape.channels, height,
                                width, cell + (r * level->cols + c) * hog->numbers + DIRECTIONS);
        to = blocks(level, cell, hog->numbers, to);
    }
    for (size_t k = 0; k < hog->columns; k++)
        squares += (double)row[k] * (double)row[k];
    float factor = squares > 0 ? (float)(1 / sqrt(squares)) : 0;
    for (size_t k = 0; k < hog->columns; k++)
        row[k] *= factor;
}
