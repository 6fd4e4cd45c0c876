#include "images/scatter.h"

#include "images/morlet.h"
#include "base/isa.h"

#define SIDE DP_IMAGE_SIDE_MOST
#define SCALES DP_SCATTER_SCALES
#define CELLS DP_SCATTER_CELLS
#define EDGE 3                                        /* pixels on each side of a filter's centre */
#define FIRST (1 + SCALES * DIRECTIONS)               /* maps before the maps of two wavelets */
#define MAPS (FIRST + DIRECTIONS * DIRECTIONS)        /* of an image */
#define FLOOR 0.01f                                   /* an even cell stays small */
#define STEP 4                                        /* pixels that are filtered together */
#define MIRRORED(k) ((DIRECTIONS - (k)) % DIRECTIONS) /* direction k in a mirror */

typedef float lanes __attribute__((vector_size(4 * DIRECTIONS), aligned(4), may_alias));

struct size {
    size_t height, width;
};

/* The numbers of all cells, for each image in which an image in colour is split. */
struct cells {
    float at[3][MAPS][CELLS][CELLS];
};

static struct size size_at(struct dp_image_shape shape, int scale)
{
    return (struct size){shape.height >> scale, shape.width >> scale};
}

/* Pixel i counts by its distance to the centre of the cell, in sides of a cell, subtracted from 1. */
static void weigh(size_t side, float (*weight)[SIDE])
{
    for (size_t cell = 0; cell < CELLS; cell++) {
        double part[SIDE], sum = 0;
        for (size_t i = 0; i < side; i++) {
            double distance = fabs((double)CELLS * ((double)i + 0.5) / (double)side - ((double)cell + 0.5));
            part[i] = distance < 1 ? 1 - distance : 0;
            sum += part[i];
        }
        for (size_t i = 0; i < side; i++)
            weight[cell][i] = (float)(part[i] / sum);
    }
}

int dp_scatter_open(struct dp_scatter *scatter, struct dp_image_shape shape, struct dp_err *err)
{
    int rc = dp_image_fits(shape, "scatter", err);
    if (rc != DP_OK)
        return rc;
    *scatter = (struct dp_scatter){.shape = shape};
    for (int l = 0; l < SCALES; l++) {
        weigh(size_at(shape, l).height, scatter->row_weight[l]);
        weigh(size_at(shape, l).width, scatter->col_weight[l]);
    }
    /* with its mirror image, half of the numbers are enough */
    scatter->columns = shape.channels * MAPS * CELLS * CELLS / (shape.channels == 3 ? 2 : 1);
    return DP_OK;
}

static size_t reflected(size_t at, size_t side)
{
    return at < EDGE ? EDGE - 1 - at : at - EDGE < side ? at - EDGE : 2 * side + EDGE - 1 - at;
}

/* to[i][k] = |ψ_k ⋆ x| at pixel i, for the pixels x[i × step]. */
DP_KERNEL(void, lengths, (const float *x, size_t step, struct size size, float (*to)[DIRECTIONS]), (x, step, size, to))
{
    float padded[(SIDE + 2 * EDGE) * (SIDE + 2 * EDGE)];
    size_t wide = size.width + 2 * EDGE;
    long tap[TAPS];
    for (size_t i = 0; i < size.height + 2 * EDGE; i++)
        for (size_t j = 0; j < wide; j++)
            padded[i * wide + j] = x[(reflected(i, size.height) * size.width + reflected(j, size.width)) * step];
    for (long t = 0; t < TAPS; t++)
        tap[t] = (t + EDGE + 1) / (2 * EDGE + 1) * (long)wide + (t + EDGE + 1) % (2 * EDGE + 1) - EDGE;
    for (size_t i = 0; i < size.height; i++) {
        const float *line = padded + (i + EDGE) * wide + EDGE;
        _Alignas(64) float sum[TAPS][SIDE], difference[TAPS][SIDE]; /* of the two pixels of a tap; GCC 12 misplaces them */
        for (size_t t = 0; t < TAPS; t++)
            for (size_t j = 0; j < size.width; j++) {
                sum[t][j] = line[tap[t] + (long)j] + line[(long)j - tap[t]];
                difference[t][j] = line[tap[t] + (long)j] - line[(long)j - tap[t]];
            }
        for (size_t from = 0; from < size.width; from += STEP) {
            size_t j = from + STEP <= size.width ? from : size.width - STEP;
            lanes real[STEP], imaginary[STEP] = {0};
            for (size_t p = 0; p < STEP; p++)
                real[p] = *(const lanes *)even[0] * line[j + p];
            for (size_t t = 0; t < TAPS; t++) {
                lanes e = *(const lanes *)even[t + 1], o = *(const lanes *)odd[t];
                for (size_t p = 0; p < STEP; p++) {
                    real[p] += e * sum[t][j + p];
                    imaginary[p] += o * difference[t][j + p];
                }
            }
            for (size_t p = 0; p < STEP; p++) {
                lanes square = real[p] * real[p] + imaginary[p] * imaginary[p];
                for (size_t k = 0; k < DIRECTIONS; k++)
                    to[i * size.width + j + p][k] = sqrtf(square[k]) * (1 / 4096.f);
            }
        }
    }
}

static inline float between(float first, float second, float third, float fourth)
{
    return ((first + fourth) + 3 * (second + third)) * 0.125f;
}

/* Halves the sides of pictures whose pixels have `numbers`. */
static void halve(const float *x, struct size size, size_t numbers, float *to)
{
    float line[SIDE * DIRECTIONS];
    size_t count = size.width * numbers;
    for (size_t i = 0; i < size.height; i += 2) {
        const float *second = x + i * count, *third = second + count;
        const float *first = i > 0 ? second - count : second, *fourth = i + 2 < size.height ? third + count : third;
        for (size_t j = 0; j < count; j++)
            line[j] = between(first[j], second[j], third[j], fourth[j]);
        for (size_t j = 0; j < size.width; j += 2, to += numbers) {
            const float *at = line + j * numbers;
            size_t left = j > 0 ? numbers : 0, right = j + 2 < size.width ? 2 * numbers : numbers;
            for (size_t k = 0; k < numbers; k++)
                to[k] = between(at[k - left], at[k], at[numbers + k], at[right + k]);
        }
    }
}

/* cell[k]: the averages of number k of the pixels, for each of the `numbers`. */
DP_KERNEL(void, average,
          (const struct dp_scatter *scatter, int scale, const float *x, size_t numbers, float (*cell)[CELLS][CELLS]),
          (scatter, scale, x, numbers, cell))
{
    struct size size = size_at(scatter->shape, scale);
    size_t count = size.width * numbers;
    for (size_t r = 0; r < CELLS; r++) {
        float line[SIDE * DIRECTIONS] = {0};
        for (size_t i = 0; i < size.height; i++) {
            float weight = scatter->row_weight[scale][r][i];
            for (size_t j = 0; weight > 0 && j < count; j++)
                line[j] += weight * x[i * count + j];
        }
        for (size_t c = 0; c < CELLS; c++) {
            float sum[DIRECTIONS] = {0};
            for (size_t j = 0; j < size.width; j++)
                for (size_t k = 0; k < numbers; k++)
                    sum[k] += scatter->col_weight[scale][c][j] * line[j * numbers + k];
            for (size_t k = 0; k < numbers; k++)
                cell[k][r][c] = sum[k];
        }
    }
}

/* All maps of one image. */
static void scatter_image(const struct dp_scatter *scatter, const float *x, float (*cell)[CELLS][CELLS])
{
    float first[SIDE * SIDE][DIRECTIONS], second[SIDE * SIDE / 4][DIRECTIONS], half[SIDE * SIDE / 4 * DIRECTIONS];
    float smaller[2][SIDE * SIDE / 4];
    const float *image = x;
    struct size size = size_at(scatter->shape, 0), halved = size_at(scatter->shape, 1);
    average(scatter, 0, x, 1, cell);
    lengths(x, 1, size, first);
    average(scatter, 0, first[0], DIRECTIONS, cell + 1);
    for (int l = 1; l < SCALES; l++) {
        halve(image, size_at(scatter->shape, l - 1), 1, smaller[l - 1]);
        image = smaller[l - 1];
        lengths(image, 1, size_at(scatter->shape, l), second);
        average(scatter, l, second[0], DIRECTIONS, cell + 1 + DIRECTIONS * l);
    }
    halve(first[0], size, DIRECTIONS, half);
    for (size_t k = 0; k < DIRECTIONS; k++) {
        lengths(half + k, DIRECTIONS, halved, second);
        average(scatter, 1, second[0], DIRECTIONS, cell + FIRST + DIRECTIONS * k);
    }
}

/* Splits an image into planes: a grey image is one plane; a colour image has three, its lightness and two differences of
 * channels. */
static void split(struct dp_image_shape shape, const unsigned char *image, float (*x)[SIDE * SIDE])
{
    size_t pixels = shape.height * shape.width;
    for (size_t i = 0; i < pixels; i++) {
        const unsigned char *at = image + i * shape.channels;
        if (shape.channels == 1) {
            x[0][i] = (float)at[0] * (1 / 255.f);
            continue;
        }
        x[0][i] = (float)(at[0] + at[1] + at[2]) * (1 / 765.f);
        x[1][i] = (float)(at[0] - at[1]) * (1 / 255.f);
        x[2][i] = (float)(at[0] + at[1] - 2 * at[2]) * (1 / 510.f);
    }
}

/* Divides by the size of the first maps of the cell, and takes roots. */
static void normalise(size_t images, struct cells *cells, size_t r, size_t c)
{
    float squares = FLOOR;
    for (size_t i = 0; i < images; i++)
        for (size_t m = 1; m < FIRST; m++)
            squares += cells->at[i][m][r][c] * cells->at[i][m][r][c];
    float factor = 1 / sqrtf(squares);
    for (size_t i = 0; i < images; i++)
        for (size_t m = 1; m < MAPS; m++)
            cells->at[i][m][r][c] = sqrtf(cells->at[i][m][r][c] * factor);
}

/* The index of the map that, for the mirrored image, is the mirror image of this map. */
static size_t mirror(size_t map)
{
    if (map == 0)
        return 0;
    if (map < FIRST)
        return (map - 1) / DIRECTIONS * DIRECTIONS + MIRRORED((map - 1) % DIRECTIONS) + 1;
    size_t pair = map - FIRST;
    return FIRST + MIRRORED(pair / DIRECTIONS) * DIRECTIONS + MIRRORED(pair % DIRECTIONS);
}

void dp_scatter_row(const struct dp_scatter *scatter, const unsigned char *image, float *row)
{
    float x[3][SIDE * SIDE];
    struct cells cells;
    size_t images = scatter->shape.channels;
    split(scatter->shape, image, x);
    for (size_t i = 0; i < images; i++)
        scatter_image(scatter, x[i], cells.at[i]);
    for (size_t r = 0; r < CELLS; r++)
        for (size_t c = 0; c < CELLS; c++)
            normalise(images, &cells, r, c);
    for (size_t i = 0; i < images; i++)
        for (size_t m = 0; m < MAPS; m++)
            for (size_t r = 0; r < CELLS; r++)
                for (size_t c = 0; c < CELLS; c++) {
                    size_t other = mirror(m), across = CELLS - 1 - c;
                    if (images == 1)
                        *row++ = cells.at[i][m][r][c];
                    else if (other > m || (other == m && across > c))
                        *row++ = 0.5f * (cells.at[i][m][r][c] + cells.at[i][other][r][across]);
                }
}
