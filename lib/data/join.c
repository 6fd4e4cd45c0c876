#include "data/join.h"

#include "base/json.h"
#include "base/mapped.h"
#include "base/mem.h"
#include "base/progress.h"
#include "data/dataset.h"

#define LOT 1024 /* rows */

struct dp_join {
    size_t parts, rows;
    struct part {
        char *name;
        json_t *root; /* dataset.json */
        struct dp_dataset *data;
        struct dp_lines_part span;
        size_t malformed;
    } * part;
};

char *dp_join_name(const char *output, size_t k)
{
    size_t length = strlen(output);
    while (length > 1 && output[length - 1] == '/')
        length--;
    return dp_format("%.*s.part-%zu", (int)length, output, k);
}

/* Reads the table for its digest; *now: its size and time. */
static int read_table(struct dp_import *import, struct dp_lines_part *now, struct dp_err *err)
{
    struct dp_input *in;
    size_t got = 1;
    int rc = dp_input_open(&in, import->source.input, err);
    if (rc != DP_OK)
        return rc;
    rc = dp_input_file(in, &now->size, &now->modified, err);
    char *bytes = dp_new((size_t)1 << 17, 1);
    while (rc == DP_OK && got > 0)
        rc = dp_input_read(in, bytes, (size_t)1 << 17, &got, err);
    dp_input_digest(in, import->result.table);
    free(bytes);
    dp_input_close(in);
    return rc;
}

static uint64_t number_of(const json_t *object, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(object, key));
}

static int open_part(struct part *p, size_t k, const struct dp_import *import, struct dp_err *err)
{
    p->name = dp_join_name(import->output, k);
    int rc = dp_dataset_open(&p->data, p->name, err);
    char *file = dp_format("%s/dataset.json", p->name);
    rc = rc ?: dp_json_load(&p->root, file, err);
    free(file);
    if (rc != DP_OK)
        return rc;
    const json_t *said = json_object_get(p->root, "part");
    if (number_of(said, "number") != k || number_of(said, "of") != import->joined)
        return dp_fail(err, DP_E_RUN, "%s: is not part %zu/%zu of a table (dp-import --part makes it)", p->name, k,
                       import->joined);
    p->span = (struct dp_lines_part){number_of(said, "from"), number_of(said, "to"), number_of(said, "size"),
                                     (int64_t)number_of(said, "modified")};
    p->malformed = number_of(said, "malformed");
    return DP_OK;
}

static int check_spans(const struct dp_join *j, const struct dp_import *import, const struct dp_lines_part *now,
                       struct dp_err *err)
{
    size_t malformed = 0;
    for (size_t k = 0; k < j->parts; k++) {
        const struct part *p = &j->part[k];
        malformed += p->malformed;
        if (p->span.size != now->size || p->span.modified != now->modified)
            return dp_fail(err, DP_E_RUN, "%s: the table has changed since this part was made: make all parts again", p->name);
        if (k > 0 && p->span.from != p[-1].span.to)
            return dp_fail(
                err, DP_E_RUN,
                "%s: begins inside of a cell with line ends, at byte %llu of the table: make another number of parts", p->name,
                (unsigned long long)p->span.from);
    }
    return malformed <= import->source.skip_bad
               ? DP_OK
               : dp_fail(err, DP_E_RUN, "%s: all parts together have more malformed lines than --skip-bad %zu",
                         import->source.input, import->source.skip_bad);
}

int dp_join_open(struct dp_join **join, struct dp_import *import, struct dp_err *err)
{
    struct dp_join *j = dp_new(1, sizeof *j);
    struct dp_lines_part now = {0};
    int rc = DP_OK;
    j->parts = import->joined;
    j->part = dp_new(j->parts, sizeof *j->part);
    for (size_t k = 0; rc == DP_OK && k < j->parts; k++) {
        rc = open_part(&j->part[k], k + 1, import, err);
        j->rows += rc == DP_OK ? j->part[k].data->rows : 0;
    }
    rc = rc ?: read_table(import, &now, err);
    rc = rc ?: check_spans(j, import, &now, err);
    if (rc == DP_OK)
        *join = j;
    else
        dp_join_close(j);
    return rc;
}

size_t dp_join_rows(const struct dp_join *j)
{
    return j->rows;
}

/* A value as it is in a file, where the real number 2 is 2. The caller frees it. */
static char *text_of(const json_t *value)
{
    char *text = NULL;
    size_t size;
    FILE *stream = dp_got(open_memstream(&text, &size));
    if (value != NULL)
        dp_json_print(value, 0, stream);
    dp_close_text(stream);
    return text;
}

int dp_join_check(const struct dp_join *j, const json_t *facts, struct dp_err *err)
{
    const char *key;
    json_t *value;
    int rc = DP_OK;
    json_object_foreach ((json_t *)facts, key, value) {
        static const char *const own[] = {"rows", "population", "held_out", "split"}; /* that parts need not have */
        bool other = false;
        for (size_t i = 0; i < sizeof own / sizeof *own; i++)
            other |= strcmp(key, own[i]) == 0;
        char *text = text_of(value);
        for (size_t k = 0; rc == DP_OK && !other && k < j->parts; k++) {
            char *said = text_of(json_object_get(j->part[k].root, key));
            if (strcmp(said, text) != 0)
                rc = dp_fail(err, DP_E_RUN, "%s: was made with another schema or with other options: its %s differs",
                             j->part[k].name, key);
            free(said);
        }
        free(text);
    }
    return rc;
}

static void close_part(struct part *p)
{
    dp_dataset_close(p->data);
    p->data = NULL;
}

/* Rows `from` to `to` of a part. */
static void copy_rows(const struct dp_dataset *d, size_t from, size_t to, float *rows, double *y)
{
    memset(rows, 0, (to - from) * d->cols * sizeof *rows);
    for (size_t i = from; i < to; i++) {
        const struct dp_row row = dp_dataset_row(d, i);
        float *x = rows + (i - from) * d->cols;
        for (size_t k = 0; k < row.count; k++)
            x[row.columns != NULL ? (size_t)row.columns[k] : k] = dp_row_value(&row, k);
        y[i - from] = dp_dataset_is_null(d, i) ? (double)NAN : d->y[i];
    }
}

int dp_join_each(struct dp_join *j,
                 int (*put)(void *self, const float *rows, const double *y, size_t count, struct dp_err *err), void *self,
                 struct dp_err *err)
{
    float *rows = dp_new(LOT * j->part[0].data->cols, sizeof *rows); /* of all parts, see dp_join_check */
    double *y = dp_new(LOT, sizeof *y);
    size_t done = 0;
    int rc = DP_OK;
    for (size_t k = 0; rc == DP_OK && k < j->parts; k++) {
        const struct dp_dataset *d = j->part[k].data;
        for (size_t i = 0, to; rc == DP_OK && i < d->rows; i = to) {
            to = i + LOT < d->rows ? i + LOT : d->rows;
            copy_rows(d, i, to, rows, y);
            rc = put(self, rows, y, to - i, err);
            dp_progress_rows(done += to - i, j->rows);
        }
        rc = rc ?: dp_mapped_check(true, err);
        close_part(&j->part[k]); /* so that not all pages stay mapped */
    }
    dp_progress_over();
    free(rows);
    free(y);
    return rc;
}

void dp_join_close(struct dp_join *j)
{
    if (j == NULL)
        return;
    for (size_t k = 0; k < j->parts; k++) {
        close_part(&j->part[k]);
        json_decref(j->part[k].root);
        free(j->part[k].name);
    }
    free(j->part);
    free(j);
}
