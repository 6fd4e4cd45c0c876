/* Ports on file descriptors and files. */
#include <fcntl.h>
#include <libgen.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "port/port.h"
#include "wire/codec.h"

#define CHUNK ((size_t)1 << 16)
#define PIPE_MOST (1 << 20) /* the default limit of Linux for all users */

struct fd_port {
    int fd;
    char *name;
    char *temporary; /* temporary name of an output file before it is committed, if it needs one */
    bool file;       /* an output file that gets its name when it is committed */
    bool private;    /* it holds frames that are not released */
    bool terminal;   /* people see what is written */
    bool reader;     /* its reader may go away: a pipe or a socket */
    char *in;        /* bytes in[start..end) have been read but not used */
    size_t start, end, capacity;
    struct dp_scan scan; /* scan of the frame that begins at start */
    size_t pipe;         /* capacity of the output pipe in bytes, as far as it can be changed */
    msgpack_sbuffer out;
};

static void free_fd(struct fd_port *p)
{
    if (p->fd >= 0)
        close(p->fd);
    if (p->temporary != NULL)
        unlink(p->temporary);
    free(p->temporary);
    free(p->name);
    free(p->in);
    msgpack_sbuffer_destroy(&p->out);
    free(p);
}

static void fd_close(struct dp_port *port, bool abandon)
{
    (void)abandon;
    free_fd(port->self);
}

static bool fd_unread(void *self)
{
    const struct fd_port *p = self;
    struct pollfd item = {p->fd, 0, 0};
    return p->reader && poll(&item, 1, 0) > 0 && (item.revents & (POLLERR | POLLHUP)) != 0;
}

/* Without requested events, poll waits only for POLLHUP and POLLERR. */
static struct pollfd fd_item(void *self)
{
    const struct fd_port *p = self;
    return (struct pollfd){p->reader ? p->fd : -1, 0, 0};
}

/* Waits in the read itself if possible, so that a frame takes one system call. 0, DP_PORT_UNREAD or an error. */
static int wait_and_read(struct dp_port *port, ssize_t *got, struct dp_err *err)
{
    struct fd_port *p = port->self;
    struct pollfd items[2] = {{p->fd, POLLIN, 0}};
    bool empty = false; /* the descriptor does not block */
    do {
        bool waits = !empty && dp_port_may_wait(port);
        int rc = waits ? dp_port_interrupted(port, err) : dp_port_wait(port, p->name, items, 1, err);
        /* This process is the only reader of the input, so read finds the bytes that poll has seen. */
        if (rc >= 0 && rc != DP_PORT_UNREAD)
            *got = read(p->fd, p->in + p->end, p->capacity - p->end);
        int why = errno;
        dp_port_waited(port);
        if (rc < 0 || rc == DP_PORT_UNREAD)
            return rc;
        errno = why;
        empty = *got < 0 && errno == EAGAIN;
    } while (*got < 0 && (errno == EINTR || errno == EAGAIN));
    return *got < 0 ? dp_fail_errno(err, errno, "cannot read %s", p->name) : DP_OK;
}

/* Appends the bytes of one read. 1, 0 at end of file, or DP_PORT_UNREAD. */
static int fill(struct dp_port *port, struct dp_err *err)
{
    struct fd_port *p = port->self;
    ssize_t got = 0;
    if (p->start > 0) {
        memmove(p->in, p->in + p->start, p->end - p->start);
        p->end -= p->start;
        p->start = 0;
    }
    dp_extend(&p->in, &p->capacity, p->end + CHUNK, 1);
    int rc = wait_and_read(port, &got, err);
    if (rc != DP_OK)
        return rc;
    p->end += (size_t)got;
    return got > 0;
}

static int fd_read(struct dp_port *port, struct dp_frame *frame, struct dp_err *err)
{
    struct fd_port *p = port->self;
    for (;;) {
        size_t length = 0;
        int rc = p->end > p->start ? dp_wire_scan(&p->scan, p->in + p->start, p->end - p->start, &length, err) : 0;
        if (rc < 0)
            return rc;
        if (rc == 1) {
            rc = dp_wire_decode(frame, p->in + p->start, length, err);
            p->start += length;
            return rc < 0 ? rc : 1;
        }
        rc = fill(port, err);
        if (rc < 0 || rc == DP_PORT_UNREAD)
            return rc;
        if (rc == 0)
            return p->end > p->start ? dp_fail(err, DP_E_UPSTREAM, "%s ends inside a frame", p->name) : 0;
    }
}

/* A new file with unreleased frames may be read only by its owner. */
static int keep_private(struct fd_port *p, const struct dp_frame *frame, struct dp_err *err)
{
    if (!p->file || p->private || frame->kind != DP_KIND_LAP || frame->label == DP_LABEL_RELEASED)
        return DP_OK;
    p->private = true;
    return fchmod(p->fd, 0600) == 0 ? DP_OK : dp_fail_errno(err, errno, "cannot keep %s from others", p->name);
}

/* A pipe that can hold a whole frame needs one write and one read for it. If the system does not allow such a size, writes
 * wait. */
static void widen_pipe(struct fd_port *p)
{
    int size = p->out.size < PIPE_MOST ? (int)p->out.size : PIPE_MOST;
    p->pipe = fcntl(p->fd, F_SETPIPE_SZ, size) >= size && size < PIPE_MOST ? (size_t)fcntl(p->fd, F_GETPIPE_SZ) : SIZE_MAX;
}

/* A frame is nothing to read at a terminal, but its texts must not be commands to it. */
static void escape(msgpack_sbuffer *frame)
{
    msgpack_sbuffer shown;
    char next[DP_TEXT_NEXT];
    msgpack_sbuffer_init(&shown);
    for (size_t at = 0, written; at < frame->size;) {
        at += dp_text_next(frame->data + at, frame->size - at, next, &written);
        dp_wire_put(&shown, next, written);
    }
    msgpack_sbuffer_destroy(frame);
    *frame = shown;
}

static int fd_write(struct dp_port *port, const struct dp_frame *frame, struct dp_err *err)
{
    struct fd_port *p = port->self;
    msgpack_sbuffer_clear(&p->out);
    int rc = dp_wire_encode(&p->out, frame, err);
    rc = rc ?: keep_private(p, frame, err);
    if (rc == DP_OK && p->terminal)
        escape(&p->out);
    if (rc != DP_OK)
        return rc;
    if (p->out.size > p->pipe)
        widen_pipe(p);
    for (size_t done = 0; done < p->out.size;) {
        ssize_t put = write(p->fd, p->out.data + done, p->out.size - done);
        if (put < 0 && errno == EINTR) {
            rc = dp_port_interrupted(port, err);
            if (rc != DP_OK)
                return rc;
            continue;
        }
        if (put < 0 && errno == EAGAIN) {
            struct pollfd items[2] = {{p->fd, POLLOUT, 0}};
            rc = dp_port_wait(port, p->name, items, 1, err);
            if (rc != 1)
                return rc;
            continue;
        }
        if (put < 0)
            return dp_fail_errno(err, errno, "cannot write %s", p->name);
        done += (size_t)put;
    }
    return DP_OK;
}

/* Gives a file without a name its name. linkat does not replace, so an existing file needs one more step. */
static int name_file(struct fd_port *p, struct dp_err *err)
{
    char self[40];
    snprintf(self, sizeof self, "/proc/self/fd/%d", p->fd);
    if (linkat(AT_FDCWD, self, AT_FDCWD, p->name, AT_SYMLINK_FOLLOW) == 0)
        return DP_OK;
    for (unsigned tries = 0; errno == EEXIST && tries < 1000; tries++) {
        p->temporary = p->temporary ?: dp_format("%s.%06ld-%u", p->name, (long)getpid(), tries);
        if (linkat(AT_FDCWD, self, AT_FDCWD, p->temporary, AT_SYMLINK_FOLLOW) == 0)
            return DP_OK;
        free(p->temporary);
        p->temporary = NULL;
    }
    return dp_fail_errno(err, errno, "cannot create %s", p->name);
}

static int fd_commit(struct dp_port *port, struct dp_err *err)
{
    struct fd_port *p = port->self;
    if (p->file && fsync(p->fd) != 0)
        return dp_fail_errno(err, errno, "cannot write %s", p->name);
    if (p->file && p->temporary == NULL) {
        int rc = name_file(p, err);
        if (rc != DP_OK)
            return rc;
    }
    int fd = p->fd;
    p->fd = -1;
    if (close(fd) != 0)
        return dp_fail_errno(err, errno, "cannot close %s", p->name);
    if (p->temporary != NULL) {
        if (rename(p->temporary, p->name) != 0)
            return dp_fail_errno(err, errno, "cannot rename to %s", p->name);
        free(p->temporary);
        p->temporary = NULL;
    }
    return DP_OK;
}

static const struct dp_port_ops fd_ops = {fd_read, fd_write, fd_commit, fd_close, fd_unread, fd_item, NULL, NULL};

void dp_port_open_fd(struct dp_port **port, int fd, const char *name, enum dp_direction direction)
{
    struct fd_port *p = dp_new(1, sizeof *p);
    p->fd = fd;
    p->name = dp_got(strdup(name));
    msgpack_sbuffer_init(&p->out);
    struct stat st;
    bool known = fstat(fd, &st) == 0, terminal = direction == DP_OUT && isatty(fd);
    p->terminal = terminal;
    p->reader = known && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
    int held = known && S_ISFIFO(st.st_mode) && direction == DP_OUT ? fcntl(fd, F_GETPIPE_SZ) : -1;
    p->pipe = held > 0 ? (size_t)held : SIZE_MAX;
    dp_port_wrap(port, &fd_ops, p, terminal ? DP_EXPOSED_TERMINAL : DP_EXPOSED_NO);
    (*port)->stored = known && S_ISREG(st.st_mode);
}

/* Whether a file without a name in that directory can get one. Tried on an empty one now, because at the end of a run it would
 * be too late. */
static bool may_name(const char *directory, const char *path)
{
    char self[40], name[4300];
    int fd = open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
    snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
    bool longer = snprintf(name, sizeof name, "%s.%06ld", path, (long)getpid()) >= (int)sizeof name;
    bool may = fd >= 0 && !longer && linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
    if (may)
        unlink(name);
    if (fd >= 0)
        close(fd);
    return may;
}

/* A file without a name in the directory of `path`: it disappears with its last descriptor, even if this process is killed. -1
 * if the file system or a missing /proc does not allow that. */
static int open_unnamed(const char *path)
{
    char *copy = dp_got(strdup(path));
    const char *directory = dirname(copy);
    int fd = may_name(directory, path) ? open(directory, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666) : -1;
    free(copy);
    return fd;
}

int dp_port_open_file(struct dp_port **port, const char *path, enum dp_direction direction, struct dp_err *err)
{
    if (direction == DP_IN) {
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            return dp_fail_errno(err, errno, "cannot open %s", path);
        dp_port_open_fd(port, fd, path, direction);
        return DP_OK;
    }
    /* A device or pipe under that name is written in place. */
    struct stat st;
    bool special = stat(path, &st) == 0 && !S_ISREG(st.st_mode);
    char *temporary = NULL;
    int fd = special ? open(path, O_WRONLY | O_CLOEXEC) : open_unnamed(path);
    if (fd < 0 && !special) {
        temporary = dp_format("%s.XXXXXX", path);
        fd = mkostemp(temporary, O_CLOEXEC);
        if (fd >= 0) {
            mode_t mask = umask(0);
            umask(mask);
            fchmod(fd, 0666 & ~mask);
        }
    }
    if (fd < 0) {
        int saved = errno;
        free(temporary);
        return dp_fail_errno(err, saved, "cannot create %s", path);
    }
    dp_port_open_fd(port, fd, path, direction);
    struct fd_port *p = (*port)->self;
    p->temporary = temporary;
    p->file = !special;
    return DP_OK;
}

int dp_output_open(struct dp_output *output, const char *path, bool private, struct dp_err *err)
{
    *output = (struct dp_output){NULL, NULL};
    int rc = dp_port_open_file(&output->port, path, DP_OUT, err);
    if (rc != DP_OK)
        return rc;
    const struct fd_port *p = output->port->self;
    int fd = fcntl(p->fd, F_DUPFD_CLOEXEC, 0);
    output->stream = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (output->stream == NULL || (private && p->file && fchmod(fd, 0600) != 0)) {
        rc = dp_fail_errno(err, errno, "cannot create %s", path);
        if (fd >= 0 && output->stream == NULL)
            close(fd);
        return dp_output_close(output, rc, err);
    }
    return DP_OK;
}

int dp_output_close(struct dp_output *output, int rc, struct dp_err *err)
{
    if (output->stream != NULL && (ferror(output->stream) | fclose(output->stream)) != 0 && rc == DP_OK)
        rc = dp_fail_errno(err, errno, "cannot write %s", ((struct fd_port *)output->port->self)->name);
    if (output->port != NULL && rc == DP_OK)
        rc = dp_port_commit(output->port, err);
    dp_port_close(output->port);
    *output = (struct dp_output){NULL, NULL};
    return rc;
}
