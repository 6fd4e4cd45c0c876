/* IDX, the format of MNIST: unsigned bytes, images in one file and labels in another. */

#include "base/mem.h"
#include "data/import.h"
#include "data/input.h"
#include "images/map.h"

struct idx {
    struct dp_input *input;
    const char *name;
    uint32_t dims[4];
    int ndim;
};

static uint32_t big_endian(const unsigned char *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* Reads size bytes; fewer only at the end. */
static int read_full(struct idx *x, void *out, size_t size, size_t *had, struct dp_err *err)
{
    size_t got = 1;
    int rc = DP_OK;
    for (*had = 0; rc == DP_OK && got > 0 && *had < size; *had += got)
        rc = dp_input_read(x->input, (char *)out + *had, size - *had, &got, err);
    return rc;
}

static int idx_open(struct idx *x, const char *path, int least, int most, struct dp_err *err)
{
    unsigned char head[16];
    size_t had, sizes;
    int rc = dp_input_open(&x->input, path, err);
    if (rc != DP_OK)
        return rc;
    x->name = dp_input_name(x->input);
    rc = read_full(x, head, 4, &had, err);
    if (rc != DP_OK)
        return rc;
    if (had != 4 || head[0] != 0 || head[1] != 0)
        return dp_fail(err, DP_E_RUN, "%s: not an IDX file", x->name);
    if (head[2] != 0x08)
        return dp_fail(err, DP_E_RUN, "%s: IDX of type 0x%02x, only unsigned bytes (0x08) are read", x->name, head[2]);
    x->ndim = head[3];
    if (x->ndim < least || x->ndim > most)
        return dp_fail(err, DP_E_RUN, "%s: IDX with %d dimension%s", x->name, x->ndim, x->ndim == 1 ? "" : "s");
    sizes = 4 * (size_t)x->ndim;
    rc = read_full(x, head, sizes, &had, err);
    if (rc != DP_OK)
        return rc;
    if (had != sizes)
        return dp_fail(err, DP_E_RUN, "%s: its header is cut short", x->name);
    for (int i = 0; i < x->ndim; i++)
        x->dims[i] = big_endian(head + 4 * i);
    if (x->dims[0] == 0)
        return dp_fail(err, DP_E_RUN, "%s: no rows", x->name);
    return DP_OK;
}

static int idx_read(struct idx *x, void *out, size_t size, size_t item, struct dp_err *err)
{
    size_t had;
    int rc = read_full(x, out, size, &had, err);
    return rc != DP_OK || had == size ? rc
                                      : dp_fail(err, DP_E_RUN, "%s: ends inside item %zu of %u", x->name, item + 1, x->dims[0]);
}

static int at_end(struct idx *x, struct dp_err *err)
{
    unsigned char more;
    size_t had;
    int rc = read_full(x, &more, 1, &had, err);
    return rc != DP_OK || had == 0 ? rc : dp_fail(err, DP_E_RUN, "%s: has bytes after its last item", x->name);
}

/* The columns are made when the first item is there: a header by itself may announce any number of them. */
static int read_pairs(struct idx *images, struct idx *labels, size_t pixels, struct dp_schema *s,
                      const struct dp_import_sink *to, struct dp_err *err)
{
    struct dp_parsed r = {0};
    unsigned char *image = NULL, label = 0;
    image = dp_new(pixels, 1);
    int rc = DP_OK;
    for (size_t i = 0; rc == DP_OK && i < images->dims[0]; i++) {
        rc = idx_read(images, image, pixels, i, err);
        if (rc == DP_OK && i == 0)
            dp_schema_alike(s, pixels, (struct dp_column){.bounded = true, .high = 255}); /* a byte: public */
        if (rc == DP_OK && labels->input != NULL)
            rc = idx_read(labels, &label, 1, i, err);
        r.count = 0;
        for (size_t j = 0; rc == DP_OK && j < pixels; j++)
            dp_parsed_add(&r, (uint32_t)j, image[j]);
        if (rc != DP_OK)
            break;
        if (label >= s->classes) {
            rc = dp_fail(err, DP_E_RUN, "%s: item %zu has label %u, there are %zu classes (--classes)", labels->name, i + 1,
                         label, s->classes);
            break;
        }
        r.label = label;
        rc = to->put(to->self, &r, err);
    }
    rc = rc ?: at_end(images, err);
    if (rc == DP_OK && labels->input != NULL)
        rc = at_end(labels, err);
    dp_parsed_free(&r);
    free(image);
    return rc;
}

/* Sets the shape, if items are images, and refuses images for which there are no features. */
static int take_shape(struct dp_import *import, const struct idx *images, struct dp_err *err)
{
    if (images->ndim > 2)
        import->plan.shape =
            (struct dp_image_shape){images->dims[1], images->dims[2], images->ndim > 3 ? (size_t)images->dims[3] : 1};
    if (import->map == DP_MAP_NONE)
        return DP_OK;
    if (images->ndim == 2)
        return dp_fail(err, DP_E_RUN, "%s: an item is a row of %u numbers, and --features is for images, with rows and columns",
                       images->name, images->dims[1]);
    return dp_map_fits(import->map, import->plan.shape, err);
}

int dp_read_idx(struct dp_import *import, const struct dp_import_sink *to, struct dp_err *err)
{
    struct idx images = {0}, labels = {0};
    struct dp_schema *s = &import->plan.schema;
    size_t pixels = 1;
    s->label = -1;
    /* Ten classes, as in all usual data sets of this format. Counting the labels instead would make the number private. */
    int rc = dp_schema_classes(s, import->source.classes != NULL ? import->source.classes : "10", err);
    rc = rc ?: idx_open(&images, import->source.input, 2, 4, err);
    if (rc == DP_OK && import->source.labels != NULL)
        rc = idx_open(&labels, import->source.labels, 1, 1, err);
    if (rc == DP_OK && import->source.labels != NULL && images.dims[0] != labels.dims[0])
        rc = dp_fail(err, DP_E_RUN, "%s has %u items, %s has %u", images.name, images.dims[0], labels.name, labels.dims[0]);
    rc = rc ?: take_shape(import, &images, err);
    for (int i = 1; rc == DP_OK && i < images.ndim; i++)
        if (__builtin_mul_overflow(pixels, (size_t)images.dims[i], &pixels) || pixels > 10000000 || pixels == 0)
            rc = dp_fail(err, DP_E_RUN, "%s: an item of %zu bytes", images.name, pixels);
    rc = rc ?: read_pairs(&images, &labels, pixels, s, to, err);
    if (rc == DP_OK)
        dp_input_digest(images.input, import->result.table);
    dp_input_close(images.input);
    dp_input_close(labels.input);
    return rc;
}
