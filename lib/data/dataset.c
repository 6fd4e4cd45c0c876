#include "data/dataset.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "data/digest.h"
#include "data/npy.h"

struct dp_dataset_map {
    struct dp_npy x, indices, indptr, y;
    const float *values;
    const int32_t *columns; /* CSR, else NULL */
    const int64_t *start;   /* CSR: rows + 1 */
    bool salted;
    unsigned char salt[crypto_generichash_KEYBYTES];
};

/* A string of the object, copied; NULL when absent. */
static char *text_of(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value != NULL ? strdup(value) : NULL;
}

static int names_of(const json_t *list, size_t expected, char ***names, const char *path, struct dp_err *err)
{
    if (!json_is_array(list))
        return DP_OK;
    if (json_array_size(list) != expected)
        return dp_fail(err, DP_E_RUN, "%s: names %zu things, the data has %zu", path, json_array_size(list),
                       expected);
    int rc = dp_alloc(names, expected, sizeof **names, err);
    for (size_t i = 0; rc == DP_OK && i < expected; i++) {
        const char *name = json_string_value(json_array_get(list, i));
        (*names)[i] = strdup(name != NULL ? name : "");
        if ((*names)[i] == NULL)
            rc = dp_fail(err, DP_E_RUN, "out of memory");
    }
    return rc;
}

static char *join(const json_t *list)
{
    size_t size = 1;
    for (size_t i = 0; i < json_array_size(list); i++)
        size += json_string_length(json_array_get(list, i)) + 1;
    char *text = calloc(size, 1);
    for (size_t i = 0; text != NULL && i < json_array_size(list); i++) {
        const char *word = json_string_value(json_array_get(list, i));
        if (i > 0)
            strcat(text, ",");
        strcat(text, word != NULL ? word : "");
    }
    return text;
}

static int read_description(struct dp_dataset *d, const char *path, struct dp_err *err)
{
    json_error_t where;
    json_t *root = json_load_file(path, 0, &where);
    if (root == NULL)
        return where.line < 0 ? dp_fail(err, DP_E_RUN, "cannot open %s: not a data set (see dp-import)", path)
                              : dp_fail(err, DP_E_RUN, "%s: line %d: %s", path, where.line, where.text);
    int rc = DP_OK;
    const json_t *label = json_object_get(root, "label");
    const char *kind = json_string_value(json_object_get(label, "kind"));
    const char *storage = json_string_value(json_object_get(root, "storage"));
    const char *digest = json_string_value(json_object_get(root, "digest"));
    const char *salt = json_string_value(json_object_get(root, "salt"));
    json_int_t rows = json_integer_value(json_object_get(root, "rows"));
    json_int_t cols = json_integer_value(json_object_get(root, "cols"));
    if (json_integer_value(json_object_get(root, "format")) != 1)
        rc = dp_fail(err, DP_E_RUN, "%s: \"format\" is not 1", path);
    else if (rows < 0 || cols < 1 || cols > INT32_MAX || kind == NULL || storage == NULL || digest == NULL ||
             strlen(digest) != 32)
        rc = dp_fail(err, DP_E_RUN, "%s: rows, cols, storage, label or digest is missing or wrong", path);
    if (rc == DP_OK) {
        d->rows = (size_t)rows;
        d->cols = (size_t)cols;
        d->sparse = strcmp(storage, "csr") == 0;
        memcpy(d->digest, digest, 33);
        d->map->salted = salt != NULL && salt[0] != '\0';
        size_t length = 0;
        if (d->map->salted && (sodium_hex2bin(d->map->salt, sizeof d->map->salt, salt, strlen(salt), NULL,
                                              &length, NULL) != 0 ||
                               length != sizeof d->map->salt))
            rc = dp_fail(err, DP_E_RUN, "%s: \"salt\" is not %zu hexadecimal digits", path,
                         2 * sizeof d->map->salt);
    }
    if (rc == DP_OK) {
        d->label_kind = strcmp(kind, "classes") == 0 ? DP_LABEL_CLASSES : DP_LABEL_REAL;
        const json_t *classes = json_object_get(label, "classes"), *scale = json_object_get(label, "scale");
        d->classes = d->label_kind == DP_LABEL_CLASSES ? json_array_size(classes) : 0;
        d->label_scale = json_is_number(scale) ? json_number_value(scale) : 1;
        d->label_offset = json_number_value(json_object_get(label, "offset"));
        d->label_name = text_of(label, "name");
        d->private_preprocessing = join(json_object_get(root, "private_preprocessing"));
        d->held_out = json_is_true(json_object_get(root, "held_out"));
        d->population = text_of(root, "population");
        if (d->population == NULL)
            d->population = strdup(d->digest);
        if (d->population == NULL)
            rc = dp_fail(err, DP_E_RUN, "out of memory");
        if (rc == DP_OK && d->label_kind == DP_LABEL_CLASSES)
            rc = names_of(classes, d->classes, &d->class_names, path, err);
        if (rc == DP_OK)
            rc = names_of(json_object_get(root, "names"), d->cols, &d->column_names, path, err);
    }
    json_decref(root);
    return rc;
}

static int check_sparse(const struct dp_dataset *d, const char *path, struct dp_err *err)
{
    const struct dp_dataset_map *m = d->map;
    uint64_t stored = m->x.dims[0];
    bool good = m->indices.dims[0] == stored && m->indptr.dims[0] == (uint64_t)d->rows + 1 &&
                m->start[0] == 0 && (uint64_t)m->start[d->rows] == stored;
    for (size_t i = 0; good && i < d->rows; i++)
        good = m->start[i] <= m->start[i + 1];
    /* Ascending, so that no column is there twice: its entries would add up beyond the norm of the row. */
    for (size_t i = 0; good && i < d->rows; i++)
        for (int64_t k = m->start[i], before = -1; good && k < m->start[i + 1]; before = m->columns[k++])
            good = m->columns[k] > before && (size_t)m->columns[k] < d->cols;
    return good ? DP_OK : dp_fail(err, DP_E_RUN, "%s: its CSR arrays do not fit one another", path);
}

static int check_labels(const struct dp_dataset *d, const char *path, struct dp_err *err)
{
    for (size_t i = 0; i < d->rows; i++) {
        double y = d->y[i];
        if (!isfinite(y) || (d->classes > 0 && (y < 0 || y >= (double)d->classes || y != floor(y))))
            return dp_fail(err, DP_E_RUN, "%s/y.npy: a label is not one of the classes or not finite", path);
    }
    return DP_OK;
}

static int map_arrays(struct dp_dataset *d, const char *path, struct dp_err *err)
{
    struct dp_dataset_map *m = d->map;
    int rc = dp_npy_open(&m->y, path, "y.npy", "<f8", 1, err);
    if (rc == DP_OK && !d->sparse)
        rc = dp_npy_open(&m->x, path, "X.npy", "<f4", 2, err);
    if (rc == DP_OK && d->sparse)
        rc = dp_npy_open(&m->x, path, "X_data.npy", "<f4", 1, err);
    if (rc == DP_OK && d->sparse)
        rc = dp_npy_open(&m->indices, path, "X_indices.npy", "<i4", 1, err);
    if (rc == DP_OK && d->sparse)
        rc = dp_npy_open(&m->indptr, path, "X_indptr.npy", "<i8", 1, err);
    if (rc != DP_OK)
        return rc;
    d->y = m->y.data;
    m->values = m->x.data;
    m->columns = m->indices.data;
    m->start = m->indptr.data;
    if (m->y.dims[0] != d->rows || (!d->sparse && (m->x.dims[0] != d->rows || m->x.dims[1] != d->cols)))
        return dp_fail(err, DP_E_RUN, "%s: its arrays do not have the shape that dataset.json states", path);
    return d->sparse ? check_sparse(d, path, err) : DP_OK;
}

int dp_dataset_open(struct dp_dataset **dataset, const char *path, struct dp_err *err)
{
    struct dp_dataset *d;
    char description[4096];
    int rc = dp_alloc(&d, 1, sizeof *d, err);
    if (rc != DP_OK)
        return rc;
    if ((size_t)snprintf(description, sizeof description, "%s/dataset.json", path) >= sizeof description)
        rc = dp_fail(err, DP_E_RUN, "%.60s…: the path is too long", path);
    if (rc == DP_OK)
        rc = dp_alloc(&d->map, 1, sizeof *d->map, err);
    if (rc == DP_OK)
        rc = read_description(d, description, err);
    if (rc == DP_OK)
        rc = map_arrays(d, path, err);
    if (rc == DP_OK)
        rc = check_labels(d, path, err);
    if (rc != DP_OK) {
        dp_dataset_close(d);
        return rc;
    }
    *dataset = d;
    return DP_OK;
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
        dp_npy_close(&dataset->map->y);
    }
    free_names(dataset->class_names, dataset->classes);
    free_names(dataset->column_names, dataset->cols);
    free(dataset->label_name);
    free(dataset->population);
    free(dataset->private_preprocessing);
    free(dataset->map);
    free(dataset);
}

struct dp_row dp_dataset_row(const struct dp_dataset *dataset, size_t i)
{
    const struct dp_dataset_map *m = dataset->map;
    if (!dataset->sparse)
        return (struct dp_row){m->values + i * dataset->cols, NULL, dataset->cols};
    size_t from = (size_t)m->start[i];
    return (struct dp_row){m->values + from, m->columns + from, (size_t)m->start[i + 1] - from};
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

int dp_dataset_verify(const struct dp_dataset *d, const char *path, struct dp_err *err)
{
    const struct dp_dataset_map *m = d->map;
    crypto_generichash_state hash;
    char digest[33];
    int rc = DP_OK;
    dp_digest_start(&hash, m->salted ? m->salt : NULL);
    if (d->sparse)
        crypto_generichash_update(&hash, (const unsigned char *)m->start, sizeof *m->start);
    for (size_t i = 0; rc == DP_OK && i < d->rows; i++) {
        struct dp_row row = dp_dataset_row(d, i);
        rc = check_row(d, i, path, err);
        if (d->sparse) {
            crypto_generichash_update(&hash, (const unsigned char *)row.columns,
                                      row.count * sizeof *row.columns);
            crypto_generichash_update(&hash, (const unsigned char *)&m->start[i + 1], sizeof *m->start);
        }
        crypto_generichash_update(&hash, (const unsigned char *)row.values, row.count * sizeof *row.values);
        crypto_generichash_update(&hash, (const unsigned char *)&d->y[i], sizeof *d->y);
    }
    dp_digest_finish(&hash, d->rows, d->cols, digest);
    if (rc == DP_OK && strcmp(digest, d->digest) != 0)
        rc = dp_fail(err, DP_E_RUN, "%s: its contents are not those that dp-import wrote: the digest differs",
                     path);
    return rc;
}
