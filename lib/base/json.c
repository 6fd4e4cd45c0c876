#include "base/json.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/text.h"

/* When memory is short, jansson's lexer drops a byte of a string and continues, or reports an error in a correct text, and its
 * writer leaves keys out. Neither its results nor its messages can be used then: so its allocations are watched. */
static _Thread_local bool parse_ran_short, ran_short;
static json_malloc_t allocate;
static pthread_once_t watched = PTHREAD_ONCE_INIT;

static void *watched_malloc(size_t size)
{
    void *block = allocate(size);
    if (block == NULL)
        parse_ran_short = ran_short = true;
    return block;
}

static void watch(void)
{
    json_free_t release;
    json_get_alloc_funcs(&allocate, &release);
    json_set_alloc_funcs(watched_malloc, release);
}

void dp_json_watch(void)
{
    pthread_once(&watched, watch);
}

/* Whether an allocation for JSON has failed in this thread since the last call: what was made since may lack members. */
static bool has_run_short(void)
{
    bool was = ran_short;
    ran_short = false;
    return was;
}

json_t *dp_json_made(json_t *root)
{
    if (!has_run_short())
        return root;
    json_decref(root);
    return NULL;
}

char *dp_json_text(const json_t *root, size_t flags)
{
    dp_json_watch();
    char *text = root != NULL ? json_dumps(root, flags) : NULL;
    if (!has_run_short())
        return text;
    free(text);
    return NULL;
}

json_t *dp_json_string(const char *text)
{
    size_t length = strlen(text);
    return dp_text_valid(text, length) == length ? json_stringn_nocheck(text, length) : json_string("(not UTF-8)");
}

int dp_json_parse(json_t **root, const char *text, size_t length, const char *name, struct dp_err *err)
{
    json_error_t where;
    dp_json_watch();
    parse_ran_short = false;
    *root = json_loadb(text, length, JSON_REJECT_DUPLICATES, &where);
    if (parse_ran_short) {
        json_decref(*root);
        *root = NULL;
        dp_fail(err, DP_E_RUN, "out of memory");
        errno = ENOMEM;
        return DP_E_RUN;
    }
    if (*root != NULL)
        return DP_OK;
    errno = 0;
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
        rc = dp_grow(&text, &capacity, length + 4096, 1, err);
        if (rc == DP_OK && (got = read(fd, text + length, capacity - length)) < 0 && errno != EINTR)
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

static int write_value(struct writer *w, const json_t *value);

static void new_line(const struct writer *w)
{
    if (w->indent > 0)
        fprintf(w->stream, "\n%*s", w->indent * w->depth, "");
}

/* jansson does the quoting. */
static int write_text(const struct writer *w, const json_t *value)
{
    char *text = dp_json_text(value, JSON_ENCODE_ANY);
    if (text == NULL)
        return -1;
    fputs(text, w->stream);
    free(text);
    return 0;
}

static int write_object(struct writer *w, const json_t *value)
{
    const char *key, *separator = "";
    json_t *entry;
    int bad = 0;
    fputc('{', w->stream);
    w->depth++;
    json_object_foreach ((json_t *)value, key, entry) {
        json_t *name = json_string(key);
        fputs(separator, w->stream);
        separator = ",";
        new_line(w);
        bad |= write_text(w, name);
        json_decref(name);
        fputs(w->indent > 0 ? ": " : ":", w->stream);
        bad |= write_value(w, entry);
    }
    w->depth--;
    if (json_object_size(value) > 0)
        new_line(w);
    fputc('}', w->stream);
    return bad;
}

static int write_array(struct writer *w, const json_t *value)
{
    json_t *entry;
    size_t index;
    int bad = 0;
    fputc('[', w->stream);
    w->depth++;
    json_array_foreach (value, index, entry) {
        if (index > 0)
            fputc(',', w->stream);
        new_line(w);
        bad |= write_value(w, entry);
    }
    w->depth--;
    if (json_array_size(value) > 0)
        new_line(w);
    fputc(']', w->stream);
    return bad;
}

static int write_value(struct writer *w, const json_t *value)
{
    char number[40];
    if (json_is_object(value))
        return write_object(w, value);
    if (json_is_array(value))
        return write_array(w, value);
    if (!json_is_real(value))
        return write_text(w, value);
    fputs(dp_number_print(json_real_value(value), number, sizeof number), w->stream);
    return 0;
}

int dp_json_print(const json_t *root, int indent, FILE *stream, struct dp_err *err)
{
    struct writer w = {stream, indent, 0};
    if (root == NULL || has_run_short() || write_value(&w, root) != 0)
        return dp_fail(err, DP_E_RUN, "out of memory");
    fputc('\n', stream);
    return DP_OK;
}
