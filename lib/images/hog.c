#include "images/hog.h"

#include "math/clones.h"

#define SIDE DP_IMAGE_SIDE_MOST
#define DIRECTIONS DP_HOG_DIRECTIONS
#define CELLS DP_HOG_CELLS
#define NUMBERS (DIRECTIONS + 3 + 1) /* the most numbers of a cell */
#define BLOCKS ((CELLS - 1) * (CELLS - 1))

/* Added to the squares of a block, so that a block without gradients stays small. */
#define BLOCK_FLOOR 0.1f

/* The sums of a level: for each cell the roots of its numbers, and for each block the factor of these roots. */
struct level_sums {
    float root[CELLS * CELLS * NUMBERS], factor[BLOCKS];
};

/* A pixel counts by its distance to the centre of the cell, in sides of a cell, subtracted from 1. */
static void weigh(size_t side, size_t cells, struct dp_hog_cell *cell)
{
    int length = (int)(side / cells);
    for (int c = 0; c < (int)cells; c++) {
        for (int i = 0; i < (int)side; i++) {
            int twice = 2 * length - abs(2 * i + 1 - (2 * c + 1) * length);
            if (twice <= 0)
                continue;
            cell[c].first = cell[c].end == 0 ? (size_t)i : cell[c].first;
            cell[c].end = (size_t)i + 1;
            cell[c].weight[i] = (float)twice / (float)(2 * length);
        }
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
        weigh(shape.height, rows[l], level->row);
        weigh(shape.width, cols[l], level->col);
        hog->columns += (rows[l] - 1) * (cols[l] - 1) * 4 * hog->numbers;
    }
    return DP_OK;
}

typedef float lanes __attribute__((vector_size(4 * DIRECTIONS), aligned(4), may_alias));
typedef int masks __attribute__((vector_size(4 * DIRECTIONS)));

/* The parts of the gradient (x, y) along its two directions; the parts along the others are 0. Part k is the smaller of two
 * multiples of x and y, times √2 along a diagonal, or 0 if that is negative. */
static inline __attribute__((always_inline)) void directions(float x, float y, lanes *part)
{
    const lanes one_x = {1, 1, -1, -1, -1, -1, 1, 1}, one_y = {-1, 0, 1, 0, 1, 0, -1, 0};
    const lanes two_x = {1, 0, 1, 0, -1, 0, -1, 0}, two_y = {1, 1, 1, 1, -1, -1, -1, -1};
    const float diagonal = 1.41421356f / 255;
    const lanes unit = {1 / 255.f, diagonal, 1 / 255.f, diagonal, 1 / 255.f, diagonal, 1 / 255.f, diagonal};
    lanes one = one_x * x + one_y * y, two = two_x * x + two_y * y;
    masks first = one < two;
    masks least = (first & (masks)one) | (~first & (masks)two);
    *part = (lanes)(least & ((lanes)least > 0)) * unit;
}

/* plane: for each pixel its eight directions. */
CLONES static void gradients(struct dp_image_shape shape, const unsigned char *image, float *plane)
{
    size_t channels = shape.channels, line = shape.width * channels;
    for (size_t i = 0; i < shape.height; i++)
        for (size_t j = 0; j < shape.width; j++, plane += DIRECTIONS) {
            const unsigned char *up = image + (i - (i > 0)) * line + j * channels, *at = image + i * line;
            const unsigned char *down = image + (i + (i + 1 < shape.height)) * line + j * channels;
            const unsigned char *left = at + (j - (j > 0)) * channels, *right = at + (j + (j + 1 < shape.width)) * channels;
            int x = right[0] - left[0], y = down[0] - up[0];
            for (size_t k = 1; k < channels; k++) {
                int dx = right[k] - left[k], dy = down[k] - up[k];
                if (dx * dx + dy * dy > x * x + y * y) {
                    x = dx;
                    y = dy;
                }
            }
            directions((float)x, (float)y, (lanes *)plane);
        }
}

/* Adds up the orientations of all cells of a level: first over pixel rows, then over pixel columns. */
CLONES static void orientations(const struct dp_hog_level *level, size_t width, const float *plane, size_t numbers, float *cell)
{
    size_t count = width * DIRECTIONS;
    for (size_t r = 0; r < level->rows; r++) {
        const struct dp_hog_cell *row = &level->row[r];
        float line[SIDE * DIRECTIONS] = {0};
        for (size_t i = row->first; i < row->end; i++)
            for (size_t k = 0; k < count; k++)
                line[k] += row->weight[i] * plane[i * count + k];
        for (size_t c = 0; c < level->cols; c++, cell += numbers) {
            const struct dp_hog_cell *col = &level->col[c];
            float sum[DIRECTIONS] = {0};
            for (size_t j = col->first; j < col->end; j++)
                for (size_t k = 0; k < DIRECTIONS; k++)
                    sum[k] += col->weight[j] * line[j * DIRECTIONS + k];
            memcpy(cell, sum, sizeof sum);
        }
    }
}

/* Means and standard deviation of the pixels of one cell, whose first pixel is at `image`. */
static void moments_of_cell(struct dp_image_shape shape, const unsigned char *image, size_t height, size_t width, float *number)
{
    int pixels = (int)(height * width);
    long variance = 0;
    float unit = 1 / (255 * sqrtf((float)pixels));
    for (size_t k = 0; k < shape.channels; k++) {
        int sum = 0, squares = 0;
        for (size_t i = 0; i < height; i++)
            for (size_t j = 0; j < width; j++) {
                int value = image[(i * shape.width + j) * shape.channels + k];
                sum += value;
                squares += value * value;
            }
        number[k] = (float)sum * unit;
        variance += (long)squares * pixels - (long)sum * sum;
    }
    number[shape.channels] = sqrtf((float)variance) * unit;
}

/* From the numbers of all cells to sums->root and sums->factor. Returns the squared length of the level's part of the row. */
CLONES static float finish(const struct dp_hog_level *level, size_t numbers, struct level_sums *sums)
{
    float squares[CELLS * CELLS], sum[CELLS * CELLS], length2 = 0, *factor = sums->factor;
    for (size_t c = 0; c < level->rows * level->cols; c++) {
        float *h = sums->root + c * numbers;
        squares[c] = sum[c] = 0;
        for (size_t k = 0; k < numbers; k++) {
            squares[c] += h[k] * h[k];
            sum[c] += h[k];
        }
    }
    for (size_t k = 0; k < level->rows * level->cols * numbers; k++)
        sums->root[k] = sqrtf(sums->root[k]);
    for (size_t r = 0; r + 1 < level->rows; r++)
        for (size_t c = 0; c + 1 < level->cols; c++, factor++) {
            size_t at = r * level->cols + c, below = at + level->cols;
            float block = sqrtf(BLOCK_FLOOR + (squares[at] + squares[at + 1] + (squares[below] + squares[below + 1])));
            *factor = 1 / sqrtf(block);
            length2 += (sum[at] + sum[at + 1] + (sum[below] + sum[below + 1])) / block;
        }
    return length2;
}

/* The numbers of each block of 2 × 2 cells. Returns the end of what was written. */
CLONES static float *blocks(const struct dp_hog_level *level, size_t numbers, const struct level_sums *sums, float scale,
                            float *row)
{
    const float *factor = sums->factor;
    for (size_t r = 0; r + 1 < level->rows; r++)
        for (size_t c = 0; c + 1 < level->cols; c++, factor++)
            for (size_t q = 0; q < 2; q++, row += 2 * numbers)
                for (size_t k = 0; k < 2 * numbers; k++)
                    row[k] = *factor * scale * sums->root[((r + q) * level->cols + c) * numbers + k];
    return row;
}

void dp_hog_row(const struct dp_hog *hog, const unsigned char *image, float *row)
{
    float plane[SIDE * SIDE * DIRECTIONS], length2 = 0;
    struct level_sums sums[DP_HOG_LEVELS];
    gradients(hog->shape, image, plane);
    for (int l = 0; l < DP_HOG_LEVELS; l++) {
        const struct dp_hog_level *level = &hog->level[l];
        size_t height = hog->shape.height / level->rows, width = hog->shape.width / level->cols;
        orientations(level, hog->shape.width, plane, hog->numbers, sums[l].root);
        for (size_t r = 0; r < level->rows; r++)
            for (size_t c = 0; c < level->cols; c++)
                moments_of_cell(hog->shape, image + (r * height * hog->shape.width + c * width) * hog->shape.channels, height,
                                width, sums[l].root + (r * level->cols + c) * hog->numbers + DIRECTIONS);
        length2 += finish(level, hog->numbers, &sums[l]);
    }
    float scale = length2 > 0 ? 1 / sqrtf(length2) : 0;
    for (int l = 0; l < DP_HOG_LEVELS; l++)
        row = blocks(&hog->level[l], hog->numbers, &sums[l], scale, row);
}
