#include "data/dataset_write.h"

#include <fcntl.h>
#include <sodium.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/sync.h"
#include "base/text.h"
#include "data/dataset.h"
#include "data/digest.h"
#include "base/interrupt.h"
#include "data/npy.h"
#include "data/quantise.h"

#define BUFFER ((size_t)1 << 16) /* of the rows: written page by page they would cost as much again */

enum file { FILE_X, FILE_INDICES, FILE_INDPTR, FILE_Y, FILE_SCALES, FILE_PERSONS, FILE_NULLS, FILES };

struct dp_writer {
    struct dp_writer_options options;
    char *path, *temporary, *population, *split;
    FILE *file[FILES];
    size_t rows, stored, persons;
    int64_t *null; /* nulls */
    size_t nulls, nulls_capacity;
    float *row;       /* cols */
    int32_t *columns; /* cols, CSR */
    int16_t *narrow;  /* cols, int16 */
    unsigned char salt[crypto_generichash_KEYBYTES];
    struct dp_hash hash;
};

static const char *file_name(const struct dp_writer *w, enum file file)
{
    static const char *const x[] = {"X.npy", "X_data.npy", "X_cells.npy", "X_i16.npy"};
    static const char *const names[] = {"", "X_indices.npy", "X_indptr.npy", "y.npy", "scales.npy", "persons.npy", "nulls.npy"};
    return file == FILE_X ? x[w->options.storage] : names[file];
}

static bool is_sparse(const struct dp_writer *w)
{
    return w->options.storage == DP_STORAGE_CSR;
}

static bool is_narrow(const struct dp_writer *w)
{
    return w->options.storage == DP_STORAGE_INT16;
}

static bool has_cells(const struct dp_writer *w)
{
    return w->options.storage == DP_STORAGE_CELLS;
}

static bool has_file(const struct dp_writer *w, enum file file)
{
    if (file == FILE_PERSONS)
        return w->options.rows_per_person > 0;
    if (file == FILE_NULLS)
        return w->options.nulls;
    return file == FILE_X || file == FILE_Y || (file == FILE_SCALES ? is_narrow(w) : is_sparse(w));
}

/* Files that runs write next to the arrays: they say what the rows have cost so far, so a new import keeps them. */
static const char *const kept[] = {"ledger", "ledger.mark"};
enum { KEPT = sizeof kept / sizeof kept[0] };

static void remove_directory(const char *path)
{
    static const char *const names[] = {"X.npy",      "X_data.npy",  "X_indices.npy", "X_indptr.npy", "X_i16.npy",
                                        "scales.npy", "y.npy",       "persons.npy",   "nulls.npy",    "X_cells.npy",
                                        "ledger",     "ledger.mark", "dataset.json"};
    char file[4500];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(file, sizeof file, "%s/%s", path, names[i]);
        unlink(file);
    }
    rmdir(path);
}

static int put_alone(struct dp_writer *w, enum file file, const void *data, size_t size, struct dp_err *err)
{
    if (size > 0 && fwrite(data, 1, size, w->file[file]) != size)
        return dp_fail_errno(err, errno, "cannot write %s/%s", w->path, file_name(w, file));
    return DP_OK;
}

/* Writes data to the file and adds it to the digest. */
static int put(struct dp_writer *w, enum file file, const void *data, size_t size, struct dp_err *err)
{
    dp_hash_add(&w->hash, data, size);
    return put_alone(w, file, data, size, err);
}

static int put_header(struct dp_writer *w, enum file file, struct dp_err *err)
{
    static const char *const dtype[] = {"<f4", "<i4", "<i8", "<f8", "<f4", "<i8", "<i8"};
    uint64_t d0 = w->stored, d1 = 0;
    if (file == FILE_Y || (file == FILE_X && !is_sparse(w)))
        d0 = w->rows;
    if (file == FILE_INDPTR)
        d0 = w->rows + 1;
    if (file == FILE_SCALES)
        d0 = w->options.cols;
    if (file == FILE_PERSONS)
        d0 = w->persons + 1;
    if (file == FILE_NULLS)
        d0 = w->nulls;
    if (file == FILE_X && !is_sparse(w))
        d1 = has_cells(w) ? w->options.cells : w->options.cols;
    const char *x = is_narrow(w) ? "<i2" : has_cells(w) ? "<f8" : dtype[FILE_X];
    return dp_npy_write_header(w->file[file], file == FILE_X ? x : dtype[file], d0, d1, err);
}

/* Creates a file that only the owner may read; NULL with errno. */
static FILE *create(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    FILE *file = fd >= 0 ? fdopen(fd, "wb") : NULL;
    if (file == NULL && fd >= 0) {
        int saved = errno;
        close(fd);
        errno = saved;
    }
    return file;
}

static int open_files(struct dp_writer *w, struct dp_err *err)
{
    char path[4200];
    for (int f = 0; f < FILES; f++) {
        if (!has_file(w, (enum file)f))
            continue;
        snprintf(path, sizeof path, "%s/%s", w->temporary, file_name(w, (enum file)f));
        w->file[f] = create(path);
        if (w->file[f] == NULL)
            return dp_fail_errno(err, errno, "cannot create %s", path);
        if (f == FILE_X)
            setvbuf(w->file[f], NULL, _IOFBF, BUFFER);
        int rc = put_header(w, (enum file)f, err);
        if (rc != DP_OK)
            return rc;
    }
    int64_t zero = 0;
    int rc = w->options.rows_per_person > 0 ? put(w, FILE_PERSONS, &zero, sizeof zero, err) : DP_OK;
    if (rc != DP_OK)
        return rc;
    if (is_narrow(w))
        return put_alone(w, FILE_SCALES, w->options.step, w->options.cols * sizeof(float), err);
    return is_sparse(w) ? put(w, FILE_INDPTR, &zero, sizeof zero, err) : DP_OK;
}

int dp_writer_check_target(const char *path, bool force, struct dp_err *err)
{
    struct stat st;
    char description[4200];
    if (lstat(path, &st) != 0)
        return DP_OK;
    if (!force)
        return dp_fail(err, DP_E_RUN, "%s exists (--force replaces it)", path);
    snprintf(description, sizeof description, "%s/dataset.json", path);
    if (!S_ISDIR(st.st_mode) || stat(description, &st) != 0)
        return dp_fail(err, DP_E_RUN, "%s is not a data set: it will not be replaced", path);
    return DP_OK;
}

int dp_writer_check_population(const char *name, struct dp_err *err)
{
    size_t length = name != NULL ? strlen(name) : 1;
    bool printable = true;
    for (size_t i = 0; name != NULL && i < length; i++)
        printable &= (unsigned char)name[i] >= ' ' && name[i] != 0x7f;
    bool good =
        length >= 1 && length <= DP_POPULATION_MOST && printable && (name == NULL || dp_text_valid(name, length) == length);
    return good ? DP_OK
                : dp_fail(err, DP_E_USAGE, "--population: must be 1 to %d bytes of UTF-8 without control characters",
                          DP_POPULATION_MOST);
}

/* Copies the texts of the options, and makes the temporary directory next to the path. */
static int make_beside(struct dp_writer *w, const char *path, struct dp_err *err)
{
    const struct dp_writer_options *o = &w->options;
    w->path = dp_got(strdup(path));
    while (strlen(w->path) > 1 && w->path[strlen(w->path) - 1] == '/')
        w->path[strlen(w->path) - 1] = '\0';
    w->population = o->population != NULL ? dp_got(strdup(o->population)) : NULL;
    w->split = o->split != NULL ? dp_got(strdup(o->split)) : NULL;
    w->options.population = w->population;
    w->options.split = w->split;
    w->temporary = dp_format("%s.XXXXXX", w->path);
    if (mkdtemp(w->temporary) != NULL)
        return DP_OK;
    int rc = dp_fail_errno(err, errno, "cannot create %s", path);
    free(w->temporary);
    w->temporary = NULL;
    return rc;
}

int dp_writer_open(struct dp_writer **writer, const char *path, const struct dp_writer_options *options, struct dp_err *err)
{
    if (path[0] == '\0' || strlen(path) > 4000)
        return dp_fail(err, DP_E_USAGE, "the name of the data set is empty or too long");
    int rc = dp_writer_check_population(options->population, err);
    rc = rc ?: dp_writer_check_target(path, options->force, err);
    if (rc != DP_OK)
        return rc;
    struct dp_writer *w = dp_new(1, sizeof *w);
    w->options = *options;
    w->row = dp_new(options->cols, sizeof(float));
    w->columns = dp_new(options->cols, sizeof(int32_t));
    w->narrow = dp_new(options->cols, sizeof(int16_t));
    rc = make_beside(w, path, err);
    if (rc == DP_OK) {
        if (!w->options.public_rows)
            randombytes_buf(w->salt, sizeof w->salt);
        dp_digest_start(&w->hash, w->options.public_rows ? NULL : w->salt);
        rc = open_files(w, err);
    }
    if (rc != DP_OK) {
        dp_writer_abort(w);
        return rc;
    }
    *writer = w;
    return DP_OK;
}

int dp_writer_belong(struct dp_writer *w, const char *population, struct dp_err *err)
{
    int rc = dp_writer_check_population(population, err);
    if (rc != DP_OK || population == NULL)
        return rc;
    free(w->population);
    w->options.population = w->population = dp_got(strdup(population));
    return DP_OK;
}

int dp_writer_shorten(const struct dp_writer *w, const double *x, size_t count, size_t number, float *rows, struct dp_err *err)
{
    const struct dp_writer_options *o = &w->options;
    return dp_row_shorten(&(struct dp_row_length){o->norm, o->divisor, o->cols, o->step}, x, count, number, rows, err);
}

static int put_label(struct dp_writer *w, size_t row, double y, struct dp_err *err)
{
    double none = 0;
    if (!isnan(y) || !w->options.nulls)
        return put(w, FILE_Y, &y, sizeof y, err);
    dp_extend(&w->null, &w->nulls_capacity, w->nulls + 1, sizeof *w->null);
    w->null[w->nulls++] = (int64_t)row;
    return put(w, FILE_Y, &none, sizeof none, err);
}

static int put_narrow(struct dp_writer *w, const float *row, struct dp_err *err)
{
    size_t count = w->options.cols;
    dp_quantise_narrow(w->options.step, count, row, w->narrow);
    dp_digest_row(&w->hash, row, count);
    return put_alone(w, FILE_X, w->narrow, count * sizeof *w->narrow, err);
}

static int put_sparse(struct dp_writer *w, const float *row, struct dp_err *err)
{
    size_t count = 0;
    for (size_t j = 0; j < w->options.cols; j++) {
        if (row[j] == 0)
            continue;
        w->columns[count] = (int32_t)j;
        w->row[count++] = row[j];
    }
    int64_t end = (int64_t)(w->stored + count);
    int rc = put(w, FILE_INDICES, w->columns, count * sizeof(int32_t), err);
    rc = rc ?: put(w, FILE_INDPTR, &end, sizeof end, err);
    rc = rc ?: put(w, FILE_X, w->row, count * sizeof *w->row, err);
    w->stored += count;
    return rc;
}

/* All rows in one go: the file may then take them without a copy. */
static int put_whole(struct dp_writer *w, const void *rows, const double *y, size_t count, struct dp_err *err)
{
    const size_t cols = w->options.cols, size = has_cells(w) ? w->options.cells * sizeof(double) : cols * sizeof(float);
    int rc = DP_OK;
    for (size_t i = 0; rc == DP_OK && i < count; i++) {
        if (has_cells(w))
            dp_hash_add(&w->hash, (const char *)rows + i * size, size);
        else
            dp_digest_row(&w->hash, (const float *)rows + i * cols, cols);
        rc = put_label(w, w->rows + i, y[i], err);
    }
    return rc ?: put_alone(w, FILE_X, rows, count * size, err);
}

int dp_writer_put(struct dp_writer *w, const void *rows, const double *y, size_t count, struct dp_err *err)
{
    bool whole = !is_sparse(w) && !is_narrow(w);
    int rc = dp_interrupt_pending() ? dp_fail(err, DP_E_RUN, "interrupted") : DP_OK;
    if (rc == DP_OK && whole)
        rc = put_whole(w, rows, y, count, err);
    for (size_t i = 0; rc == DP_OK && !whole && i < count; i++) {
        rc = (is_sparse(w) ? put_sparse : put_narrow)(w, (const float *)rows + i * w->options.cols, err);
        rc = rc ?: put_label(w, w->rows + i, y[i], err);
    }
    if (rc == DP_OK)
        w->rows += count;
    return rc;
}

int dp_writer_row(struct dp_writer *w, const double *x, double y, struct dp_err *err)
{
    int rc =
        dp_interrupt_pending() ? dp_fail(err, DP_E_RUN, "interrupted") : dp_writer_shorten(w, x, 1, w->rows + 1, w->row, err);
    return rc ?: dp_writer_put(w, w->row, &y, 1, err);
}

int dp_writer_person(struct dp_writer *w, struct dp_err *err)
{
    int64_t end = (int64_t)w->rows;
    int rc = put(w, FILE_PERSONS, &end, sizeof end, err);
    w->persons += rc == DP_OK;
    return rc;
}

size_t dp_writer_persons(const struct dp_writer *writer)
{
    return writer->options.rows_per_person > 0 ? writer->persons : writer->rows;
}

size_t dp_writer_rows(const struct dp_writer *writer)
{
    return writer->rows;
}

static int close_files(struct dp_writer *w, struct dp_err *err)
{
    int rc = DP_OK;
    for (int f = 0; f < FILES; f++) {
        FILE *file = w->file[f];
        if (file == NULL)
            continue;
        rewind(file);
        rc = rc ?: put_header(w, (enum file)f, err);
        w->file[f] = NULL;
        if (fclose(file) != 0 && rc == DP_OK)
            rc = dp_fail_errno(err, errno, "cannot write %s/%s", w->path, file_name(w, (enum file)f));
    }
    return rc;
}

void dp_writer_describe(const struct dp_writer *w, json_t *description, json_t **facts)
{
    const struct dp_writer_options *o = &w->options;
    json_t *root = json_pack("{s:i, s:I, s:I, s:s, s:s, s:s*, s:b}", "format",
                             has_cells(w)             ? 4
                             : o->nulls               ? 3
                             : o->rows_per_person > 0 ? 2
                                                      : 1,
                             "rows", (json_int_t)w->rows, "cols", (json_int_t)o->cols, "storage", dp_storages[o->storage],
                             "row_norm", dp_row_norms[o->norm], "population", w->population, "held_out", o->held_out);
    if (o->rows_per_person > 0) {
        json_object_set_new(root, "persons", json_integer((json_int_t)w->persons));
        json_object_set_new(root, "rows_per_person", json_integer((json_int_t)o->rows_per_person));
    }
    if (o->nulls)
        json_object_set_new(root, "nulls", json_true());
    json_object_update(root, description);
    if (w->split != NULL)
        json_object_set_new(root, "split", json_string(w->split));
    if (o->step != NULL)
        json_object_set_new(root, "quantised", json_true());
    if (o->norm == DP_NORM_BOUNDS)
        json_object_set_new(root, "row_divisor", json_real(o->divisor));
    *facts = root;
}

static int describe(struct dp_writer *w, json_t *description, struct dp_err *err)
{
    char digest[33], salt[2 * sizeof w->salt + 1] = "", path[4200];
    json_t *root;
    char *schema = has_cells(w) ? dp_json_text(json_object_get(description, "schema"), JSON_COMPACT | JSON_SORT_KEYS) : NULL;
    if (schema != NULL)
        dp_hash_add(&w->hash, schema, strlen(schema));
    free(schema);
    dp_digest_finish(&w->hash, w->rows, w->options.cols, digest);
    if (!w->options.public_rows)
        sodium_bin2hex(salt, sizeof salt, w->salt, sizeof w->salt);
    dp_writer_describe(w, description, &root);
    if (w->population == NULL)
        json_object_set_new(root, "population", json_string(digest));
    json_object_set_new(root, "salt", json_string(salt));
    json_object_set_new(root, "digest", json_string(digest));
    if (!is_sparse(w) && !has_cells(w))
        json_object_set_new(root, "digest_of", json_string(dp_digest_of));
    snprintf(path, sizeof path, "%s/dataset.json", w->temporary);
    FILE *file = create(path);
    int rc = file != NULL ? DP_OK : dp_fail_errno(err, errno, "cannot create %s", path);
    if (file != NULL)
        dp_json_print(root, 1, file);
    if (file != NULL && (ferror(file) | fclose(file)) != 0 && rc == DP_OK)
        rc = dp_fail_errno(err, errno, "cannot write %s", path);
    json_decref(root);
    return rc;
}

static int copy_file(int in, const char *path)
{
    char bytes[1 << 14];
    ssize_t got = -1;
    int out = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool good = out >= 0;
    while (good && (got = read(in, bytes, sizeof bytes)) > 0)
        good = write(out, bytes, (size_t)got) == got;
    good = good && got == 0 && fsync(out) == 0;
    int why = errno;
    if (out >= 0)
        close(out);
    errno = why;
    return good ? 0 : -1;
}

/* Copies the kept files into the new directory. *lock: of the ledger, so that no run writes to it until its copy is replaced. */
static int copy_kept(const struct dp_writer *w, int *lock, struct dp_err *err)
{
    char old[4300], new[4300];
    int rc = DP_OK;
    for (int i = 0; rc == DP_OK && i < KEPT; i++) {
        snprintf(old, sizeof old, "%s/%s", w->path, kept[i]);
        snprintf(new, sizeof new, "%s/%s", w->temporary, kept[i]);
        int in = open(old, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        if (in < 0 && errno == ENOENT)
            continue;
        while (in >= 0 && *lock < 0 && flock(in, LOCK_EX) != 0 && errno == EINTR)
            ;
        if (in < 0 || copy_file(in, new) != 0)
            rc = dp_fail_errno(err, errno, "cannot keep %s for the new data set", old);
        if (*lock < 0)
            *lock = in;
        else if (in >= 0)
            close(in);
    }
    return rc;
}

/* Replaces the copies by the files themselves: a run that has them open continues to write to them. A run on the old data set
 * may have created a ledger meanwhile. */
static int move_kept(const struct dp_writer *w, struct dp_err *err)
{
    char old[4300], new[4300];
    int rc = DP_OK;
    for (int i = 0; rc == DP_OK && i < KEPT; i++) {
        snprintf(old, sizeof old, "%s/%s", w->temporary, kept[i]);
        snprintf(new, sizeof new, "%s/%s", w->path, kept[i]);
        if (rename(old, new) != 0 && errno != ENOENT)
            rc = dp_fail_errno(err, errno, "cannot keep %s for the new data set", old);
    }
    return rc;
}

/* Exchanges the new directory and the old one in one step, so that the name always belongs to a data set with its ledger. If
 * the file system cannot do that, moves the old directory aside first, and back if the second step fails. Afterwards the old
 * directory has the temporary name. */
static int exchange(struct dp_writer *w, struct dp_err *err)
{
    char aside[4300];
    if (renameat2(AT_FDCWD, w->temporary, AT_FDCWD, w->path, RENAME_EXCHANGE) == 0)
        return DP_OK;
    if (errno != EINVAL && errno != ENOSYS)
        return dp_fail_errno(err, errno, "cannot rename to %s", w->path);
    snprintf(aside, sizeof aside, "%s.old", w->temporary);
    if (rename(w->path, aside) != 0)
        return dp_fail_errno(err, errno, "cannot rename %s", w->path);
    if (rename(w->temporary, w->path) != 0) {
        int rc = dp_fail_errno(err, errno, "cannot rename to %s", w->path);
        rename(aside, w->path);
        return rc;
    }
    rename(aside, w->temporary);
    return DP_OK;
}

/* Gives the directory its name; replaces a data set of that name. */
static int take_name(struct dp_writer *w, struct dp_err *err)
{
    struct stat st;
    int rc = dp_writer_check_target(w->path, w->options.force, err);
    bool replaces = rc == DP_OK && lstat(w->path, &st) == 0;
    int lock = -1;
    if (rc == DP_OK && replaces)
        rc = copy_kept(w, &lock, err);
    if (rc == DP_OK && replaces && dp_sync_directory(w->temporary) != 0)
        rc = dp_fail_errno(err, errno, "cannot write %s", w->temporary);
    if (rc == DP_OK && replaces)
        rc = exchange(w, err);
    else if (rc == DP_OK && rename(w->temporary, w->path) != 0)
        rc = dp_fail_errno(err, errno, "cannot rename to %s", w->path);
    bool named = rc == DP_OK;
    if (named && replaces)
        rc = move_kept(w, err);
    if (lock >= 0)
        close(lock); /* and unlocks */
    if (!named)
        return rc;
    if (rc == DP_OK && replaces)
        remove_directory(w->temporary);
    free(w->temporary);
    w->temporary = NULL;
    return rc;
}

int dp_writer_finish(struct dp_writer *w, json_t *description, struct dp_err *err)
{
    int rc = w->options.nulls ? put(w, FILE_NULLS, w->null, w->nulls * sizeof *w->null, err) : DP_OK;
    rc = rc ?: close_files(w, err);
    return rc ?: describe(w, description, err);
}

int dp_writer_commit(struct dp_writer *w, struct dp_err *err)
{
    int rc = take_name(w, err);
    dp_writer_abort(w);
    return rc;
}

void dp_writer_abort(struct dp_writer *w)
{
    if (w == NULL)
        return;
    for (int f = 0; f < FILES; f++)
        if (w->file[f] != NULL)
            fclose(w->file[f]);
    if (w->temporary != NULL)
        remove_directory(w->temporary);
    free(w->temporary);
    free(w->population);
    free(w->split);
    free(w->path);
    free(w->null);
    free(w->row);
    free(w->columns);
    free(w->narrow);
    free(w);
}
