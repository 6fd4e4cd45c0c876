#include "data/lines.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/mem.h"

#define LINE_LIMIT ((size_t)1 << 26)

int dp_lines_open(struct dp_lines *l, const char *path, struct dp_err *err)
{
    memset(l, 0, sizeof *l);
    bool standard = strcmp(path, "-") == 0;
    l->name = standard ? "standard input" : path;
    if (standard) {
        int fd = dup(STDIN_FILENO);
        l->gz = fd >= 0 ? gzdopen(fd, "rb") : NULL;
    } else {
        l->gz = gzopen(path, "rb");
    }
    if (l->gz == NULL)
        return dp_fail_errno(err, errno, "cannot open %s", l->name);
    gzbuffer(l->gz, 1 << 17);
    return DP_OK;
}

void dp_lines_close(struct dp_lines *l)
{
    if (l->gz != NULL)
        gzclose_r(l->gz);
    free(l->line);
    free(l->buffer);
    free(l->field);
    memset(l, 0, sizeof *l);
}

/* Appends one physical line to l->line (with its '\n' dropped). 1, or 0 at end of file. */
static int append_line(struct dp_lines *l, struct dp_err *err)
{
    size_t before = l->length;
    for (;;) {
        int rc = dp_grow(&l->line, &l->capacity, l->length + 4096, 1, err);
        if (rc != DP_OK)
            return rc;
        char *got = gzgets(l->gz, l->line + l->length, (int)(l->capacity - l->length));
        if (got == NULL) {
            int code;
            const char *why = gzerror(l->gz, &code);
            if (code != Z_OK && code != Z_STREAM_END)
                return dp_fail(err, DP_E_RUN, "%s: line %zu: cannot read: %s", l->name, l->number + 1,
                               code == Z_ERRNO ? strerror(errno) : why);
            if (l->length == before)
                return 0;
            break;
        }
        l->length += strlen(got);
        if (l->length > LINE_LIMIT)
            return dp_fail(err, DP_E_RUN, "%s: line %zu is longer than %zu bytes", l->name, l->number + 1,
                           LINE_LIMIT);
        if (l->length > 0 && l->line[l->length - 1] == '\n') {
            l->length--;
            break;
        }
    }
    l->number++;
    return 1;
}

int dp_lines_next(struct dp_lines *l, struct dp_err *err)
{
    l->length = 0;
    int rc = append_line(l, err);
    if (rc == 1 && l->length > 0 && l->line[l->length - 1] == '\r')
        l->length--;
    if (rc == 1)
        l->line[l->length] = '\0';
    return rc;
}

static int add_field(struct dp_lines *l, size_t start, size_t end, bool quoted, size_t at, struct dp_err *err)
{
    int rc = dp_grow(&l->field, &l->field_capacity, l->fields + 1, sizeof *l->field, err);
    if (rc != DP_OK)
        return rc;
    while (!quoted && start < end && isspace((unsigned char)l->buffer[start]))
        start++;
    while (!quoted && end > start && isspace((unsigned char)l->buffer[end - 1]))
        end--;
    l->field[l->fields++] =
        (struct dp_cell){(const char *)start, end - start, at}; /* an offset until buffer is still */
    return DP_OK;
}

int dp_lines_record(struct dp_lines *l, char delimiter, struct dp_err *err)
{
    int rc;
    do
        rc = dp_lines_next(l, err);
    while (rc == 1 && l->arff && l->line[0] == '%');
    if (rc != 1)
        return rc;
    char quote = '"';
    size_t used = 0, start = 0, at = 1, first = l->number;
    bool in_quotes = false, quoted = false;
    l->fields = 0;
    for (size_t i = 0;; i++) {
        rc = dp_grow(&l->buffer, &l->buffer_capacity, used + 2, 1, err);
        if (rc != DP_OK)
            return rc;
        if (i == l->length && in_quotes) { /* the record goes on in the next line */
            l->buffer[used++] = '\n';
            rc = append_line(l, err);
            if (rc == 0)
                return dp_fail(err, DP_E_RUN, "%s: line %zu: a quote is not closed", l->name, first);
            if (rc < 0)
                return rc;
            i--;
            continue;
        }
        char c = i < l->length ? l->line[i] : '\0';
        if (i == l->length || (!in_quotes && c == delimiter)) {
            rc = add_field(l, start, used, quoted, at, err);
            if (rc != DP_OK)
                return rc;
            if (i == l->length)
                break;
            start = used;
            at = i + 2;
            quoted = false;
        } else if (in_quotes && c == quote) {
            if (i + 1 < l->length && l->line[i + 1] == quote) {
                l->buffer[used++] = quote;
                i++;
            } else {
                in_quotes = false;
            }
        } else if (!in_quotes && !quoted && (c == '"' || (l->arff && c == '\'')) &&
                   strspn(l->buffer + start, " \t") >= used - start) {
            in_quotes = quoted = true;
            quote = c;
            used = start;
        } else if (!(quoted && !in_quotes && isspace((unsigned char)c))) {
            l->buffer[used++] = c;
        }
        l->buffer[used] = '\0';
    }
    for (size_t k = 0; k < l->fields; k++)
        l->field[k].text = l->buffer + (size_t)l->field[k].text;
    return 1;
}
