#include "data/sqlite.h"

#include <sqlite3.h>
#include <sys/stat.h>

#include "base/interrupt.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/text.h"

struct dp_sqlite {
    const char *path;
    sqlite3 *db;
    sqlite3_stmt *statement;
    bool ended;
    size_t rows;
    char *line; /* `length` bytes are there, and `at` of them have been read */
    size_t at, length, capacity;
};

static int fails(const struct dp_sqlite *q, struct dp_err *err)
{
    if (dp_interrupt_pending())
        return dp_fail(err, DP_E_RUN, "interrupted");
    return dp_fail(err, DP_E_RUN, "%s: %s", q->path, sqlite3_errmsg(q->db));
}

static void append(struct dp_sqlite *q, const char *text, size_t length)
{
    dp_extend(&q->line, &q->capacity, q->length + length, 1);
    if (length > 0)
        memcpy(q->line + q->length, text, length);
    q->length += length;
}

/* In quotes, which are doubled within. */
static void append_text(struct dp_sqlite *q, const char *text, size_t length)
{
    append(q, "\"", 1);
    for (const char *end = text + length, *quote; text < end; text = quote) {
        quote = memchr(text, '"', (size_t)(end - text));
        quote = quote != NULL ? quote + 1 : end;
        append(q, text, (size_t)(quote - text));
        if (quote[-1] == '"')
            append(q, "\"", 1);
    }
    append(q, "\"", 1);
}

static int append_cell(struct dp_sqlite *q, int column, struct dp_err *err)
{
    const int type = sqlite3_column_type(q->statement, column); /* undefined once the text was asked for */
    switch (type) {
    case SQLITE_NULL:
        return DP_OK;
    case SQLITE_BLOB: {
        const char *name = sqlite3_column_name(q->statement, column);
        return dp_fail(err, DP_E_RUN, "%s: row %zu, column %d (%s) is a blob, and texts and numbers are read", q->path, q->rows,
                       column + 1, name != NULL ? DP_SHOWN(name) : "");
    }
    case SQLITE_FLOAT: {
        const char *number = DP_NUMBER(sqlite3_column_double(q->statement, column));
        append(q, number, strlen(number));
        return DP_OK;
    }
    default: {
        const char *text = (const char *)sqlite3_column_text(q->statement, column);
        size_t length = (size_t)sqlite3_column_bytes(q->statement, column);
        if (text == NULL)
            return fails(q, err);
        (type == SQLITE_INTEGER ? append : append_text)(q, text, length);
        return DP_OK;
    }
    }
}

static int next_row(struct dp_sqlite *q, struct dp_err *err)
{
    int step = dp_interrupt_pending() ? SQLITE_INTERRUPT : sqlite3_step(q->statement), rc = DP_OK;
    q->at = q->length = 0;
    q->ended = step == SQLITE_DONE;
    if (step != SQLITE_ROW)
        return q->ended ? DP_OK : fails(q, err);
    q->rows++;
    for (int i = 0; rc == DP_OK && i < sqlite3_column_count(q->statement); i++) {
        if (i > 0)
            append(q, ",", 1);
        rc = append_cell(q, i, err);
    }
    append(q, "\n", 1);
    return rc;
}

static int put_names(struct dp_sqlite *q, struct dp_err *err)
{
    for (int i = 0; i < sqlite3_column_count(q->statement); i++) {
        const char *name = sqlite3_column_name(q->statement, i);
        if (name == NULL)
            return fails(q, err);
        if (i > 0)
            append(q, ",", 1);
        append_text(q, name, strlen(name));
    }
    append(q, "\n", 1);
    return DP_OK;
}

/* SQLite would read changes that are in another file only if it could write to that file. */
static int check_changes(const char *path, struct dp_err *err)
{
    static const char *const ends[] = {"-wal", "-journal"};
    char other[4200];
    struct stat st;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        snprintf(other, sizeof other, "%.4100s%s", path, ends[i]);
        if (stat(other, &st) == 0 && st.st_size > 0)
            return dp_fail(err, DP_E_RUN,
                           "%s has changes in %s: end the program that writes to it, or copy it (sqlite3 FILE '.backup COPY')",
                           path, other);
    }
    return DP_OK;
}

/* The name as a URI, since only a URI can say that nobody writes to the file. */
static int open_database(struct dp_sqlite *q, struct dp_err *err)
{
    char *uri, *to;
    uri = dp_new(3 * strlen(q->path) + 40, 1);
    int rc = DP_OK;
    to = uri + sprintf(uri, "file:%s", q->path[0] == '/' ? "//" : "");
    for (const char *p = q->path; *p != '\0'; p++)
        to += strchr("%?#", *p) != NULL ? sprintf(to, "%%%02x", (unsigned)*p) : sprintf(to, "%c", *p);
    strcpy(to, "?immutable=1");
    if (sqlite3_open_v2(uri, &q->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL) != SQLITE_OK)
        rc = fails(q, err);
    free(uri);
    return rc;
}

static int interrupted(void *unused)
{
    (void)unused;
    return dp_interrupt_pending();
}

static int prepare(struct dp_sqlite *q, const char *sql, struct dp_err *err)
{
    const char *rest = NULL;
    sqlite3_progress_handler(q->db, 100000, interrupted, NULL);
    if (sqlite3_prepare_v2(q->db, sql, -1, &q->statement, &rest) != SQLITE_OK)
        return fails(q, err);
    rest += strspn(rest, "; \t\r\n");
    if (q->statement == NULL || *rest != '\0' || !sqlite3_stmt_readonly(q->statement) ||
        sqlite3_column_count(q->statement) == 0)
        return dp_fail(err, DP_E_RUN, "--sql: one SELECT statement is expected");
    return DP_OK;
}

int dp_sqlite_open(struct dp_sqlite **query, const char *path, const char *sql, struct dp_err *err)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return dp_fail_errno(err, errno, "cannot open %s", path);
    struct dp_sqlite *q = dp_new(1, sizeof *q);
    q->path = path;
    int rc = check_changes(path, err);
    rc = rc ?: open_database(q, err);
    rc = rc ?: prepare(q, sql, err);
    rc = rc ?: put_names(q, err);
    if (rc == DP_OK)
        *query = q;
    else
        dp_sqlite_close(q);
    return rc;
}

int dp_sqlite_read(struct dp_sqlite *q, void *bytes, size_t size, size_t *got, struct dp_err *err)
{
    int rc = DP_OK;
    *got = 0;
    while (rc == DP_OK && *got < size && !(q->at == q->length && q->ended)) {
        size_t more = q->length - q->at < size - *got ? q->length - q->at : size - *got;
        if (more > 0)
            memcpy((char *)bytes + *got, q->line + q->at, more);
        *got += more;
        q->at += more;
        if (q->at == q->length && !q->ended)
            rc = next_row(q, err);
    }
    return rc;
}

void dp_sqlite_close(struct dp_sqlite *q)
{
    if (q == NULL)
        return;
    sqlite3_finalize(q->statement);
    sqlite3_close(q->db);
    free(q->line);
    free(q);
}
