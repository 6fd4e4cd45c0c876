#include "data/dataset.h"

#include <fcntl.h>
#include <jansson.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "base/json.h"
#include "base/mapped.h"
#include "base/mem.h"
#include "data/row_maker.h"
#include "data/digest.h"
#include "data/npy.h"
#include "data/quantise.h"
#include "data/row_length.h"

const char *const dp_storages[] = {"dense", "csr", "cells", "int16"};

struct dp_dataset_map {
    struct dp_npy x, indices, indptr, scales, persons, nulls, y;
    const float *values; /* CSR, else NULL, like the next two members */
    const int32_t *columns;
    const int64_t *start;       /* CSR: rows + 1 */
    struct dp_row_maker *maker; /* cells; with count numbers of each row in x */
    size_t count;
    bool salted, has_nulls, unmarked; /* unmarked: null rows are not listed, but have no constant */
    bool whole;                       /* the digest is of a version that hashed zeros */
    int64_t *found;                   /* these */
    unsigned char salt[crypto_generichash_KEYBYTES];
};

static int names_of(const json_t *list, size_t expected, const char *what, char ***names, const char *path, struct dp_err *err)
{
    if (!json_is_array(list))
        return DP_OK;
    if (json_array_size(list) != expected)
        return dp_fail(err, DP_E_RUN, "%s: names %zu %s, the data set has %zu", path, json_array_size(list), what, expected);
    *names = dp_new(expected, sizeof **names);
    int rc = DP_OK;
    for (size_t i = 0; rc == DP_OK && i < expected; i++) {
        const char *name = json_string_value(json_array_get(list, i));
        if (name != NULL)
            (*names)[i] = dp_got(strdup(name));
        else
            rc = dp_fail(err, DP_E_RUN, "%s: a name of the %s is not a text", path, what);
    }
    return rc;
}

/* The words of a list, with commas between them. */
static int join(const json_t *list, char **text, const char *path, struct dp_err *err)
{
    size_t size = 1;
    if (list != NULL && !json_is_array(list))
        return dp_fail(err, DP_E_RUN, "%s: \"private_preprocessing\" is not a list", path);
    for (size_t i = 0; i < json_array_size(list); i++)
        size += json_string_length(json_array_get(list, i)) + 1;
    *text = dp_new(size, 1);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *word = json_string_value(json_array_get(list, i));
        if (word == NULL)
            return dp_fail(err, DP_E_RUN, "%s: \"private_preprocessing\" holds something else than texts", path);
        if (i > 0)
            strcat(*text, ",");
        strcat(*text, word);
    }
    return DP_OK;
}

static int word_of(const json_t *value, const char *const words[], int count, const char *key, int *which, const char *path,
                   struct dp_err *err)
{
    const char *word = json_string_value(value);
    for (*which = 0; word != NULL && *which < count; (*which)++)
        if (strcmp(word, words[*which]) == 0)
            return DP_OK;
    return word == NULL ? dp_fail(err, DP_E_RUN, "%s: \"%s\" is missing", path, key)
                        : dp_fail(err, DP_E_RUN, "%s: \"%s\" is '%.40s', which is unknown", path, key, word);
}

static int read_salt(struct dp_dataset_map *m, const json_t *root, const char *path, struct dp_err *err)
{
    const char *salt = json_string_value(json_object_get(root, "salt"));
    const json_t *of = json_object_get(root, "digest_of");
    size_t length = 0;
    int nonzero, rc = of != NULL ? word_of(of, &dp_digest_of, 1, "digest_of", &nonzero, path, err) : DP_OK;
    if (rc != DP_OK)
        return rc;
    m->whole = of == NULL;
    m->salted = salt != NULL && salt[0] != '\0';
    if (m->salted &&
        (sodium_hex2bin(m->salt, sizeof m->salt, salt, strlen(salt), NULL, &length, NULL) != 0 || length != sizeof m->salt))
        return dp_fail(err, DP_E_RUN, "%s: \"salt\" is not %zu hexadecimal digits", path, 2 * sizeof m->salt);
    return DP_OK;
}

static int read_label(struct dp_dataset_label *l, const json_t *label, const char *path, struct dp_err *err)
{
    static const char *const kinds[] = {[DP_LABEL_REAL] = "real", [DP_LABEL_CLASSES] = "classes"};
    const json_t *classes = json_object_get(label, "classes"), *scale = json_object_get(label, "scale");
    const char *name = json_string_value(json_object_get(label, "name"));
    int kind, rc = word_of(json_object_get(label, "kind"), kinds, 2, "kind", &kind, path, err);
    if (rc != DP_OK)
        return rc;
    l->kind = (enum dp_label_kind)kind;
    l->scale = json_is_number(scale) ? json_number_value(scale) : 1;
    l->offset = json_number_value(json_object_get(label, "offset"));
    if (name != NULL)
        l->name = dp_got(strdup(name));
    if (rc != DP_OK || l->kind == DP_LABEL_REAL)
        return rc;
    if (json_array_size(classes) == 0)
        return dp_fail(err, DP_E_RUN, "%s: \"classes\" lists none", path);
    l->classes = json_array_size(classes);
    return names_of(classes, l->classes, "classes", &l->class_names, path, err);
}

#define MOST_FEATURES 40 /* bytes of the name of a map */

/* These members are absent if rows are not of images. */
static int read_images(struct dp_dataset_images *images, const json_t *root, const char *path, struct dp_err *err)
{
    const json_t *features = json_object_get(root, "features"), *pixels = json_object_get(root, "pixels");
    if ((features != NULL && !(json_string_length(features) > 0 && json_string_length(features) <= MOST_FEATURES)) ||
        (pixels != NULL && !json_is_string(pixels)))
        return dp_fail(err, DP_E_RUN, "%s: \"features\" is not the name of a map, or \"pixels\" is not a text", path);
    images->features = features != NULL;
    if (pixels != NULL)
        images->pixels = dp_got(strdup(json_string_value(pixels)));
    return DP_OK;
}

/* Reads how rows were scaled, as a text for frames and messages: "divided by 1.41, bias". */
static int read_row_norm(struct dp_dataset *d, const json_t *root, const char *path, struct dp_err *err)
{
    const json_t *norm = json_object_get(root, "row_norm"), *basis = json_object_get(root, "basis");
    const char *name = "unknown";
    char text[MOST_FEATURES + 2 + DP_ROW_NORM_TEXT];
    size_t length = 0;
    int which, curves = DP_BASIS_NONE, rc = DP_OK;
    if (basis != NULL)
        rc = word_of(basis, dp_bases + 1, DP_BASIS_PRODUCTS, "basis", &curves, path, err);
    curves += rc == DP_OK && basis != NULL;
    if (rc == DP_OK && norm != NULL && (rc = word_of(norm, dp_row_norms, 4, "row_norm", &which, path, err)) == DP_OK)
        name = dp_row_norms[which];
    if (rc == DP_OK && d->images.features)
        length = (size_t)snprintf(text, sizeof text, "%s, ", json_string_value(json_object_get(root, "features")));
    if (rc == DP_OK) {
        dp_row_norm_text(name, json_number_value(json_object_get(root, "row_divisor")),
                         json_is_true(json_object_get(root, "bias")), (enum dp_basis_kind)curves,
                         (size_t)json_integer_value(json_object_get(root, "products")), d->quantised, text + length);
        d->row_norm = dp_got(strdup(text));
    }
    return rc;
}

static int read_shape(struct dp_dataset *d, const json_t *root, const char *path, struct dp_err *err)
{
    const char *digest = json_string_value(json_object_get(root, "digest"));
    json_int_t rows = json_integer_value(json_object_get(root, "rows"));
    json_int_t cols = json_integer_value(json_object_get(root, "cols"));
    int storage;
    json_int_t format = json_integer_value(json_object_get(root, "format"));
    if (format > DP_DATASET_FORMAT)
        return dp_fail(err, DP_E_RUN, "%s is of format %lld; %d is the newest that this version knows", path, (long long)format,
                       DP_DATASET_FORMAT);
    if (format < 1)
        return dp_fail(err, DP_E_RUN, "%s: \"format\" is missing or wrong", path);
    if (rows < 0 || cols < 1 || cols > INT32_MAX || digest == NULL || strlen(digest) != 32)
        return dp_fail(err, DP_E_RUN, "%s: rows, cols or digest is missing or wrong", path);
    d->rows = d->persons = (size_t)rows;
    d->cols = (size_t)cols;
    memcpy(d->digest, digest, 33);
    const json_t *quantised = json_object_get(root, "quantised");
    int rc = word_of(json_object_get(root, "storage"), dp_storages, 4, "storage", &storage, path, err);
    if (rc == DP_OK && quantised != NULL && !json_is_boolean(quantised))
        rc = dp_fail(err, DP_E_RUN, "%s: \"quantised\" is not true or false", path);
    d->storage = rc == DP_OK ? (enum dp_storage)storage : DP_STORAGE_DENSE;
    d->quantised = d->storage == DP_STORAGE_INT16 || json_is_true(quantised);
    return rc;
}

/* These members are absent if one row is taken for one person. */
static int read_persons(struct dp_dataset *d, const json_t *root, const char *path, struct dp_err *err)
{
    const json_t *persons = json_object_get(root, "persons"), *most = json_object_get(root, "rows_per_person");
    json_int_t count = json_integer_value(persons), rows = json_integer_value(most);
    if (persons == NULL && most == NULL)
        return DP_OK;
    if (json_integer_value(json_object_get(root, "format")) < 2)
        return dp_fail(err, DP_E_RUN, "%s: rows belong to persons from format 2 on", path);
    if (count < 0 || (size_t)count > d->rows || rows < 1 || rows > DP_UNIT_MOST)
        return dp_fail(err, DP_E_RUN, "%s: persons or rows_per_person is missing or wrong", path);
    d->persons = (size_t)count;
    d->rows_per_person = (size_t)rows;
    return DP_OK;
}

const char *dp_dataset_paid_mark(const struct dp_dataset *d)
{
    return d->paid.by != NULL && strcmp(d->paid.by, d->population) == 0 && d->paid.ledger[0] != '\0' ? d->paid.ledger : NULL;
}

/* Reads the cost of the schema, if it was paid for. */
static int read_paid(struct dp_dataset *d, const json_t *paid, const char *path, struct dp_err *err)
{
    const char *mark = json_string_value(json_object_get(paid, "ledger")),
               *who = json_string_value(json_object_get(paid, "population"));
    char others[200];
    bool says;
    dp_text_unpaid(d->private_preprocessing, &says, others, sizeof others);
    d->paid.epsilon = json_number_value(json_object_get(paid, "epsilon"));
    d->paid.delta = json_number_value(json_object_get(paid, "delta"));
    if (paid == NULL && !says)
        return DP_OK;
    if (!says || mark == NULL || who == NULL || !(d->paid.epsilon > 0) || !(d->paid.delta > 0 && d->paid.delta < 1))
        return dp_fail(err, DP_E_RUN, "%s: \"paid\" does not say what the schema has cost", path);
    d->paid.cost = json_dumps(paid, JSON_COMPACT | JSON_REAL_PRECISION(17));
    d->paid.ledger = dp_got(strdup(mark));
    d->paid.by = dp_got(strdup(who));
    return DP_OK;
}

static int read_nulls(struct dp_dataset *d, const json_t *root, const char *path, struct dp_err *err)
{
    const json_t *nulls = json_object_get(root, "nulls");
    if (nulls != NULL && !(json_is_boolean(nulls) && json_integer_value(json_object_get(root, "format")) >= 3))
        return dp_fail(err, DP_E_RUN, "%s: \"nulls\" is not true or false, from format 3 on", path);
    d->map->has_nulls = json_is_true(nulls);
    const json_t *column;
    size_t i;
    json_array_foreach (json_object_get(json_object_get(root, "schema"), "columns"), i, column) {
        const char *type = json_string_value(json_object_get(column, "type"));
        d->map->unmarked |= type != NULL && strcmp(type, "label") == 0 && json_object_get(column, "unknown") != NULL &&
                            json_is_true(json_object_get(root, "bias")) &&
                            json_integer_value(json_object_get(root, "format")) < 3;
    }
    return DP_OK;
}

static int read_schema(struct dp_dataset *d, const json_t *schema, const char *path, struct dp_err *err)
{
    if (schema != NULL && !json_is_object(schema))
        return dp_fail(err, DP_E_RUN, "%s: \"schema\" is not an object", path);
    d->schema = schema != NULL ? dp_json_text(schema, JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    return DP_OK;
}

static int read_description(struct dp_dataset *d, const json_t *root, const char *path, struct dp_err *err)
{
    const json_t *held_out = json_object_get(root, "held_out"), *who = json_object_get(root, "population");
    const json_t *split = json_object_get(root, "split");
    int rc = read_shape(d, root, path, err);
    rc = rc ?: read_persons(d, root, path, err);
    rc = rc ?: read_nulls(d, root, path, err);
    rc = rc ?: read_salt(d->map, root, path, err);
    rc = rc ?: join(json_object_get(root, "private_preprocessing"), &d->private_preprocessing, path, err);
    if (rc == DP_OK && ((held_out != NULL && !json_is_boolean(held_out)) || (who != NULL && !json_is_string(who)) ||
                        (split != NULL && !json_is_string(split))))
        rc = dp_fail(err, DP_E_RUN, "%s: \"population\" or \"split\" is not a text or \"held_out\" not true or false", path);
    rc = rc ?: read_paid(d, json_object_get(root, "paid"), path, err);
    d->held_out = json_is_true(held_out);
    if (rc == DP_OK)
        d->population = dp_got(strdup(who != NULL ? json_string_value(who) : d->digest));
    const json_t *left_out = json_object_get(root, "left_out");
    rc = rc ?: read_schema(d, json_object_get(root, "schema"), path, err);
    if (rc == DP_OK && json_is_array(left_out))
        d->left_out = dp_json_text(left_out, JSON_COMPACT);
    if (rc == DP_OK && split != NULL)
        d->split = dp_got(strdup(json_string_value(split)));
    rc = rc ?: read_label(&d->label, json_object_get(root, "label"), path, err);
    rc = rc ?: read_images(&d->images, root, path, err);
    rc = rc ?: read_row_norm(d, root, path, err);
    rc = rc ?: names_of(json_object_get(root, "names"), d->cols, "columns", &d->column_names, path, err);
    return rc;
}

static int load_description(struct dp_dataset *d, int at, const char *path, struct dp_err *err)
{
    char file[4200];
    struct stat st;
    json_t *root;
    snprintf(file, sizeof file, "%s/dataset.json", path);
    int fd = openat(at, "dataset.json", O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return errno == ENOENT ? dp_fail(err, DP_E_RUN, "cannot open %s: not a data set (see dp-import)", file)
                               : dp_fail_errno(err, errno, "cannot open %s", file);
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return dp_fail(err, DP_E_RUN, "%s is not a file", file);
    }
    int rc = dp_json_read(&root, fd, file, err);
    close(fd);
    rc = rc ?: read_description(d, root, file, err);
    json_decref(root);
    return rc;
}

static int check_sparse(const struct dp_dataset *d, const char *path, struct dp_err *err)
{
    const struct dp_dataset_map *m = d->map;
    uint64_t stored = m->x.dims[0];
    bool good = m->indices.dims[0] == stored && m->indptr.dims[0] == (uint64_t)d->rows + 1 && m->start[0] == 0 &&
                (uint64_t)m->start[d->rows] == stored;
    for (size_t i = 0; good && i < d->rows; i++)
        good = m->start[i] <= m->start[i + 1];
    /* Columns must ascend, so that none occurs twice: a repeated column would make the row longer than its norm says. */
    for (size_t i = 0; good && i < d->rows; i++)
        for (int64_t k = m->start[i], before = -1; good && k < m->start[i + 1]; before = m->columns[k++])
            good = m->columns[k] > before && (size_t)m->columns[k] < d->cols;
    return good ? DP_OK : dp_fail(err, DP_E_RUN, "%s: its CSR arrays do not fit one another", path);
}

static int check_labels(const struct dp_dataset *d, const char *path, struct dp_err *err)
{
    for (size_t i = 0; i < d->rows; i++) {
        double y = d->y[i];
        if (!isfinite(y) || (d->label.classes > 0 && (y < 0 || y >= (double)d->label.classes || y != floor(y))))
            return dp_fail(err, DP_E_RUN, "%s/y.npy: a label is not one of the classes or not finite", path);
    }
    return DP_OK;
}

static int check_scales(const struct dp_dataset *d, const char *path, struct dp_err *err)
{
    for (size_t j = 0; j < d->cols; j++)
        if (!dp_quantise_good(d->first.scale[j]))
            return dp_fail(err, DP_E_RUN, "%s/scales.npy: the scale of column %zu is not a power of two from 2^-126 to 2^112",
                           path, j + 1);
    return DP_OK;
}

/* Checks that each person has at least one row and at most rows_per_person, and that each row belongs to a person. */
static int map_persons(struct dp_dataset *d, int at, const char *path, struct dp_err *err)
{
    struct dp_dataset_map *m = d->map;
    int rc = dp_npy_open(&m->persons, at, path, "persons.npy", "<i8", 1, err);
    if (rc != DP_OK)
        return rc;
    const int64_t *start = m->persons.data;
    bool good = m->persons.dims[0] == (uint64_t)d->persons + 1 && start[0] == 0 && (uint64_t)start[d->persons] == d->rows;
    for (size_t i = 0; good && i < d->persons; i++)
        good = start[i] < start[i + 1] && start[i + 1] - start[i] <= (int64_t)d->rows_per_person;
    if (!good)
        return dp_fail(err, DP_E_RUN, "%s/persons.npy: does not divide %zu rows among %zu persons with 1 to %zu rows each",
                       path, d->rows, d->persons, d->rows_per_person);
    d->person = d->rows_per_person > 1 ? start : NULL;
    return DP_OK;
}

/* Null rows ascend, and no row is there twice. */
static int map_nulls(struct dp_dataset *d, int at, const char *path, struct dp_err *err)
{
    struct dp_dataset_map *m = d->map;
    int rc = dp_npy_open(&m->nulls, at, path, "nulls.npy", "<i8", 1, err);
    if (rc != DP_OK)
        return rc;
    d->nulls.row = m->nulls.data;
    d->nulls.count = m->nulls.dims[0];
    bool good = true;
    d->nulls.bit = d->nulls.count > 0 ? dp_new(d->rows / 64 + 1, sizeof *d->nulls.bit) : NULL;
    for (size_t i = 0; good && i < d->nulls.count; i++) {
        good = d->nulls.row[i] > (i > 0 ? d->nulls.row[i - 1] : -1) && (uint64_t)d->nulls.row[i] < d->rows;
        if (good)
            d->nulls.bit[(size_t)d->nulls.row[i] / 64] |= (uint64_t)1 << (size_t)d->nulls.row[i] % 64;
    }
    return good ? DP_OK : dp_fail(err, DP_E_RUN, "%s/nulls.npy: not the numbers of rows, in their order", path);
}

/* The null rows of an earlier format, whose entries are all 0. Other rows have a constant, but 16 bits may not keep it. */
static void find_nulls(struct dp_dataset *d)
{
    struct dp_dataset_map *m = d->map;
    d->nulls.row = m->found = dp_new(d->rows + 1, sizeof *m->found);
    d->nulls.bit = dp_new(d->rows / 64 + 1, sizeof *d->nulls.bit);
    for (size_t i = 0; i < d->rows; i++)
        if (dp_row_norm2(dp_dataset_row(d, i)) == 0) {
            m->found[d->nulls.count++] = (int64_t)i;
            d->nulls.bit[i / 64] |= (uint64_t)1 << i % 64;
        }
}

/* The schema makes the rows. */
static int open_cells(struct dp_dataset *d, const char *path, struct dp_err *err)
{
    struct dp_dataset_map *m = d->map;
    if (d->schema == NULL)
        return dp_fail(err, DP_E_RUN, "%s: has no \"schema\", of which its rows are made", path);
    int rc = dp_row_maker_open(&m->maker, d->schema, path, err);
    m->count = rc == DP_OK ? dp_row_maker_cells(m->maker) : 0;
    if (rc == DP_OK && dp_row_maker_cols(m->maker) != d->cols)
        rc = dp_fail(err, DP_E_RUN, "%s: its schema makes rows of %zu entries, and dataset.json states %zu", path,
                     dp_row_maker_cols(m->maker), d->cols);
    return rc;
}

static int map_rows(struct dp_dataset *d, int at, const char *path, struct dp_err *err)
{
    static const struct {
        const char *name, *dtype;
        int ndim;
    } x[] = {[DP_STORAGE_DENSE] = {"X.npy", "<f4", 2},
             [DP_STORAGE_CSR] = {"X_data.npy", "<f4", 1},
             [DP_STORAGE_INT16] = {"X_i16.npy", "<i2", 2},
             [DP_STORAGE_CELLS] = {"X_cells.npy", "<f8", 2}};
    struct dp_dataset_map *m = d->map;
    int rc = dp_npy_open(&m->x, at, path, x[d->storage].name, x[d->storage].dtype, x[d->storage].ndim, err);
    if (rc == DP_OK && d->storage == DP_STORAGE_CSR)
        rc = dp_npy_open(&m->indices, at, path, "X_indices.npy", "<i4", 1, err);
    if (rc == DP_OK && d->storage == DP_STORAGE_CSR)
        rc = dp_npy_open(&m->indptr, at, path, "X_indptr.npy", "<i8", 1, err);
    if (rc == DP_OK && d->storage == DP_STORAGE_INT16)
        rc = dp_npy_open(&m->scales, at, path, "scales.npy", "<f4", 1, err);
    m->values = d->storage == DP_STORAGE_CSR ? m->x.data : NULL;
    m->columns = m->indices.data;
    m->start = m->indptr.data;
    if (d->storage == DP_STORAGE_DENSE)
        d->first = dp_row_dense(m->x.data, d->cols);
    if (d->storage == DP_STORAGE_INT16)
        d->first = dp_row_narrow(m->x.data, m->scales.data, d->cols);
    return rc == DP_OK && d->storage == DP_STORAGE_CELLS ? open_cells(d, path, err) : rc;
}

static int map_arrays(struct dp_dataset *d, int at, const char *path, struct dp_err *err)
{
    struct dp_dataset_map *m = d->map;
    int rc = dp_npy_open(&m->y, at, path, "y.npy", "<f8", 1, err);
    rc = rc ?: map_rows(d, at, path, err);
    if (rc == DP_OK && d->rows_per_person > 0)
        rc = map_persons(d, at, path, err);
    if (rc == DP_OK && m->has_nulls)
        rc = map_nulls(d, at, path, err);
    if (rc != DP_OK)
        return rc;
    d->y = m->y.data;
    bool sparse = d->storage == DP_STORAGE_CSR;
    if (m->y.dims[0] != d->rows ||
        (!sparse && (m->x.dims[0] != d->rows || m->x.dims[1] != (m->maker != NULL ? m->count : d->cols))) ||
        (d->storage == DP_STORAGE_INT16 && m->scales.dims[0] != d->cols))
        return dp_fail(err, DP_E_RUN, "%s: its arrays do not have the shape that dataset.json states", path);
    rc = d->storage == DP_STORAGE_INT16 ? check_scales(d, path, err) : sparse ? check_sparse(d, path, err) : DP_OK;
    if (rc == DP_OK && m->unmarked)
        find_nulls(d);
    return rc;
}

static void free_names(char **names, size_t count)
{
    for (size_t i = 0; names != NULL && i < count; i++)
        free(names[i]);
    free(names);
}

void dp_dataset_close(struct dp_dataset *dataset)
{
    if (dataset == NULL)
        return;
    if (dataset->map != NULL) {
        dp_npy_close(&dataset->map->x);
        dp_npy_close(&dataset->map->indices);
        dp_npy_close(&dataset->map->indptr);
        dp_npy_close(&dataset->map->scales);
        dp_npy_close(&dataset->map->persons);
        dp_npy_close(&dataset->map->nulls);
        dp_npy_close(&dataset->map->y);
        dp_row_maker_close(dataset->map->maker);
        free(dataset->map->found);
    }
    free_names(dataset->label.class_names, dataset->label.classes);
    free_names(dataset->column_names, dataset->cols);
    free(dataset->nulls.bit);
    free(dataset->label.name);
    free(dataset->left_out);
    free(dataset->population);
    free(dataset->split);
    free(dataset->schema);
    free(dataset->row_norm);
    free(dataset->images.pixels);
    free(dataset->private_preprocessing);
    free(dataset->paid.cost);
    free(dataset->paid.ledger);
    free(dataset->paid.by);
    free(dataset->map);
    free(dataset);
}

/* Opens everything through one descriptor, so that all arrays are of one directory, even if another directory gets its name
 * meanwhile. */
static int open_at(struct dp_dataset **dataset, int at, const char *path, struct dp_err *err)
{
    struct dp_dataset *d = dp_new(1, sizeof *d);
    d->map = dp_new(1, sizeof *d->map);
    int rc = load_description(d, at, path, err);
    rc = rc ?: map_arrays(d, at, path, err);
    rc = rc ?: check_labels(d, path, err);
    if (rc == DP_OK || d->y != NULL) {
        /* If a file was written to meanwhile, report that: it explains other errors. */
        int changed = dp_mapped_check(true, err);
        rc = changed != DP_OK ? changed : rc;
    }
    if (rc != DP_OK) {
        dp_dataset_close(d);
        return rc;
    }
    *dataset = d;
    return DP_OK;
}

int dp_dataset_open(struct dp_dataset **dataset, const char *path, struct dp_err *err)
{
    struct stat opened, named;
    if (strlen(path) > 4000)
        return dp_fail(err, DP_E_RUN, "%.60s…: the path is too long", path);
    for (int tries = 1;; tries++) {
        int at = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (at < 0)
            return errno == ENOENT || errno == ENOTDIR
                       ? dp_fail(err, DP_E_RUN, "cannot open %s/dataset.json: not a data set (see dp-import)", path)
                       : dp_fail_errno(err, errno, "cannot open %s", path);
        int rc = open_at(dataset, at, path, err);
        /* dp-import --force removes the files of the old data set one by one; the new data set then has the name, so open that
         * one. */
        bool replaced = rc != DP_OK && fstat(at, &opened) == 0 && stat(path, &named) == 0 &&
                        (opened.st_dev != named.st_dev || opened.st_ino != named.st_ino);
        close(at);
        if (!replaced || tries == 100)
            return rc;
    }
}

struct dp_row dp_dataset_other_row(const struct dp_dataset *dataset, size_t i)
{
    const struct dp_dataset_map *m = dataset->map;
    if (m->maker != NULL)
        return dp_row_maker_row(m->maker, dp_dataset_is_null(dataset, i) ? NULL : (const double *)m->x.data + i * m->count);
    /* Zeros may stand for pages of X_indptr.npy that are gone; see mapped.h. */
    int64_t from = m->start[i], to = m->start[i + 1];
    size_t count = from >= 0 && to > from && (uint64_t)to <= m->x.dims[0] ? (size_t)(to - from) : 0;
    return dp_row_sparse(m->values + (count > 0 ? from : 0), m->columns + (count > 0 ? from : 0), count);
}

static int check_row(const struct dp_dataset *d, size_t i, const char *path, struct dp_err *err)
{
    struct dp_row row = dp_dataset_row(d, i);
    double norm2 = dp_row_norm2(row);
    if (!isfinite(norm2))
        return dp_fail(err, DP_E_RUN, "%s: row %zu is not finite", path, i + 1);
    if (norm2 > 1 + (double)(row.count + 16) * 0x1p-52)
        return dp_fail(err, DP_E_RUN, "%s: row %zu has norm %.9g, above 1", path, i + 1, sqrt(norm2));
    return DP_OK;
}

/* Hashes the values of a row as floats, whatever the storage; whole: zeros, too. */
static void hash_values(struct dp_hash *hash, struct dp_row row, bool whole)
{
    float part[DP_DIGEST_PART];
    for (size_t j = 0, count; j < row.count; j += count) {
        count = row.count - j < DP_DIGEST_PART ? row.count - j : DP_DIGEST_PART;
        for (size_t k = 0; k < count; k++)
            part[k] = dp_row_value(&row, j + k);
        if (whole)
            dp_hash_add(hash, part, count * sizeof *part);
        else
            dp_digest_row(hash, part, count);
    }
}

size_t dp_dataset_labels(const struct dp_dataset *d, double *y)
{
    memcpy(y, d->y, d->rows * sizeof *y);
    dp_dataset_keep_labelled(d, y, 1);
    return d->rows - d->nulls.count;
}

void dp_dataset_keep_labelled(const struct dp_dataset *d, double *values, size_t each)
{
    size_t kept = 0;
    for (size_t i = 0; i < d->rows; i++) {
        if (dp_dataset_is_null(d, i))
            continue;
        memmove(values + kept++ * each, values + i * each, each * sizeof *values);
    }
}

int dp_dataset_verify(const struct dp_dataset *d, const char *path, struct dp_err *err)
{
    const struct dp_dataset_map *m = d->map;
    struct dp_hash hash;
    char digest[33];
    int rc = DP_OK;
    const int64_t *person = m->persons.data;
    dp_digest_start(&hash, m->salted ? m->salt : NULL);
    if (person != NULL)
        dp_hash_add(&hash, person++, sizeof *person);
    if (m->start != NULL)
        dp_hash_add(&hash, m->start, sizeof *m->start);
    for (size_t i = 0; rc == DP_OK && i < d->rows; i++) {
        struct dp_row row = dp_dataset_row(d, i);
        rc = check_row(d, i, path, err);
        if (m->start != NULL) {
            dp_hash_add(&hash, row.columns, row.count * sizeof *row.columns);
            dp_hash_add(&hash, &m->start[i + 1], sizeof *m->start);
        }
        if (m->maker != NULL)
            dp_hash_add(&hash, (const double *)m->x.data + i * m->count, m->count * sizeof(double));
        else
            hash_values(&hash, row, m->whole || m->start != NULL);
        dp_hash_add(&hash, &d->y[i], sizeof *d->y);
        if (person != NULL && *person == (int64_t)i + 1)
            dp_hash_add(&hash, person++, sizeof *person);
    }
    if (m->has_nulls)
        dp_hash_add(&hash, d->nulls.row, d->nulls.count * sizeof *d->nulls.row);
    if (m->maker != NULL)
        dp_hash_add(&hash, d->schema, strlen(d->schema));
    dp_digest_finish(&hash, d->rows, d->cols, digest);
    if (dp_mapped_check(true, err) != DP_OK)
        rc = DP_E_RUN;
    if (rc == DP_OK && strcmp(digest, d->digest) != 0)
        rc = dp_fail(err, DP_E_RUN, "%s: its contents are not those that dp-import wrote: the digest differs", path);
    return rc;
}
