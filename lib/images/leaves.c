#include "images/leaves.h"

#include "base/isa.h"
#include "math/rng.h"

#define COVERING 300 /* shapes that cover an image */
#define FEW 12       /* the most shapes on a ground */
#define VECTOR 4     /* pixels at a time, so that none are left over */

struct leaf {
    double x, y, radius, aspect; /* aspect: the shorter axis over the longer */
    double across, down;         /* direction of the longer axis, of norm 1 */
    double change;               /* change of the grey, per pixel along the longer axis */
    double grey[3];
    bool box;
};

static double between(double least, double most, double value)
{
    return value < least ? least : value > most ? most : value;
}

/* A direction: a point of the disc, pushed to its edge. */
static void turn(struct dp_stream *stream, struct leaf *leaf)
{
    double x, y, squares;
    do {
        x = 2 * dp_stream_real(stream) - 1;
        y = 2 * dp_stream_real(stream) - 1;
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
    leaf->radius = 1 / sqrt(from + dp_stream_real(stream) * (to - from));
    leaf->aspect = 0.35 + 0.65 * dp_stream_real(stream);
    turn(stream, leaf);
    leaf->x = (double)shape.width * (0.5 + spread * (dp_stream_real(stream) - 0.5));
    leaf->y = (double)shape.height * (0.5 + spread * (dp_stream_real(stream) - 0.5));
    leaf->box = dp_stream_real(stream) < 0.4;
    double grey = 256 * dp_stream_real(stream);
    for (size_t k = 0; k < shape.channels; k++)
        leaf->grey[k] = shape.channels == 1 ? grey : between(0, 255, grey + 80 * (dp_stream_real(stream) - 0.5));
    leaf->change = dp_stream_real(stream) < 0.5 ? 0 : 60 * (dp_stream_real(stream) - 0.5) / leaf->radius;
}

/* How much of the pixels from..to − 1 of a row the leaf covers, and its grey there less its grey in the middle. y: the row's
 * place. */
static inline __attribute__((always_inline)) void cover(struct leaf leaf, double y, int from, int to, double *restrict part,
                                                        double *restrict grey)
{
    for (int j = from; j < to; j++) {
        double x = j + 0.5 - leaf.x;
        double a = x * leaf.across + y * leaf.down, b = (y * leaf.across - x * leaf.down) / leaf.aspect;
        double distance = leaf.box ? (a * a > b * b ? fabs(a) : fabs(b)) : sqrt(a * a + b * b);
        part[j] = between(0, 1, leaf.radius - distance + 0.5);
        grey[j] = leaf.change * a;
    }
}

DP_KERNEL(void, paint, (const struct leaf *leaf, struct dp_image_shape shape, unsigned char *image), (leaf, shape, image))
{
    double reach = leaf->radius + 0.51, wide = reach, high = reach; /* covered pixels are no farther */
    double part[DP_IMAGE_SIDE_MOST + VECTOR], grey[DP_IMAGE_SIDE_MOST + VECTOR];
    if (leaf->box) {
        wide *= fabs(leaf->across) + leaf->aspect * fabs(leaf->down);
        high *= fabs(leaf->down) + leaf->aspect * fabs(leaf->across);
    }
    int top = (int)between(0, (double)shape.height, leaf->y - high - 0.5);
    int bottom = (int)between(0, (double)shape.height, leaf->y + high + 0.5);
    int left = (int)between(0, (double)shape.width, leaf->x - wide - 0.5);
    int right = (int)between(0, (double)shape.width, leaf->x + wide + 0.5);
    for (int i = top; i < bottom; i++) {
        unsigned char *row = image + (size_t)i * shape.width * shape.channels;
        cover(*leaf, i + 0.5 - leaf->y, left, left + (right - left + VECTOR - 1) / VECTOR * VECTOR, part, grey);
        for (size_t k = 0; k < shape.channels; k++)
            for (int j = left; j < right; j++) {
                unsigned char *pixel = row + (size_t)j * shape.channels + k;
                *pixel = (unsigned char)(*pixel * (1 - part[j]) + between(0, 255, leaf->grey[k] + grey[j]) * part[j] + 0.5);
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
    bool covering = dp_stream_real(&stream) < 0.5;
    size_t shapes = covering ? COVERING : 1 + (size_t)(FEW * dp_stream_real(&stream));
    double ground = dp_stream_real(&stream);
    memset(image, covering || ground < 0.5 ? 0 : (int)(512 * (ground - 0.5)), dp_image_bytes(shape));
    for (size_t t = 0; t < shapes; t++) {
        draw_leaf(&stream, shape, covering, &leaf);
        paint(&leaf, shape, image);
    }
}
