/* NumPy arrays: X and y in two .npy files, or as two members of an .npz archive. */

#include "base/mem.h"
#include "base/hash.h"
#include "base/text.h"
#include "data/import.h"
#include "data/input.h"
#include "data/npy.h"
#include "data/zip.h"
#include "images/map.h"

#define DIMS 4
#define WIDEST 8 /* bytes of an element */
enum type { FLOAT32, FLOAT64, INT8, INT16, INT32, INT64, UINT8, UINT16, UINT32, UINT64, BOOL, TYPES };

struct array {
    char name[400];         /* for messages */
    struct dp_input *input; /* a file, or */
    struct dp_zip *zip;     /* a member of an archive */
    enum type type;
    size_t size, row; /* bytes of an element and of a row */
    uint64_t dims[DIMS];
    int ndim;
    struct dp_hash hash;
};

/* Reads exactly size bytes. */
static int read_full(struct array *a, void *bytes, size_t size, struct dp_err *err)
{
    for (size_t had = 0, got = 0; had < size; had += got) {
        int rc = a->zip != NULL ? dp_zip_read(a->zip, (char *)bytes + had, size - had, &got, err)
                                : dp_input_read(a->input, (char *)bytes + had, size - had, &got, err);
        if (rc != DP_OK)
            return rc;
        if (got == 0)
            return dp_fail(err, DP_E_RUN, "%s is cut short", a->name);
    }
    return DP_OK;
}

static int check_end(struct array *a, struct dp_err *err)
{
    char more;
    size_t got;
    int rc = a->zip != NULL ? dp_zip_read(a->zip, &more, 1, &got, err) : dp_input_read(a->input, &more, 1, &got, err);
    return rc != DP_OK || got == 0 ? rc : dp_fail(err, DP_E_RUN, "%s is longer than its shape says", a->name);
}

static int find_type(struct array *a, const char *descr, struct dp_err *err)
{
    static const char *const known[TYPES] = {"<f4", "<f8", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "|b1"};
    for (int k = 0; k < TYPES; k++) {
        if (strcmp(descr, known[k]) == 0) {
            a->type = (enum type)k;
            a->size = (size_t)(descr[2] - '0');
            return DP_OK;
        }
    }
    return dp_fail(err, DP_E_RUN,
                   "%s has elements of type '%s': numbers are read, little endian, as X.astype(\"<f4\") makes them", a->name,
                   DP_SHOWN(descr));
}

static int read_head(struct array *a, struct dp_err *err)
{
    unsigned char start[12];
    char *text = NULL, descr[40];
    bool fortran;
    int rc = read_full(a, start, 10, err);
    if (rc == DP_OK && (memcmp(start, "\x93NUMPY", 6) != 0 || start[6] < 1 || start[6] > 3))
        return dp_fail(err, DP_E_RUN, "%s: not a .npy file", a->name);
    size_t length = start[8] + 256u * start[9];
    if (rc == DP_OK && start[6] > 1) {
        rc = read_full(a, start + 10, 2, err);
        length += start[10] > 0 || start[11] > 0 ? (size_t)1 << 16 : 0;
    }
    if (rc == DP_OK && length >= 1 << 16)
        return dp_fail(err, DP_E_RUN, "%s: its header is too long", a->name);
    if (rc == DP_OK)
        text = dp_new(length + 1, 1);
    rc = rc ?: read_full(a, text, length, err);
    a->ndim = rc == DP_OK ? dp_npy_read_header(text, descr, sizeof descr, &fortran, a->dims, DIMS) : 0;
    if (rc == DP_OK && a->ndim < 0)
        rc = dp_fail(err, DP_E_RUN, "%s: its header makes no sense, or it has more than %d dimensions", a->name, DIMS);
    rc = rc ?: find_type(a, descr, err);
    if (rc == DP_OK && fortran && a->ndim > 1)
        rc = dp_fail(err, DP_E_RUN, "%s is in Fortran order: numpy.ascontiguousarray(X) makes rows of it", a->name);
    free(text);
    return rc;
}

static int open_member(struct array *a, const char *path, const char *name, struct dp_err *err)
{
    size_t count, length = strlen(name), names = 0;
    char list[200] = "", shown[DP_TEXT_SHOWN];
    int rc = dp_zip_open(&a->zip, path, err);
    if (rc != DP_OK)
        return rc;
    const struct dp_zip_member *member = dp_zip_members(a->zip, &count);
    for (size_t i = 0; i < count; i++) {
        const struct dp_zip_member *m = &member[i];
        size_t stem = m->name_length > 4 && memcmp(m->name + m->name_length - 4, ".npy", 4) == 0 ? m->name_length - 4 : 0;
        if (stem == length && memcmp(m->name, name, length) == 0)
            return dp_zip_begin(a->zip, m, err);
        if (stem > 0 && names++ < 5)
            snprintf(list + strlen(list), sizeof list - strlen(list), "%s%.30s", names > 1 ? ", " : "",
                     dp_text_show(m->name, stem, shown));
    }
    return dp_fail(err, DP_E_RUN, "%s has no array '%.60s', but %s%s", path, name, names > 0 ? list : "none at all",
                   names > 5 ? ", …" : "");
}

static int open_array(struct array *a, const char *path, const char *member, struct dp_err *err)
{
    snprintf(a->name, sizeof a->name, "%.300s%s%.60s", path, member != NULL ? ": " : "", member != NULL ? member : "");
    dp_hash_start(&a->hash, NULL, 0, DP_INPUT_DIGEST);
    int rc = member != NULL ? open_member(a, path, member, err) : dp_input_open(&a->input, path, err);
    if (rc == DP_OK && member == NULL)
        snprintf(a->name, sizeof a->name, "%.360s", dp_input_name(a->input));
    rc = rc ?: read_head(a, err);
    a->row = a->size;
    for (int i = 1; rc == DP_OK && i < a->ndim; i++)
        if (__builtin_mul_overflow(a->row, a->dims[i], &a->row) || a->row > 80000000 || a->row == 0)
            rc = dp_fail(err, DP_E_RUN, "%s has rows of %zu bytes", a->name, a->row);
    return rc;
}

static void close_array(struct array *a)
{
    dp_input_close(a->input);
    dp_zip_close(a->zip);
}

static double number(enum type type, const unsigned char *p)
{
    union {
        float f4;
        double f8;
        int8_t i1;
        int16_t i2;
        int32_t i4;
        int64_t i8;
        uint8_t u1;
        uint16_t u2;
        uint32_t u4;
        uint64_t u8;
    } v;
    memcpy(&v, p, sizeof v);
    switch (type) {
    case FLOAT32:
        return (double)v.f4;
    case FLOAT64:
        return v.f8;
    case INT8:
        return v.i1;
    case INT16:
        return v.i2;
    case INT32:
        return v.i4;
    case INT64:
        return (double)v.i8;
    case UINT16:
        return v.u2;
    case UINT32:
        return v.u4;
    case UINT64:
        return (double)v.u8;
    default:
        return v.u1;
    }
}

static int read_row(struct array *a, unsigned char *bytes, struct dp_err *err)
{
    int rc = read_full(a, bytes, a->row, err);
    if (rc == DP_OK)
        dp_hash_add(&a->hash, bytes, a->row);
    return rc;
}

static int take_label(struct dp_import *import, const struct array *y, const unsigned char *bytes, size_t row, double *label,
                      struct dp_err *err)
{
    const struct dp_schema *s = &import->plan.schema;
    double value = number(y->type, bytes);
    char classes[DP_TEXT_LISTED];
    *label = s->real_label ? value : (double)dp_schema_class_of(s, value);
    if (s->real_label && !isfinite(value))
        return dp_fail(err, DP_E_RUN, "%s: row %zu: the label must be a number, got %g", y->name, row + 1, value);
    if (!s->real_label && *label < 0)
        return dp_fail(err, DP_E_RUN, "%s: row %zu: the label %g is not one of the classes (--classes: %s)", y->name, row + 1,
                       value, dp_schema_show_classes(s, classes));
    return DP_OK;
}

static int read_pairs(struct dp_import *import, struct array *x, struct array *y, const struct dp_import_sink *to,
                      struct dp_err *err)
{
    struct dp_parsed r = {0};
    unsigned char *bytes = NULL, label[2 * WIDEST] = {0};
    size_t columns = import->plan.schema.columns;
    bytes = dp_new(x->row + WIDEST, 1);
    int rc = DP_OK;
    for (size_t i = 0; rc == DP_OK && i < x->dims[0]; i++) {
        rc = read_row(x, bytes, err);
        if (!import->unlabelled)
            rc = rc ?: read_row(y, label, err) ?: take_label(import, y, label, i, &r.label, err);
        r.count = 0;
        for (size_t j = 0; rc == DP_OK && j < columns; j++) {
            double value = number(x->type, bytes + j * x->size);
            if (!isfinite(value))
                rc = dp_fail(err, DP_E_RUN, "%s: row %zu, column %zu: expected a number, got %g", x->name, i + 1, j + 1, value);
            dp_parsed_add(&r, (uint32_t)j, value);
        }
        rc = rc ?: to->put(to->self, &r, err);
    }
    rc = rc ?: check_end(x, err);
    if (!import->unlabelled)
        rc = rc ?: check_end(y, err);
    dp_parsed_free(&r);
    free(bytes);
    return rc;
}

/* If a type has few values (bytes, truth values), bounds follow from the type. */
static void make_columns(struct dp_import *import, const struct array *x)
{
    bool bounded = x->type == UINT8 || x->type == BOOL;
    enum dp_scaling scaling = bounded ? DP_SCALE_BOUNDS : import->source.max_abs ? DP_SCALE_MAX_ABS : DP_SCALE_NONE;
    dp_schema_alike(&import->plan.schema, x->row / x->size,
                    (struct dp_column){.scaling = scaling, .bounded = bounded, .high = x->type == UINT8 ? 255 : 1});
}

static int check_shapes(struct dp_import *import, const struct array *x, const struct array *y, struct dp_err *err)
{
    bool images = x->type == UINT8 && x->ndim > 2;
    if (x->ndim < 2)
        return dp_fail(err, DP_E_RUN, "%s has %d dimension%s: rows and columns are expected", x->name, x->ndim,
                       x->ndim == 1 ? "" : "s");
    if (x->ndim > 2 && !images)
        return dp_fail(err, DP_E_RUN, "%s has %d dimensions: only images of bytes (uint8) have more than two", x->name,
                       x->ndim);
    if (!import->unlabelled && (y->ndim < 1 || y->row != y->size))
        return dp_fail(err, DP_E_RUN, "%s: one label for each row is expected", y->name);
    if (!import->unlabelled && x->dims[0] != y->dims[0])
        return dp_fail(err, DP_E_RUN, "%s has %llu rows, %s has %llu", x->name, (unsigned long long)x->dims[0], y->name,
                       (unsigned long long)y->dims[0]);
    if (images)
        import->plan.shape = (struct dp_image_shape){x->dims[1], x->dims[2], x->ndim > 3 ? (size_t)x->dims[3] : 1};
    if (import->map != DP_MAP_NONE && !images)
        return dp_fail(err, DP_E_RUN,
                       "%s: --features is for images: bytes (uint8) with rows, height, width and perhaps channels", x->name);
    return dp_map_fits(import->map, import->plan.shape, err);
}

int dp_read_arrays(struct dp_import *import, const struct dp_import_sink *to, struct dp_err *err)
{
    struct array x = {0}, y = {0};
    bool archive = import->source.format == DP_IMPORT_NPZ;
    import->plan.schema.label = -1;
    import->plan.schema.real_label = import->source.real_label;
    const bool classes = !import->source.real_label && !import->unlabelled;
    int rc = classes ? dp_schema_classes(&import->plan.schema, import->source.classes, err) : DP_OK;
    rc = rc ?: open_array(&x, import->source.input, archive ? import->source.member[0] : NULL, err);
    if (rc == DP_OK && !import->unlabelled)
        rc = open_array(&y, archive ? import->source.input : import->source.labels, archive ? import->source.member[1] : NULL,
                        err);
    rc = rc ?: check_shapes(import, &x, &y, err);
    if (rc == DP_OK)
        make_columns(import, &x);
    rc = rc ?: read_pairs(import, &x, &y, to, err);
    if (rc == DP_OK)
        dp_hash_end(&x.hash, import->result.table, sizeof import->result.table);
    close_array(&x);
    close_array(&y);
    return rc;
}
