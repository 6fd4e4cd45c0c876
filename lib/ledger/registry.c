#include "ledger/registry.h"

#include <fcntl.h>
#include <sodium.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/sync.h"
#include "base/text.h"

#define WITHOUT "(--no-registry goes without it)"

static const char *const kinds[] = {"import", "run", "budget"};
static const char *const gates[] = {"", "no-ledger", "non-private", "public"};

/* --- lines -------------------------------------------------------------------------------------------------------- */

static json_t *line_json(const struct dp_registry_line *l)
{
    json_t *json =
        json_pack("{s:i, s:s, s:s}", "format", DP_REGISTRY_FORMAT, "kind", kinds[l->kind], "population", l->population);
    json_t *more = l->kind == DP_REGISTRY_IMPORT
                       ? json_pack("{s:s, s:s, s:s}", "table", l->table, "path", l->path, "directory", l->directory)
                       : json_pack("{s:s, s:s, s:f}", "ledger", l->ledger, "adjacency", l->adjacency, "delta", l->delta);
    json_object_update(json, more);
    if (l->kind == DP_REGISTRY_RUN)
        json_object_set_new(json, "run", json_string(l->run));
    if (l->kind == DP_REGISTRY_RUN && l->unit != NULL)
        json_object_set_new(json, "unit", json_string(l->unit));
    if (l->kind == DP_REGISTRY_RUN && l->gate != DP_REGISTRY_CHARGED)
        json_object_set_new(json, "gate", json_string(gates[l->gate]));
    if (l->kind != DP_REGISTRY_IMPORT && isfinite(l->epsilon))
        json_object_set_new(json, "epsilon", json_real(l->epsilon));
    json_decref(more);
    return json;
}

/* Reads a line from its JSON, which it keeps. NULL, or what is wrong with it. */
static const char *read_line(struct dp_registry_line *l, json_t *json)
{
    static const char malformed[] = "it is not a line as they are written";
    const char *kind, *gate = "";
    size_t k = 0, g = 0;
    int format, bad;
    *l = (struct dp_registry_line){.json = json, .epsilon = (double)INFINITY};
    if (json_unpack(json, "{s:i, s:s, s:s}", "format", &format, "kind", &kind, "population", &l->population) != 0)
        return malformed;
    if (format != DP_REGISTRY_FORMAT)
        return "it is of a newer format";
    while (k < sizeof kinds / sizeof *kinds && strcmp(kind, kinds[k]) != 0)
        k++;
    l->kind = (enum dp_registry_kind)k;
    if (k == DP_REGISTRY_IMPORT)
        bad = json_unpack(json, "{s:s, s:s, s:s}", "table", &l->table, "path", &l->path, "directory", &l->directory);
    else
        bad = json_unpack(json, "{s:s, s:s, s:F, s?F}", "ledger", &l->ledger, "adjacency", &l->adjacency, "delta", &l->delta,
                          "epsilon", &l->epsilon);
    if (k == DP_REGISTRY_RUN)
        bad |= json_unpack(json, "{s:s, s?s, s?s}", "run", &l->run, "unit", &l->unit, "gate", &gate);
    while (g < sizeof gates / sizeof *gates && strcmp(gate, gates[g]) != 0)
        g++;
    l->gate = (enum dp_registry_gate)g;
    bad |= g == sizeof gates / sizeof *gates;
    bool costs = k == DP_REGISTRY_IMPORT || (l->epsilon >= 0 && l->delta >= 0);
    return bad != 0 || k == sizeof kinds / sizeof *kinds || !costs ? malformed : NULL;
}

/* Parses the bytes up to the last line feed. */
static int take(struct dp_registry *r, const char *bytes, size_t length, struct dp_err *err)
{
    const char *end;
    for (; length > 0 && (end = memchr(bytes, '\n', length)) != NULL; bytes = end + 1) {
        size_t size = (size_t)(end - bytes);
        json_t *json;
        dp_extend(&r->line, &r->capacity, r->lines + 1, sizeof *r->line);
        if (dp_json_parse(&json, bytes, size, "", err) != DP_OK)
            return dp_fail(err, DP_E_UNSAFE, "line %zu of the registry %s was edited or damaged " WITHOUT, r->lines + 1,
                           r->path);
        const char *why = read_line(&r->line[r->lines], json);
        if (why != NULL) {
            json_decref(json);
            return dp_fail(err, DP_E_UNSAFE, "line %zu of the registry %s cannot be used: %s " WITHOUT, r->lines + 1, r->path,
                           why);
        }
        r->lines++;
        r->end += size + 1;
        length -= size + 1;
    }
    return DP_OK;
}

/* --- the files ---------------------------------------------------------------------------------------------------- */

static int cannot(const struct dp_registry *r, const char *what, struct dp_err *err)
{
    int why = errno;
    return dp_fail(err, DP_E_RUN, "cannot %s the registry %s: %s " WITHOUT, what, r->path, strerror(why));
}

/* Checks that only the user can access the directory, or a file in it. */
static int check_private(const struct dp_registry *r, int fd, const char *mode, struct dp_err *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return cannot(r, "read", err);
    if (st.st_uid != geteuid())
        return dp_fail(err, DP_E_UNSAFE, "the registry %s belongs to another user: each has one of their own", r->path);
    if ((st.st_mode & 077) != 0)
        return dp_fail(err, DP_E_UNSAFE, "the registry %s is open to others: chmod %s", r->path, mode);
    return DP_OK;
}

/* Makes a directory and those that it is in. 0, or -1 with errno. */
static int make_directories(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        bool made = mkdir(path, 0700) == 0 || errno == EEXIST;
        *slash = '/';
        if (!made)
            return -1;
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST ? 0 : -1;
}

/* A descriptor of the directory, or -1 with errno. */
static int open_directory(const struct dp_registry *r, bool write)
{
    int at = open(r->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (at >= 0 || errno != ENOENT || !write || make_directories(r->path) != 0)
        return at;
    return open(r->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Opens a file in the directory and checks it, or returns a negative status. */
static int open_file(const struct dp_registry *r, int at, const char *name, bool write, struct dp_err *err)
{
    int flags = write ? O_RDWR | O_CREAT : O_RDONLY;
    int fd = openat(at, name, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (fd < 0)
        return cannot(r, write ? "write to" : "read", err);
    int rc = check_private(r, fd, "600 its files", err);
    if (rc == DP_OK)
        return fd;
    close(fd);
    return rc;
}

static int read_all(struct dp_registry *r, struct dp_err *err)
{
    struct stat st;
    char *bytes;
    size_t got = 0;
    ssize_t n = 1;
    if (fstat(r->fd, &st) != 0)
        return cannot(r, "read", err);
    bytes = dp_new((size_t)st.st_size + 1, 1);
    while (got < (size_t)st.st_size && n != 0) {
        n = pread(r->fd, bytes + got, (size_t)st.st_size - got, (off_t)got);
        if (n < 0 && errno != EINTR)
            break;
        got += n > 0 ? (size_t)n : 0;
    }
    int rc = n < 0 ? cannot(r, "read", err) : take(r, bytes, got, err);
    free(bytes);
    return rc;
}

/* Reads the key. A writer makes it if it does not exist, or if an earlier attempt was cut short and no line uses the key. */
static int read_key(struct dp_registry *r, int at, bool write, struct dp_err *err)
{
    int fd = open_file(r, at, "key", write, err);
    if (fd < 0)
        return fd;
    int rc = DP_OK;
    ssize_t got = pread(fd, r->key, sizeof r->key, 0);
    if (got < 0) {
        rc = cannot(r, "read", err);
    } else if ((size_t)got < sizeof r->key && (r->lines > 0 || !write)) {
        rc = dp_fail(err, DP_E_UNSAFE, "the key of the registry %s is not whole: its lines cannot be compared " WITHOUT,
                     r->path);
    } else if ((size_t)got < sizeof r->key) {
        randombytes_buf(r->key, sizeof r->key);
        if (pwrite(fd, r->key, sizeof r->key, 0) != (ssize_t)sizeof r->key || fsync(fd) != 0 || dp_sync_directory(r->path) != 0)
            rc = cannot(r, "write to", err);
    }
    close(fd);
    return rc;
}

static int open_files(struct dp_registry *r, int at, bool write, struct dp_err *err)
{
    int rc = check_private(r, at, "700", err);
    if (rc == DP_OK && !write && faccessat(at, "lines", F_OK, AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT)
        return DP_REGISTRY_NONE;
    if (rc == DP_OK && (rc = open_file(r, at, "lines", write, err)) >= 0) {
        r->fd = rc;
        rc = DP_OK;
    }
    while (rc == DP_OK && flock(r->fd, write ? LOCK_EX : LOCK_SH) != 0)
        if (errno != EINTR)
            rc = cannot(r, "lock", err);
    rc = rc ?: read_all(r, err);
    return rc ?: read_key(r, at, write, err);
}

int dp_registry_open(struct dp_registry **registry, const struct dp_registry_place *place, bool write, struct dp_err *err)
{
    struct dp_registry *r;
    *registry = NULL;
    if (place->none) {
        if (err != NULL)
            err->message[0] = '\0';
        return DP_REGISTRY_NONE;
    }
    if (place->directory == NULL) {
        dp_fail(err, DP_E_RUN, "neither DPLINE_REGISTRY nor HOME says where the registry of populations is");
        return DP_REGISTRY_NONE;
    }
    if (sodium_init() < 0)
        return dp_fail(err, DP_E_RUN, "cannot initialise libsodium");
    int rc = DP_OK;
    r = dp_new(1, sizeof *r);
    r->fd = -1;
    r->path = dp_got(strdup(place->directory));
    int at = open_directory(r, write);
    if (at < 0) {
        rc = cannot(r, write ? "make" : "read", err);
        if (access(r->path, F_OK) != 0 && (!write || !place->named))
            rc = DP_REGISTRY_NONE;
    } else {
        rc = open_files(r, at, write, err);
        close(at);
    }
    if (rc == DP_OK)
        *registry = r;
    else
        dp_registry_close(r);
    return rc;
}

void dp_registry_close(struct dp_registry *r)
{
    if (r == NULL)
        return;
    for (size_t i = 0; i < r->lines; i++)
        json_decref(r->line[i].json);
    if (r->fd >= 0)
        close(r->fd); /* and unlocks */
    sodium_memzero(r->key, sizeof r->key);
    free(r->line);
    free(r->path);
    free(r);
}

/* Writes the line after the last whole line, and overwrites an unfinished line. */
static int put(struct dp_registry *r, const char *text, size_t length)
{
    size_t done = 0;
    if (ftruncate(r->fd, (off_t)r->end) != 0)
        return -1;
    while (done < length) {
        ssize_t n = pwrite(r->fd, text + done, length - done, (off_t)(r->end + done));
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        done += (size_t)n;
    }
    return fsync(r->fd);
}

/* The path that JSON cannot represent, or NULL. */
static const char *no_text(const struct dp_registry_line *line)
{
    const char *const paths[] = {line->path, line->directory, line->ledger};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (paths[i] != NULL && dp_text_valid(paths[i], strlen(paths[i])) != strlen(paths[i]))
            return paths[i];
    return NULL;
}

/* Adds the text of a line to *text; the caller frees it. */
static int add_text(const struct dp_registry *r, const struct dp_registry_line *line, char **text, struct dp_err *err)
{
    char *before = *text;
    if (no_text(line) != NULL)
        return dp_fail(err, DP_E_RUN, "the path %s is not UTF-8, which the registry %s cannot hold " WITHOUT, no_text(line),
                       r->path);
    json_t *json = line_json(line);
    char *body = dp_json_text(json, JSON_COMPACT);
    *text = dp_format("%s%s\n", before != NULL ? before : "", body);
    json_decref(json);
    free(body);
    free(before);
    return DP_OK;
}

int dp_registry_add(struct dp_registry *r, const struct dp_registry_line *line, size_t count, struct dp_err *err)
{
    char *text = NULL;
    int rc = DP_OK;
    for (size_t i = 0; rc == DP_OK && i < count; i++)
        rc = add_text(r, &line[i], &text, err);
    if (rc == DP_OK && put(r, text, strlen(text)) != 0) {
        rc = cannot(r, "write to", err);
        if (ftruncate(r->fd, (off_t)r->end) != 0)
            rc = DP_E_RUN; /* an unfinished line does not count */
    }
    rc = rc ?: take(r, text, strlen(text), err);
    free(text);
    return rc;
}

/* --- what it knows ------------------------------------------------------------------------------------------------ */

void dp_registry_digest(const struct dp_registry *r, const char *purpose, const void *bytes, size_t size,
                        char digest[DP_REGISTRY_DIGEST])
{
    unsigned char out[(DP_REGISTRY_DIGEST - 1) / 2];
    struct dp_hash state;
    dp_hash_start(&state, r->key, sizeof r->key, sizeof out);
    dp_hash_add(&state, purpose, strlen(purpose) + 1);
    dp_hash_add(&state, bytes, size);
    dp_hash_end(&state, out, sizeof out);
    sodium_bin2hex(digest, DP_REGISTRY_DIGEST, out, sizeof out);
}

const struct dp_registry_line *dp_registry_table(const struct dp_registry *r, const char *table, const char *path)
{
    const struct dp_registry_line *by_path = NULL;
    for (size_t i = r->lines; i-- > 0;) {
        const struct dp_registry_line *l = &r->line[i];
        if (l->kind != DP_REGISTRY_IMPORT)
            continue;
        if (table[0] != '\0' && strcmp(l->table, table) == 0)
            return l;
        if (by_path == NULL && path[0] != '\0' && strcmp(l->path, path) == 0)
            by_path = l;
    }
    return by_path;
}

const struct dp_registry_line *dp_registry_population(const struct dp_registry *r, const char *population)
{
    for (size_t i = r->lines; i-- > 0;)
        if (strcmp(r->line[i].population, population) == 0)
            return &r->line[i];
    return NULL;
}

bool dp_registry_unbounded(const struct dp_registry_line *line)
{
    return line->gate == DP_REGISTRY_NON_PRIVATE || line->gate == DP_REGISTRY_PUBLIC;
}

bool dp_registry_concerns(const char *population, const char *digest)
{
    return population != NULL && population[0] != '\0' && strncmp(population, "dp-synth:", 9) != 0 &&
           (digest == NULL || strcmp(population, digest) != 0);
}

int dp_registry_path(const char *file, char **path, struct dp_err *err)
{
    char *copy = dp_got(strdup(file)), *slash = strrchr(copy, '/');
    const char *name = slash != NULL ? file + (slash - copy) + 1 : file;
    *path = NULL;
    if (slash != NULL)
        slash[slash == copy] = '\0'; /* "/" itself stays */
    char *directory = realpath(slash != NULL ? copy : ".", NULL);
    int rc = DP_OK;
    if (directory == NULL)
        rc = dp_fail_errno(err, errno, "cannot find the directory of %s", file);
    else
        *path = dp_format("%s/%s", strcmp(directory, "/") == 0 ? "" : directory, name);
    free(directory);
    free(copy);
    return rc;
}
