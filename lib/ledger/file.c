/* The files of a ledger: the ledger itself, and PATH.mark. */
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sync.h"
#include "ledger/book.h"

#define MARKED 2 /* from this format on a ledger with lines has a mark */

/* The mark before the first line. */
#define BEGINNING "00000000000000000000000000000000:0:" DP_LEDGER_ORIGIN

/* Refuses to create a ledger whose mark exists: its file was lost. The mark is looked for first. A ledger exists before its
 * mark, so a ledger that another process is just creating is not taken for lost. */
static int check_gone(const char *path, struct dp_err *err)
{
    struct stat st;
    int rc = DP_OK;
    char *name = dp_format("%s.mark", path);
    if (lstat(name, &st) == 0 && lstat(path, &st) != 0 && errno == ENOENT)
        rc = dp_fail(err, DP_E_UNSAFE, "the ledger %s is gone, and %s says that there was one", path, name);
    free(name);
    return rc;
}

int dp_ledger_open_file(const char *path, int flags, struct dp_err *err)
{
    struct stat st;
    int rc = check_gone(path, err);
    if (rc != DP_OK)
        return rc;
    /* Without O_NONBLOCK a FIFO would wait for its other end. */
    int fd = open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (fd < 0 && errno == ELOOP)
        return dp_fail(err, DP_E_RUN, "the ledger %s is a symbolic link: name the file itself", path);
    if (fd < 0 && (errno == EISDIR || errno == ENXIO))
        return dp_fail(err, DP_E_RUN, "the ledger %s is not a regular file", path);
    if (fd < 0)
        return dp_fail_errno(err, errno, "cannot open the ledger %s", path);
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return dp_fail(err, DP_E_RUN, "the ledger %s is not a regular file", path);
    }
    if ((flags & O_ACCMODE) != O_RDONLY && (st.st_mode & S_IWOTH) != 0) {
        close(fd);
        return dp_fail(err, DP_E_UNSAFE, "everybody can write to the ledger %s and change what it records (chmod o-w)", path);
    }
    return fd;
}

int dp_ledger_book_fill(struct dp_ledger_book *book, int fd, struct dp_err *err)
{
    struct stat st;
    char *bytes;
    size_t got = 0;
    if (fstat(fd, &st) != 0)
        return dp_fail_errno(err, errno, "cannot read the ledger %s", book->path);
    if ((size_t)st.st_size <= book->end) {
        book->torn = false;
        return DP_OK;
    }
    size_t size = (size_t)st.st_size - book->end;
    bytes = dp_new(size, 1);
    while (got < size) {
        ssize_t n = pread(fd, bytes + got, size - got, (off_t)(book->end + got));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            free(bytes);
            return n < 0 ? dp_fail_errno(err, errno, "cannot read the ledger %s", book->path)
                         : dp_fail(err, DP_E_RUN, "the ledger %s became shorter while it was read", book->path);
        }
        got += (size_t)n;
    }
    int rc = dp_ledger_book_take(book, bytes, size, err);
    free(bytes);
    return rc;
}

int dp_ledger_lock(int fd, int operation, const char *path, struct dp_err *err)
{
    while (flock(fd, operation) != 0)
        if (errno != EINTR)
            return dp_fail_errno(err, errno, "cannot lock the ledger %s", path);
    return DP_OK;
}

int dp_ledger_book_read(struct dp_ledger_book *book, const char *path, struct dp_err *err)
{
    book->path = path;
    int fd = dp_ledger_open_file(path, O_RDONLY, err);
    if (fd < 0)
        return fd;
    int rc = dp_ledger_lock(fd, LOCK_SH, path, err);
    rc = rc ?: dp_ledger_book_fill(book, fd, err);
    rc = rc ?: dp_ledger_beside_check(book, path, err);
    close(fd); /* and unlocks */
    return rc;
}

int dp_ledger_beside_check(const struct dp_ledger_book *book, const char *path, struct dp_err *err)
{
    char *name = dp_format("%s.mark", path), text[DP_LEDGER_MARK + 1];
    struct dp_ledger_place mark;
    ssize_t n = 0;
    int rc = DP_OK;
    int fd = open(name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT && book->format >= MARKED)
        rc = dp_fail(
            err, DP_E_UNSAFE,
            "the ledger %s has lines and no %s, so nothing says that none is missing at its end: put back the mark that "
            "belongs to it, or write into it what dp-info --get ledger prints for the newest model",
            path, name);
    else if (fd < 0)
        rc = errno == ENOENT ? DP_OK : dp_fail_errno(err, errno, "cannot open %s", name);
    else if ((n = read(fd, text, sizeof text - 1)) < 0)
        rc = dp_fail_errno(err, errno, "cannot read %s", name);
    if (rc == DP_OK && fd >= 0) {
        text[n] = '\0';
        text[strcspn(text, "\n")] = '\0';
        if (strcmp(text, BEGINNING) == 0)
            rc = DP_OK;
        else if (dp_ledger_place_read(text, &mark, NULL) != DP_OK)
            rc = dp_fail(err, DP_E_UNSAFE, "%s does not hold a mark: it was edited or damaged", name);
        else if (!dp_ledger_book_has(book, &mark))
            rc = dp_fail(err, DP_E_UNSAFE,
                         "the ledger %s does not hold line %llu, whose mark is in %s: it is an older copy, or another ledger",
                         path, mark.seq, name);
    }
    if (fd >= 0)
        close(fd);
    free(name);
    return rc;
}

int dp_ledger_beside_begin(const struct dp_ledger_book *book, const char *path, struct dp_err *err)
{
    char *name = dp_format("%s.mark", path), mark[DP_LEDGER_MARK];
    struct stat st;
    bool missing = lstat(name, &st) != 0 && errno == ENOENT;
    free(name);
    snprintf(mark, sizeof mark, "%.32s:%zu:%s", BEGINNING, book->lines, dp_ledger_book_hash(book));
    return missing ? dp_ledger_beside_write(path, mark, err) : DP_OK;
}

int dp_ledger_beside_write(const char *path, const char *mark, struct dp_err *err)
{
    char *name = dp_format("%s.mark", path);
    char *temporary = dp_format("%s.mark.new", path); /* always this name, so that killed processes leave one file at most */
    int rc = DP_OK, fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        rc = dp_fail_errno(err, errno, "cannot write %s", name);
    if (rc == DP_OK && (dprintf(fd, "%s\n", mark) < 0 || fsync(fd) != 0 || rename(temporary, name) != 0)) {
        rc = dp_fail_errno(err, errno, "cannot write %s", name);
        unlink(temporary);
    }
    if (fd >= 0)
        close(fd);
    free(name);
    free(temporary);
    if (rc == DP_OK && dp_sync_directory_of(path) != 0)
        rc = dp_fail_errno(err, errno, "cannot sync the directory of the ledger %s", path);
    return rc;
}
