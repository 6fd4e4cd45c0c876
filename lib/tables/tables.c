#include "tables/tables.h"

#include "base/json.h"
#include "base/mem.h"

void dp_tables_free(struct dp_tables *t)
{
    for (size_t i = 0; i < t->count; i++) {
        for (size_t k = 0; k < t->table[i].columns; k++)
            free(t->table[i].column[k]);
        for (size_t k = 0; k < t->table[i].sums; k++)
            free(t->table[i].sum[k]);
    }
    free(t->table);
    *t = (struct dp_tables){0};
}

size_t dp_table_sum(const struct dp_table *table, size_t k)
{
    size_t at = table->offset + table->size;
    for (size_t i = 0; i < k; i++)
        at += table->size * (table->may_be_missing[i] ? 2 : 1);
    return at;
}

/* Takes a table with its columns, cells and sums into the list. */
static int append(struct dp_tables *t, struct dp_table *table, struct dp_err *err)
{
    table->size = 1;
    table->weight = table->weight > 0 ? table->weight : 1;
    for (size_t k = 0; k < table->columns; k++)
        table->size = table->cells[k] <= DP_TABLES_NUMBERS / table->size ? table->size * table->cells[k] : SIZE_MAX / 64;
    table->offset = t->numbers;
    size_t numbers = dp_table_sum(table, table->sums) - table->offset;
    dp_extend(&t->table, &t->capacity, t->count + 1, sizeof *t->table);
    t->table[t->count++] = *table;
    if (t->count > DP_TABLES_MOST || numbers > DP_TABLES_NUMBERS - t->numbers)
        return dp_fail(err, DP_E_USAGE, "more than %d tables, or %zu numbers in them: leave out columns", DP_TABLES_MOST,
                       DP_TABLES_NUMBERS);
    t->numbers += numbers;
    t->most_sums = table->sums > t->most_sums ? table->sums : t->most_sums;
    return DP_OK;
}

/* Adds a name to a list that does not have it. what, whats: what the list has, in words. */
static int add_name(char **list, size_t *count, const char *name, const char *what, const char *whats, struct dp_err *err)
{
    for (size_t k = 0; k < *count; k++)
        if (strcmp(list[k], name) == 0)
            return dp_fail(err, DP_E_USAGE, "a table has %s '%.60s' twice", what, name);
    if (*count == DP_TABLES_COLUMNS)
        return dp_fail(err, DP_E_USAGE, "a table has more than %d %s", DP_TABLES_COLUMNS, whats);
    list[(*count)++] = dp_format("%s", name);
    return DP_OK;
}

/* The number of the column; no `cells`: each name is the name of a column. */
static int find(const struct dp_cells *cells, const char *name, size_t *column, struct dp_err *err)
{
    const long at = *name == '\0' ? -1 : cells != NULL ? dp_cells_find(cells, name) : 0;
    *column = (size_t)at;
    return at >= 0 ? DP_OK : dp_fail(err, DP_E_USAGE, "there is no column '%.60s'", name);
}

static int add_column(struct dp_table *table, const struct dp_cells *cells, const char *name, struct dp_err *err)
{
    size_t column;
    int rc = find(cells, name, &column, err);
    if (rc == DP_OK && cells != NULL)
        rc = dp_cells_check(cells, column, err);
    rc = rc ?: add_name(table->column, &table->columns, name, "column", "columns", err);
    if (rc == DP_OK)
        table->cells[table->columns - 1] = cells != NULL ? cells->column[column].cells : 1;
    return rc;
}

static int add_sum(struct dp_table *table, const struct dp_cells *cells, const char *name, struct dp_err *err)
{
    double low, high;
    size_t column;
    int rc = find(cells, name, &column, err);
    if (rc == DP_OK && cells != NULL && !dp_cells_bounds(cells, column, &low, &high))
        rc = dp_fail(err, DP_E_USAGE, "column '%.60s' is not a number with bounds, so its sum is not bounded", name);
    rc = rc ?: add_name(table->sum, &table->sums, name, "the sum of", "sums", err);
    if (rc == DP_OK)
        table->may_be_missing[table->sums - 1] = cells != NULL && cells->column[column].of->indicator;
    return rc;
}

int dp_tables_add(struct dp_tables *t, const struct dp_cells *cells, const size_t *column, size_t count, struct dp_err *err)
{
    struct dp_table table = {0};
    int rc = DP_OK;
    for (size_t k = 0; rc == DP_OK && k < count; k++)
        rc = add_column(&table, cells, cells->column[column[k]].name, err);
    int appended = append(t, &table, err); /* the list owns its texts */
    return rc ?: appended;
}

/* Calls add for each name of a text that commas divide. */
static int each_name(const char *text, size_t length, const struct dp_cells *cells, struct dp_table *table,
                     int (*add)(struct dp_table *, const struct dp_cells *, const char *, struct dp_err *), struct dp_err *err)
{
    int rc = DP_OK;
    for (const char *end = text + length; rc == DP_OK && text <= end;) {
        const char *comma = memchr(text, ',', (size_t)(end - text));
        char *name = dp_format("%.*s", (int)((comma != NULL ? comma : end) - text), text);
        rc = add(table, cells, name, err);
        free(name);
        text = comma != NULL ? comma + 1 : end + 1;
    }
    return rc;
}

static int all_pairs(struct dp_tables *t, const struct dp_cells *cells, struct dp_err *err)
{
    int rc = DP_OK;
    struct dp_err unused;
    for (size_t j = 1; j < cells->columns; j++)
        for (size_t i = 0; rc == DP_OK && i < j; i++)
            if (dp_cells_check(cells, i, &unused) == DP_OK && dp_cells_check(cells, j, &unused) == DP_OK)
                rc = dp_tables_add(t, cells, (const size_t[]){i, j}, 2, err);
    return rc == DP_OK && t->count == 0 ? dp_fail(err, DP_E_USAGE, "there are no two columns that have cells") : rc;
}

int dp_tables_parse(struct dp_tables *t, const char *text, const char *sums, const struct dp_cells *cells, struct dp_err *err)
{
    if (strcmp(text, DP_TABLES_PAIRS) == 0 && sums == NULL && cells != NULL)
        return all_pairs(t, cells, err);
    int rc = DP_OK;
    for (const char *at = text; rc == DP_OK && at != NULL; at = strchr(at, ';'), at += at != NULL) {
        struct dp_table table = {0};
        rc = each_name(at, strcspn(at, ";"), cells, &table, add_column, err);
        if (rc == DP_OK && sums != NULL)
            rc = each_name(sums, strlen(sums), cells, &table, add_sum, err);
        int appended = append(t, &table, err);
        rc = rc ?: appended;
    }
    return rc;
}

/* Reads a list of names into up to DP_TABLES_COLUMNS texts. */
static bool read_names(const json_t *list, char **name, size_t *count)
{
    size_t k;
    json_t *value;
    bool good = json_is_array(list) && json_array_size(list) <= DP_TABLES_COLUMNS;
    json_array_foreach (good ? list : NULL, k, value) {
        good &= json_is_string(value);
        name[(*count)++] = dp_format("%s", json_is_string(value) ? json_string_value(value) : "");
    }
    return good;
}

static bool read_table(const json_t *object, struct dp_table *table)
{
    const json_t *cells = json_object_get(object, "cells"), *sums = json_object_get(object, "sums"),
                 *may = json_object_get(object, "may_be_missing");
    bool good = read_names(json_object_get(object, "columns"), table->column, &table->columns) && table->columns > 0 &&
                json_array_size(cells) == table->columns;
    for (size_t k = 0; k < table->columns; k++) {
        json_int_t count = json_integer_value(json_array_get(cells, k));
        good &= count > 0 && count <= (json_int_t)DP_TABLES_NUMBERS;
        table->cells[k] = good ? (size_t)count : 1;
    }
    table->scale = json_number_value(json_object_get(object, "scale"));
    table->weight = json_number_value(json_object_get(object, "weight"));
    const char *noise = json_string_value(json_object_get(object, "noise"));
    table->laplace = noise != NULL && strcmp(noise, "laplace") == 0;
    if (!good || sums == NULL)
        return good;
    good = read_names(sums, table->sum, &table->sums) && json_array_size(may) == table->sums;
    for (size_t k = 0; k < table->sums; k++)
        table->may_be_missing[k] = json_is_true(json_array_get(may, k));
    return good;
}

int dp_tables_read(struct dp_tables *t, const char *text, struct dp_err *err)
{
    json_t *root = NULL, *object;
    size_t i;
    int rc = dp_json_parse(&root, text, strlen(text), "the list of tables", err);
    if (rc == DP_OK && (!json_is_array(root) || json_array_size(root) == 0))
        rc = dp_fail(err, DP_E_RUN, "the list of tables is empty, or no list");
    json_array_foreach (rc == DP_OK ? root : NULL, i, object) {
        struct dp_table table = {0};
        bool good = read_table(object, &table);
        int appended = append(t, &table, err);
        rc = rc
                 ?: good ? appended
                         : dp_fail(err, DP_E_RUN, "the list of tables: table %zu has no columns with their cells", i + 1);
        if (rc != DP_OK)
            break;
    }
    json_decref(root);
    return rc;
}

char *dp_tables_text(const struct dp_tables *t)
{
    json_t *root = json_array();
    for (size_t i = 0; i < t->count; i++) {
        const struct dp_table *table = &t->table[i];
        json_t *columns = json_array(), *cells = json_array(), *sums = json_array(), *may = json_array();
        for (size_t k = 0; k < table->columns; k++) {
            json_array_append_new(columns, json_string(table->column[k]));
            json_array_append_new(cells, json_integer((json_int_t)table->cells[k]));
        }
        for (size_t k = 0; k < table->sums; k++) {
            json_array_append_new(sums, json_string(table->sum[k]));
            json_array_append_new(may, json_boolean(table->may_be_missing[k]));
        }
        json_t *object = json_pack("{s:o, s:o}", "columns", columns, "cells", cells);
        if (table->sums > 0) {
            json_object_set(object, "sums", sums);
            json_object_set(object, "may_be_missing", may);
        }
        if (table->weight != 1)
            json_object_set_new(object, "weight", json_real(table->weight));
        if (table->scale > 0)
            json_object_update_new(
                object, json_pack("{s:s, s:f}", "noise", table->laplace ? "laplace" : "gaussian", "scale", table->scale));
        json_decref(sums);
        json_decref(may);
        json_array_append_new(root, object);
    }
    char *text = dp_json_text(root, JSON_COMPACT);
    json_decref(root);
    return text;
}

int dp_tables_check(const struct dp_tables *t, const struct dp_cells *cells, struct dp_err *err)
{
    for (size_t i = 0; i < t->count; i++) {
        const struct dp_table *table = &t->table[i];
        struct dp_table same = {0};
        int rc = DP_OK;
        for (size_t k = 0; rc == DP_OK && k < table->columns + table->sums; k++) {
            const char *name = k < table->columns ? table->column[k] : table->sum[k - table->columns];
            rc = dp_cells_find(cells, name) < 0
                     ? dp_fail(err, DP_E_RUN, "the list of tables has a column '%.60s', which is not in the schema", name)
                     : (k < table->columns ? add_column : add_sum)(&same, cells, name, err);
        }
        if (rc == DP_OK && (memcmp(same.cells, table->cells, sizeof same.cells) != 0 ||
                            memcmp(same.may_be_missing, table->may_be_missing, sizeof same.may_be_missing) != 0))
            rc = dp_fail(err, DP_E_RUN, "the list of tables was made for another schema: table %zu has other cells", i + 1);
        dp_tables_free(&(struct dp_tables){.count = 1, .table = memcpy(dp_new(1, sizeof same), &same, sizeof same)});
        if (rc != DP_OK)
            return rc;
    }
    return DP_OK;
}

static size_t present(const struct dp_table *table)
{
    size_t count = 0;
    for (size_t k = 0; k < table->sums; k++)
        count += table->may_be_missing[k];
    return count;
}

void dp_tables_weigh(struct dp_tables *t, bool laplace)
{
    for (size_t i = 0; i < t->count; i++) {
        struct dp_table *table = &t->table[i];
        const double ratio = (double)(1 + present(table)) / (double)table->sums;
        if (table->sums > 0)
            table->weight = floor(16 * (laplace ? cbrt(24 * ratio) : sqrt(sqrt(48 * ratio)))) / 16;
    }
}

double dp_tables_norm1(const struct dp_tables *t)
{
    double sum = 0;
    for (size_t i = 0; i < t->count; i++)
        sum += 1 + t->table[i].weight * (double)t->table[i].sums / 2 + (double)present(&t->table[i]);
    return sum; /* exact: multiples of 1/32 */
}

double dp_tables_norm2(const struct dp_tables *t)
{
    double square = 0; /* exact: multiples of 1/1024 */
    for (size_t i = 0; i < t->count; i++) {
        const double weight = t->table[i].weight;
        square += 1 + weight * weight * (double)t->table[i].sums / 4 + (double)present(&t->table[i]);
    }
    const double root = sqrt(square);
    return fma(root, root, -square) >= 0 ? root : nextafter(root, INFINITY);
}
