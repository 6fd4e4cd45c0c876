#include "base/json.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/text.h"

char *dp_json_text(const json_t *root, size_t flags)
{
    return dp_got(json_dumps(root, flags));
}

json_t *dp_json_string(const char *text)
{
    size_t length = strlen(text);
    return dp_text_valid(text, length) == length ? json_stringn_nocheck(text, length) : json_string("(not UTF-8)");
}

json_t *dp_json_number(double value)
{
    return fabs(value) < 0x1p53 && value == floor(value) ? json_integer((json_int_t)value) : json_real(value);
}

int dp_json_parse(json_t **root, const char *text, size_t length, const char *name, struct dp_err *err)
{
    json_error_t where;
    *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &where);
    if (*root != NULL)
        return DP_OK;
    if (name == NULL)
        return dp_fail(err, DP_E_RUN, "not JSON: %.100s", where.text);
    return dp_fail(err, DP_E_RUN, "%s: line %d: not JSON: %.100s", name, where.line, where.text);
}

int dp_json_read(json_t **root, int fd, const char *name, struct dp_err *err)
{
    char *text = NULL;
    size_t capacity = 0, length = 0;
    ssize_t got = 1;
    int rc = DP_OK;
    *root = NULL;
    while (rc == DP_OK && got > 0) {
        dp_extend(&text, &capacity, length + 4096, 1);
        if ((got = read(fd, text + length, capacity - length)) < 0 && errno != EINTR)
            rc = dp_fail_errno(err, errno, "cannot read %s", name);
        if (got > 0)
            length += (size_t)got;
        if (got < 0)
            got = 1; /* interrupted */
        if (rc == DP_OK && length > DP_JSON_MOST)
            rc = dp_fail(err, DP_E_RUN, "%s is longer than %zu bytes", name, DP_JSON_MOST);
    }
    rc = rc ?: dp_json_parse(root, text, length, name, err);
    free(text);
    return rc;
}

int dp_json_load(json_t **root, const char *path, struct dp_err *err)
{
    *root = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return dp_fail_errno(err, errno, "cannot open %s", path);
    int rc = dp_json_read(root, fd, path, err);
    close(fd);
    return rc;
}

struct writer {
    FILE *stream;
    int indent, depth;
};

static void write_value(struct writer *w, const json_t *value);

static void new_line(const struct writer *w)
{
    if (w->indent > 0)
        fprintf(w->stream, "\n%*s", w->indent * w->depth, "");
}

/* jansson does the quoting. */
static void write_text(const struct writer *w, const json_t *value)
{
    char *text = dp_json_text(value, JSON_ENCODE_ANY);
    fputs(text, w->stream);
    free(text);
}

static void write_object(struct writer *w, const json_t *value)
{
    const char *key, *separator = "";
    json_t *entry;
    fputc('{', w->stream);
    w->depth++;
    json_object_foreach ((json_t *)value, key, entry) {
        json_t *name = json_string(key);
        fputs(separator, w->stream);
        separator = ",";
        new_line(w);
        write_text(w, name);
        json_decref(name);
        fputs(w->indent > 0 ? ": " : ":", w->stream);
        write_value(w, entry);
    }
    w->depth--;
    if (json_object_size(value) > 0)
        new_line(w);
    fputc('}', w->stream);
}

static void write_array(struct writer *w, const json_t *value)
{
    json_t *entry;
    size_t index;
    fputc('[', w->stream);
    w->depth++;
    json_array_foreach (value, index, entry) {
        if (index > 0)
            fputc(',', w->stream);
        new_line(w);
        write_value(w, entry);
    }
    w->depth--;
    if (json_array_size(value) > 0)
        new_line(w);
    fputc(']', w->stream);
}

static void write_value(struct writer *w, const json_t *value)
{
    if (json_is_object(value))
        write_object(w, value);
    else if (json_is_array(value))
        write_array(w, value);
    else if (!json_is_real(value))
        write_text(w, value);
    else
        fputs(DP_NUMBER(json_real_value(value)), w->stream);
}

void dp_json_print(const json_t *root, int indent, FILE *stream)
{
    struct writer w = {stream, indent, 0};
    write_value(&w, root);
    fputc('\n', stream);
}
