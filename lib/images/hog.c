#include "images/hog.h"

#include "base/isa.h"

#define SIDE DP_IMAGE_SIDE_MOST
#define DIRECTIONS DP_HOG_DIRECTIONS
#define CELLS DP_HOG_CELLS
#define NUMBERS (DIRECTIONS + 3 + 1) /* the most numbers of a cell */
#define BLOCKS ((CELLS - 1) * (CELLS - 1))
#define TOGETHER 4 /* pixels of a row that are added up together: it divides all sides */

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
DP_KERNEL(void, gradients, (struct dp_image_shape shape, const unsigned char *image, lanes *plane), (shape, image, plane))
{
    size_t channels = shape.channels, line = shape.width * channels;
    for (size_t i = 0; i < shape.height; i++)
        for (size_t j = 0; j < shape.width; j++) {
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
            directions((float)x, (float)y, plane++);
        }
}

/* Adds up the orientations of all cells of a level: first over pixel rows, then over pixel columns. */
DP_KERNEL(void, orientations, (const struct dp_hog_level *level, size_t width, const lanes *plane, size_t numbers, float *cell),
          (level, width, plane, numbers, cell))
{
    for (size_t r = 0; r < level->rows; r++) {
        const struct dp_hog_cell *row = &level->row[r];
        lanes line[SIDE];
        for (size_t j = 0; j < width; j += TOGETHER) {
            lanes sum[TOGETHER] = {0};
            for (size_t i = row->first; i < row->end; i++)
                for (size_t k = 0; k < TOGETHER; k++)
                    sum[k] += row->weight[i] * plane[i * width + j + k];
            memcpy(line + j, sum, sizeof sum);
        }
        for (size_t c = 0; c < level->cols; c++, cell += numbers) {
            const struct dp_hog_cell *col = &level->col[c];
            lanes sum = {0};
            for (size_t j = col->first; j < col->end; j++)
                sum += col->weight[j] * line[j];
            *(lanes *)cell = sum;
        }
    }
}

/* Means and standard deviation of the pixels of all cells of a level. number: of the first cell. */
static void moments(struct dp_image_shape shape, const struct dp_hog_level *level, const unsigned char *image, size_t numbers,
                    float *number)
{
    size_t height = shape.height / level->rows, width = shape.width / level->cols, count = shape.width * shape.channels;
    long pixels = (long)(height * width);
    float unit = 1 / (255 * sqrtf((float)pixels));
    for (size_t r = 0; r < level->rows; r++, image += height * count) {
        int sum[3 * SIDE], squares[3 * SIDE];
        for (size_t j = 0; j < count; j += TOGETHER) {
            int one[TOGETHER] = {0}, two[TOGETHER] = {0};
            for (size_t i = 0; i < height; i++)
                for (size_t k = 0; k < TOGETHER; k++) {
                    int value = image[i * count + j + k];
                    one[k] += value;
                    two[k] += value * value;
                }
            memcpy(sum + j, one, sizeof one);
            memcpy(squares + j, two, sizeof two);
        }
        for (size_t c = 0; c < level->cols; c++, number += numbers) {
            long variance = 0;
            for (size_t k = 0; k < shape.channels; k++) {
                long one = 0, two = 0;
                for (size_t j = c * width; j < (c + 1) * width; j++) {
                    one += sum[j * shape.channels + k];
                    two += squares[j * shape.channels + k];
                }
                number[k] = (float)one * unit;
                variance += two * pixels - one * one;
            }
            number[shape.channels] = sqrtf((float)variance) * unit;
        }
    }
}

/* Computes sums->root and sums->factor from the numbers of all cells. Returns the squared length of the level's
 * part of the row. */
static float finish(const struct dp_hog_level *level, size_t numbers, struct level_sums *sums)
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
static float *blocks(const struct dp_hog_level *level, size_t numbers, const struct level_sums *sums, float scale, float *row)
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
    lanes plane[SIDE * SIDE];
    float length2 = 0;
    struct level_sums sums[DP_HOG_LEVELS];
    gradients(hog->shape, image, plane);
    for (int l = 0; l < DP_HOG_LEVELS; l++) {
        const struct dp_hog_level *level = &hog->level[l];
        orientations(level, hog->shape.width, plane, hog->numbers, sums[l].root);
        moments(hog->shape, level, image, hog->numbers, sums[l].root + DIRECTIONS);
        length2 += finish(level, hog->numbers, &sums[l]);
    }
    float scale = length2 > 0 ? 1 / sqrtf(length2) : 0;
    for (int l = 0; l < DP_HOG_LEVELS; l++)
        row = blocks(&hog->level[l], hog->numbers, &sums[l], scale, row);
}
