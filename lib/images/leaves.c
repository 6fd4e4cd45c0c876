#include "images/leaves.h"

#include "math/rng.h"

#define COVERING 300 /* shapes that cover an image */
#define FEW 12       /* the most shapes on a ground */

struct leaf {
    double x, y, radius, aspect; /* aspect: the shorter axis over the longer */
    double across, down;         /* direction of the longer axis, of norm 1 */
    double change;               /* change of the grey, per pixel along the longer axis */
    double grey[3];
    bool box;
};

static double uniform(struct dp_stream *stream)
{
    return (double)(dp_stream_next(stream) >> 11) * 0x1p-53;
}

static double between(double least, double most, double value)
{
    return value < least ? least : value > most ? most : value;
}

/* A direction: a point of the disc, pushed to its edge. */
static void turn(struct dp_stream *stream, struct leaf *leaf)
{
    double x, y, squares;
    do {
        x = 2 * uniform(stream) - 1;
        y = 2 * uniform(stream) - 1;
        squares = x * x + y * y;
    } while (squares > 1 || squares < 0.01);
    leaf->across = x / sqrt(squares);
    leaf->down = y / sqrt(squares);
}

/* 1/r² is uniform, so the density of r is r^-3. */
static void draw_leaf(struct dp_stream *stream, struct dp_image_shape shape, bool covering, struct leaf *leaf)
{
    double side = (double)(shape.height < shape.width ? shape.height : shape.width);
    double largest = 0.6 * side, least = covering ? sqrt(1.5) : 4, spread = covering ? 1 : 0.6;
    double from = 1 / (largest * largest), to = 1 / (least * least);
    leaf->radius = 1 / sqrt(from + uniform(stream) * (to - from));
    leaf->aspect = 0.35 + 0.65 * uniform(stream);
    turn(stream, leaf);
    leaf->x = (double)shape.width * (0.5 + spread * (uniform(stream) - 0.5));
    leaf->y = (double)shape.height * (0.5 + spread * (uniform(stream) - 0.5));
    leaf->box = uniform(stream) < 0.4;
    double grey = 256 * uniform(stream);
    for (size_t k = 0; k < shape.channels; k++)
        leaf->grey[k] = shape.channels == 1 ? grey : between(0, 255, grey + 80 * (uniform(stream) - 0.5));
    leaf->change = uniform(stream) < 0.5 ? 0 : 60 * (uniform(stream) - 0.5) / leaf->radius;
}

/* How much of a pixel the leaf covers; *along: the pixel's place along the longer axis. */
static double covers(const struct leaf *leaf, size_t row, size_t col, double *along)
{
    double x = (double)col + 0.5 - leaf->x, y = (double)row + 0.5 - leaf->y;
    double a = x * leaf->across + y * leaf->down, b = (y * leaf->across - x * leaf->down) / leaf->aspect;
    double distance = leaf->box ? (a * a > b * b ? sqrt(a * a) : sqrt(b * b)) : sqrt(a * a + b * b);
    *along = a;
    return between(0, 1, leaf->radius - distance + 0.5);
}

static void paint(const struct leaf *leaf, struct dp_image_shape shape, unsigned char *image)
{
    double reach = 1.5 * (leaf->radius + 1); /* at least the distance of the corner of a box */
    size_t top = (size_t)between(0, (double)shape.height, leaf->y - reach);
    size_t bottom = (size_t)between(0, (double)shape.height, leaf->y + reach + 1);
    size_t left = (size_t)between(0, (double)shape.width, leaf->x - reach);
    size_t right = (size_t)between(0, (double)shape.width, leaf->x + reach + 1);
    for (size_t i = top; i < bottom; i++)
        for (size_t j = left; j < right; j++) {
            double along, part = covers(leaf, i, j, &along);
            unsigned char *pixel = image + (i * shape.width + j) * shape.channels;
            for (size_t k = 0; part > 0 && k < shape.channels; k++) {
                double value = between(0, 255, leaf->grey[k] + leaf->change * along);
                pixel[k] = (unsigned char)(pixel[k] * (1 - part) + value * part + 0.5);
            }
        }
}

void dp_leaves_image(struct dp_image_shape shape, int64_t seed, size_t number, unsigned char *image)
{
    struct dp_key key;
    struct dp_stream stream;
    struct leaf leaf;
    dp_key_derive(&key, seed, "dead leaves", 0);
    dp_stream_start(&stream, &key, DP_DRAW_LEAVES, number);
    bool covering = uniform(&stream) < 0.5;
    size_t shapes = covering ? COVERING : 1 + (size_t)(FEW * uniform(&stream));
    double ground = uniform(&stream);
    memset(image, covering || ground < 0.5 ? 0 : (int)(512 * (ground - 0.5)), dp_image_bytes(shape));
    for (size_t t = 0; t < shapes; t++) {
        draw_leaf(&stream, shape, covering, &leaf);
        paint(&leaf, shape, image);
    }
}
