#include "audit/variant.h"

#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "data/npy.h"

static const char *const files[] = {"dataset.json",  "y.npy",        "X.npy",      "X_data.npy",
                                    "X_indices.npy", "X_indptr.npy", "persons.npy"};

static int open_in(FILE **stream, const char *directory, const char *name, const char *mode, struct dp_err *err)
{
    char path[4200];
    if ((size_t)snprintf(path, sizeof path, "%s/%s", directory, name) >= sizeof path)
        return dp_fail(err, DP_E_RUN, "%.60s…: the path is too long", directory);
    *stream = fopen(path, mode);
    return *stream != NULL ? DP_OK : dp_fail_errno(err, errno, "cannot open %s", path);
}

static int close_checked(FILE *stream, int rc, const char *directory, struct dp_err *err)
{
    if (stream == NULL)
        return rc;
    int bad = ferror(stream);
    if ((fclose(stream) != 0 || bad) && rc == DP_OK)
        return dp_fail_errno(err, errno, "cannot write in %s", directory);
    return rc;
}

/* Copies the description, but rows of 16 bits or of cells become rows of floats, because the replacement of a row can have any
 * value. */
static int copy_description(const struct dp_variant *variant, const char *path, struct dp_err *err)
{
    FILE *to = NULL;
    json_t *root = NULL;
    char from[4200];
    if ((size_t)snprintf(from, sizeof from, "%s/%s", path, files[0]) >= sizeof from)
        return dp_fail(err, DP_E_RUN, "%.60s…: the path is too long", path);
    int rc = dp_json_load(&root, from, err);
    const char *storage = json_string_value(json_object_get(root, "storage"));
    if (storage != NULL && strcmp(storage, dp_storages[DP_STORAGE_INT16]) == 0)
        json_object_set_new(root, "quantised", json_true());
    if (storage != NULL && strcmp(storage, dp_storages[DP_STORAGE_CSR]) != 0)
        json_object_set_new(root, "storage", json_string(dp_storages[DP_STORAGE_DENSE]));
    json_object_del(root, "nulls"); /* nothing is measured on the rows */
    rc = rc ?: open_in(&to, variant->path, files[0], "w", err);
    if (rc == DP_OK)
        dp_json_print(root, 1, to);
    json_decref(root);
    return close_checked(to, rc, variant->path, err);
}

int dp_variant_open(struct dp_variant *variant, const char *parent, const char *path, struct dp_err *err)
{
    int rc = dp_audit_directory(variant->path, parent, err);
    return rc ?: copy_description(variant, path, err);
}

static bool is_replaced(const struct dp_variant_rows *rows, size_t i)
{
    return i >= rows->first && i - rows->first < rows->count;
}

/* The entries of row i: from the data set, none if blank, or the replacement. */
static struct dp_row row_of(const struct dp_dataset *d, bool blank, const struct dp_variant_rows *rows, size_t i)
{
    if (is_replaced(rows, i))
        return dp_row_dense(rows->x + (i - rows->first) * d->cols, d->cols);
    return blank ? dp_row_dense(NULL, 0) : dp_dataset_row(d, i);
}

static int write_dense(const struct dp_variant *v, const struct dp_dataset *d, bool blank, const struct dp_variant_rows *rows,
                       struct dp_err *err)
{
    FILE *out;
    float *values = dp_new(d->cols, sizeof *values);
    int rc = open_in(&out, v->path, "X.npy", "w", err);
    if (rc == DP_OK) {
        rc = dp_npy_write_header(out, "<f4", d->rows, d->cols, err);
        for (size_t i = 0; rc == DP_OK && i < d->rows; i++) {
            struct dp_row r = row_of(d, blank, rows, i);
            for (size_t j = 0; j < d->cols; j++)
                values[j] = r.count > 0 ? dp_row_value(&r, j) : 0;
            fwrite(values, sizeof *values, d->cols, out);
        }
        rc = close_checked(out, rc, v->path, err);
    }
    free(values);
    return rc;
}

static int write_sparse(const struct dp_variant *v, const struct dp_dataset *d, bool blank, const struct dp_variant_rows *rows,
                        struct dp_err *err)
{
    FILE *data = NULL, *indices = NULL, *start = NULL;
    int64_t stored = 0;
    int rc = open_in(&data, v->path, "X_data.npy", "w", err);
    rc = rc ?: open_in(&indices, v->path, "X_indices.npy", "w", err);
    rc = rc ?: open_in(&start, v->path, "X_indptr.npy", "w", err);
    /* headers have a fixed size: they are written again when the count is known */
    rc = rc ?: dp_npy_write_header(data, "<f4", 0, 0, err);
    rc = rc ?: dp_npy_write_header(indices, "<i4", 0, 0, err);
    rc = rc ?: dp_npy_write_header(start, "<i8", d->rows + 1, 0, err);
    if (rc == DP_OK)
        fwrite(&stored, sizeof stored, 1, start);
    for (size_t i = 0; rc == DP_OK && i < d->rows; i++) {
        struct dp_row r = row_of(d, blank, rows, i);
        for (size_t j = 0; j < r.count; j++) {
            int32_t column = r.columns != NULL ? r.columns[j] : (int32_t)j;
            if (r.columns == NULL && r.values[j] == 0)
                continue;
            fwrite(&r.values[j], sizeof *r.values, 1, data);
            fwrite(&column, sizeof column, 1, indices);
            stored++;
        }
        fwrite(&stored, sizeof stored, 1, start);
    }
    if (rc == DP_OK) {
        rewind(data);
        rewind(indices);
        rc = dp_npy_write_header(data, "<f4", (uint64_t)stored, 0, err);
    }
    rc = rc ?: dp_npy_write_header(indices, "<i4", (uint64_t)stored, 0, err);
    rc = close_checked(data, rc, v->path, err);
    rc = close_checked(indices, rc, v->path, err);
    return close_checked(start, rc, v->path, err);
}

static int write_persons(const struct dp_variant *v, const struct dp_dataset *d, struct dp_err *err)
{
    FILE *out;
    int rc = open_in(&out, v->path, "persons.npy", "w", err);
    if (rc != DP_OK)
        return rc;
    rc = dp_npy_write_header(out, "<i8", d->persons + 1, 0, err);
    for (size_t i = 0; rc == DP_OK && i <= d->persons; i++) {
        int64_t start = d->person != NULL ? d->person[i] : (int64_t)i;
        fwrite(&start, sizeof start, 1, out);
    }
    return close_checked(out, rc, v->path, err);
}

int dp_variant_write(const struct dp_variant *variant, const struct dp_dataset *dataset, bool blank,
                     const struct dp_variant_rows *rows, struct dp_err *err)
{
    FILE *out;
    int rc = (dataset->storage == DP_STORAGE_CSR ? write_sparse : write_dense)(variant, dataset, blank, rows, err);
    if (rc == DP_OK && dataset->rows_per_person > 0)
        rc = write_persons(variant, dataset, err);
    rc = rc ?: open_in(&out, variant->path, "y.npy", "w", err);
    if (rc != DP_OK)
        return rc;
    rc = dp_npy_write_header(out, "<f8", dataset->rows, 0, err);
    for (size_t i = 0; rc == DP_OK && i < dataset->rows; i++)
        fwrite(is_replaced(rows, i) ? &rows->y[i - rows->first] : &dataset->y[i], sizeof *dataset->y, 1, out);
    return close_checked(out, rc, variant->path, err);
}

void dp_variant_close(struct dp_variant *variant)
{
    char path[4200];
    if (variant->path[0] == '\0')
        return;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", variant->path, files[i]);
        unlink(path);
    }
    rmdir(variant->path);
    variant->path[0] = '\0';
}
