#include "port/keys.h"

#include <fcntl.h>
#include <sodium.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "port/zmq.h"

#define OWN "own"
#define TRUSTED "trusted"
#define FILE_MOST ((size_t)DP_KEYS_MOST * (DP_KEY_NAME + DP_KEY_TEXT))

/* Checks that the file at that descriptor is the user's, and that its mode has no bit of `others`. */
static int check_private(int fd, const char *directory, const char *file, mode_t others, const char *mode, struct dp_err *err)
{
    struct stat st;
    if (fstat(fd, &st) != 0)
        return dp_fail_errno(err, errno, "cannot use %s%s", directory, file);
    if (st.st_uid != geteuid())
        return dp_fail(err, DP_E_UNSAFE, "%s%s belongs to another user: keys are one's own", directory, file);
    if ((st.st_mode & others) != 0)
        return dp_fail(err, DP_E_UNSAFE, "%s%s is open to others: chmod %s", directory, file, mode);
    return DP_OK;
}

/* A descriptor of the directory, or a negative status. */
static int open_directory(const char *directory, struct dp_err *err)
{
    if (dp_zmq_load(err) != DP_OK)
        return DP_E_RUN;
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return dp_fail(err, DP_E_USAGE, "%s: there are no keys (dp-key new makes a pair, dp-key trust lets others in)",
                       directory);
    if (fd < 0)
        return dp_fail_errno(err, errno, "cannot open %s", directory);
    int rc = check_private(fd, directory, "", 077, "700", err);
    if (rc == DP_OK)
        return fd;
    close(fd);
    return rc;
}

/* The text of the file at that descriptor, which is closed; a NUL is at its end, and the caller wipes and frees it. */
static int read_text(int fd, const char *directory, const char *slash, char **text, size_t *size, struct dp_err *err)
{
    struct stat st;
    int rc = DP_OK;
    *text = NULL;
    *size = 0;
    if ((fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || (size_t)st.st_size > FILE_MOST))
        rc = dp_fail(err, DP_E_RUN, "%s%s is not a file of keys", directory, slash);
    if (rc == DP_OK)
        *text = dp_new((size_t)st.st_size + 1, 1);
    ssize_t got = 0;
    while (rc == DP_OK && *size < (size_t)st.st_size &&
           ((got = read(fd, *text + *size, (size_t)st.st_size - *size)) > 0 || (got < 0 && errno == EINTR)))
        *size += got > 0 ? (size_t)got : 0;
    if (got < 0)
        rc = dp_fail_errno(err, errno, "cannot read %s%s", directory, slash);
    close(fd);
    return rc;
}

/* The same for a file in the directory. NULL if there is no such file. */
static int read_file(int at, const char *directory, const char *name, char **text, size_t *size, struct dp_err *err)
{
    char slash[16];
    *text = NULL;
    *size = 0;
    snprintf(slash, sizeof slash, "/%s", name);
    int fd = openat(at, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == ELOOP)
        return dp_fail(err, DP_E_UNSAFE, "%s%s is a symbolic link, and keys are kept in files", directory, slash);
    if (fd < 0)
        return errno == ENOENT ? DP_OK : dp_fail_errno(err, errno, "cannot open %s%s", directory, slash);
    int rc = check_private(fd, directory, slash, 077, "600", err);
    if (rc == DP_OK)
        return read_text(fd, directory, slash, text, size, err);
    close(fd);
    return rc;
}

static void wipe(char *text, size_t size)
{
    if (text != NULL)
        sodium_memzero(text, size);
    free(text);
}

/* Whether it is a key: 32 bytes in Z85. */
static bool is_key(const char *text)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";
    unsigned char bytes[32];
    char copy[DP_KEY_TEXT];
    if (strlen(text) != DP_KEY_TEXT - 1 || strspn(text, digits) != DP_KEY_TEXT - 1)
        return false;
    strcpy(copy, text);
    bool whole = dp_zmq.z85_decode(bytes, copy) != NULL;
    sodium_memzero(bytes, sizeof bytes);
    sodium_memzero(copy, sizeof copy);
    return whole;
}

static bool is_name(const char *text)
{
    size_t length = strlen(text);
    return length > 0 && length < DP_KEY_NAME && text[0] != '-' &&
           strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-") == length;
}

int dp_keys_own(const char *directory, struct dp_key_pair *pair, struct dp_err *err)
{
    char *text;
    size_t size;
    int at = open_directory(directory, err);
    if (at < 0)
        return at;
    int rc = read_file(at, directory, OWN, &text, &size, err);
    close(at);
    if (rc == DP_OK && text == NULL)
        return dp_fail(err, DP_E_USAGE, "%s: no key pair of one's own (dp-key new makes one)", directory);
    if (rc == DP_OK && (sscanf(text, "public %40s secret %40s", pair->public, pair->secret) != 2 || !is_key(pair->public) ||
                        !is_key(pair->secret)))
        rc = dp_fail(err, DP_E_RUN, "%s/" OWN " holds no key pair", directory);
    wipe(text, size);
    return rc;
}

/* Parses one line, in place. 1 if the line has an entry. */
static int parse_line(char *line, struct dp_key_trusted *entry)
{
    char *name = strtok_r(line, " \t", &line), *key = strtok_r(NULL, " \t", &line);
    if (name == NULL || name[0] == '#')
        return 0;
    if (key == NULL || strtok_r(NULL, " \t", &line) != NULL || !is_name(name) || !is_key(key))
        return -1;
    strcpy(entry->name, name);
    strcpy(entry->key, key);
    return 1;
}

/* The entries of a text, in place; it may be NULL. what: the file, for messages. */
static int parse_text(char *rest, const char *directory, const char *what, struct dp_key_trusted **list, size_t *count,
                      struct dp_err *err)
{
    size_t capacity = 0, number = 0;
    int rc = DP_OK;
    *list = NULL;
    *count = 0;
    for (char *line; rc == DP_OK && rest != NULL && (line = strsep(&rest, "\n")) != NULL;) {
        number++;
        dp_extend(list, &capacity, *count + 1, sizeof **list);
        int found = parse_line(line, &(*list)[*count]);
        if (found < 0)
            rc = dp_fail(err, DP_E_RUN, "%s%s:%zu: not a name and a key", directory, what, number);
        *count += found > 0;
    }
    if (rc != DP_OK) {
        free(*list);
        *list = NULL;
        *count = 0;
    }
    return rc;
}

/* The lines of an open directory. */
static int read_trusted(int at, const char *directory, struct dp_key_trusted **list, size_t *count, struct dp_err *err)
{
    char *text;
    size_t size;
    *list = NULL;
    *count = 0;
    int rc = read_file(at, directory, TRUSTED, &text, &size, err);
    rc = rc ?: parse_text(text, directory, "/" TRUSTED, list, count, err);
    free(text);
    return rc;
}

int dp_keys_roster(const char *path, struct dp_key_trusted **list, size_t *count, struct dp_err *err)
{
    char *text = NULL;
    size_t size;
    int rc = dp_zmq_load(err), fd = rc == DP_OK ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    *list = NULL;
    *count = 0;
    if (rc == DP_OK && fd < 0)
        rc = dp_fail_errno(err, errno, "cannot open %s", path);
    rc = rc ?: check_private(fd, path, "", 022, "go-w", err);
    if (rc == DP_OK)
        rc = read_text(fd, path, "", &text, &size, err);
    else if (fd >= 0)
        close(fd);
    rc = rc ?: parse_text(text, path, "", list, count, err);
    free(text);
    return rc;
}

void dp_key_bytes(const char text[DP_KEY_TEXT], unsigned char bytes[DP_KEY_BYTES])
{
    dp_zmq.z85_decode(bytes, text);
}

int dp_keys_trusted(const char *directory, struct dp_key_trusted **list, size_t *count, struct dp_err *err)
{
    *list = NULL;
    *count = 0;
    int at = open_directory(directory, err);
    if (at < 0)
        return at;
    int rc = read_trusted(at, directory, list, count, err);
    close(at);
    return rc;
}

/* Replaces a file: after a crash it is either the old one or the whole new one. */
static int write_file(int at, const char *directory, const char *name, const char *text, struct dp_err *err)
{
    char beside[32];
    snprintf(beside, sizeof beside, ".%s.%ld", name, (long)getpid());
    int fd = openat(at, beside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    size_t length = strlen(text);
    bool good = fd >= 0 && fchmod(fd, 0600) == 0 && write(fd, text, length) == (ssize_t)length && fsync(fd) == 0;
    int why = errno;
    if (fd >= 0)
        close(fd);
    if (good && renameat(at, beside, at, name) == 0)
        return DP_OK;
    why = good ? errno : why;
    if (fd >= 0)
        unlinkat(at, beside, 0);
    return dp_fail_errno(err, why, "cannot write %s/%s", directory, name);
}

/* Makes the directory, and missing directories above it. */
static int make_directory(const char *directory, struct dp_err *err)
{
    char *path = dp_got(strdup(directory));
    int rc = DP_OK;
    for (char *slash = path; rc == DP_OK && slash != NULL;) {
        slash = strchr(slash + 1, '/');
        if (slash != NULL)
            *slash = '\0';
        if (mkdir(path, 0700) != 0 && errno != EEXIST)
            rc = dp_fail_errno(err, errno, "cannot make %s", path);
        if (slash != NULL)
            *slash = '/';
    }
    free(path);
    return rc;
}

int dp_keys_make(const char *directory, struct dp_key_pair *pair, struct dp_err *err)
{
    char text[128];
    int rc = make_directory(directory, err), at = rc == DP_OK ? open_directory(directory, err) : rc;
    if (at < 0)
        return at;
    while (flock(at, LOCK_EX) != 0 && rc == DP_OK)
        if (errno != EINTR)
            rc = dp_fail_errno(err, errno, "cannot lock %s", directory);
    if (rc == DP_OK && faccessat(at, OWN, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
        rc = dp_fail(err, DP_E_USAGE, "%s has a key pair: others know it by that", directory);
    do { /* a key that looks like an option could not be given to dp-key trust */
        if (rc == DP_OK && dp_zmq.curve_keypair(pair->public, pair->secret) != 0)
            rc = dp_fail(err, DP_E_RUN, "cannot make a key pair: %s", dp_zmq.strerror(errno));
    } while (rc == DP_OK && pair->public[0] == '-');
    if (rc == DP_OK) {
        snprintf(text, sizeof text, "public %s\nsecret %s\n", pair->public, pair->secret);
        rc = write_file(at, directory, OWN, text, err);
        sodium_memzero(text, sizeof text);
    }
    close(at);
    return rc;
}

/* Writes the list without entry `less` (if it is one of the list) and with `more` (unless NULL). */
static int write_trusted(int at, const char *directory, const struct dp_key_trusted *list, size_t count, size_t less,
                         const struct dp_key_trusted *more, struct dp_err *err)
{
    char *text = NULL;
    size_t size;
    FILE *f = dp_got(open_memstream(&text, &size));
    for (size_t i = 0; i < count; i++)
        if (i != less)
            fprintf(f, "%s %s\n", list[i].name, list[i].key);
    if (more != NULL)
        fprintf(f, "%s %s\n", more->name, more->key);
    dp_close_text(f);
    int rc = write_file(at, directory, TRUSTED, text, err);
    free(text);
    return rc;
}

/* Opens and locks the directory, and reads the trusted keys. */
static int begin_change(const char *directory, int *at, struct dp_key_trusted **list, size_t *count, struct dp_err *err)
{
    *list = NULL;
    *at = open_directory(directory, err);
    if (*at < 0)
        return *at;
    while (flock(*at, LOCK_EX) != 0)
        if (errno != EINTR)
            return dp_fail_errno(err, errno, "cannot lock %s", directory);
    return read_trusted(*at, directory, list, count, err);
}

static void end_change(int at, struct dp_key_trusted *list)
{
    free(list);
    if (at >= 0)
        close(at);
}

int dp_keys_trust(const char *directory, const char *name, const char *key, struct dp_err *err)
{
    struct dp_key_trusted *list, more;
    size_t count;
    int at;
    if (dp_zmq_load(err) != DP_OK)
        return DP_E_RUN;
    if (!is_name(name))
        return dp_fail(err, DP_E_USAGE, "'%.80s' is not a name: up to %d letters, digits and ._-", name, DP_KEY_NAME - 1);
    if (!is_key(key))
        return dp_fail(err, DP_E_USAGE, "not a key for %s: a key has the %d characters that dp-key show prints", name,
                       DP_KEY_TEXT - 1);
    strcpy(more.name, name);
    strcpy(more.key, key);
    int rc = begin_change(directory, &at, &list, &count, err);
    for (size_t i = 0; rc == DP_OK && i < count; i++) {
        if (strcmp(list[i].key, key) == 0)
            rc = dp_fail(err, DP_E_USAGE, "%s trusts this key already, as %s", directory, list[i].name);
        else if (strcmp(list[i].name, name) == 0)
            rc = dp_fail(err, DP_E_USAGE, "%s trusts another key as %s (dp-key forget %s)", directory, name, name);
    }
    if (rc == DP_OK && count >= DP_KEYS_MOST)
        rc = dp_fail(err, DP_E_USAGE, "%s holds %d keys, which is all it may", directory, DP_KEYS_MOST);
    rc = rc ?: write_trusted(at, directory, list, count, count, &more, err);
    end_change(at, list);
    return rc;
}

int dp_keys_forget(const char *directory, const char *name, struct dp_err *err)
{
    struct dp_key_trusted *list;
    size_t count, i = 0;
    int at;
    int rc = begin_change(directory, &at, &list, &count, err);
    while (rc == DP_OK && i < count && strcmp(list[i].name, name) != 0)
        i++;
    if (rc == DP_OK && i == count)
        rc = dp_fail(err, DP_E_USAGE, "%s trusts nobody as '%.80s'", directory, name);
    rc = rc ?: write_trusted(at, directory, list, count, i, NULL, err);
    end_change(at, list);
    return rc;
}
