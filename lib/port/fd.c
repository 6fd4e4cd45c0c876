/* Ports on file descriptors and files. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "port/port.h"
#include "wire/codec.h"

#define CHUNK ((size_t)1 << 16)

struct fd_port {
    int fd;
    char *name;
    char *temporary; /* an output file until it is committed */
    char *in;        /* bytes in[start..end) have been read and not used */
    size_t start, end, capacity;
    msgpack_sbuffer out;
};

static void fd_close(void *self)
{
    struct fd_port *p = self;
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

/* Appends what one read gives. 1, or 0 at end of file. */
static int fill(struct fd_port *p, struct dp_err *err)
{
    if (p->start > 0) {
        memmove(p->in, p->in + p->start, p->end - p->start);
        p->end -= p->start;
        p->start = 0;
    }
    int rc = dp_grow(&p->in, &p->capacity, p->end + CHUNK, 1, err);
    if (rc != DP_OK)
        return rc;
    ssize_t got = read(p->fd, p->in + p->end, p->capacity - p->end);
    if (got < 0)
        return dp_fail_errno(err, errno, "cannot read %s", p->name);
    p->end += (size_t)got;
    return got > 0;
}

static int fd_read(void *self, struct dp_frame *frame, struct dp_err *err)
{
    struct fd_port *p = self;
    for (;;) {
        size_t length = 0;
        int rc = p->end > p->start ? dp_wire_scan(p->in + p->start, p->end - p->start, &length, err) : 0;
        if (rc < 0)
            return rc;
        if (rc == 1) {
            rc = dp_wire_decode(frame, p->in + p->start, length, err);
            p->start += length;
            return rc < 0 ? rc : 1;
        }
        rc = fill(p, err);
        if (rc < 0)
            return rc;
        if (rc == 0)
            return p->end > p->start ? dp_fail(err, DP_E_UPSTREAM, "%s ends inside a frame", p->name) : 0;
    }
}

static int fd_write(void *self, const struct dp_frame *frame, struct dp_err *err)
{
    struct fd_port *p = self;
    msgpack_sbuffer_clear(&p->out);
    int rc = dp_wire_encode(&p->out, frame, err);
    if (rc != DP_OK)
        return rc;
    for (size_t done = 0; done < p->out.size;) {
        ssize_t put = write(p->fd, p->out.data + done, p->out.size - done);
        if (put < 0)
            return dp_fail_errno(err, errno, "cannot write %s", p->name);
        done += (size_t)put;
    }
    return DP_OK;
}

static int fd_commit(void *self, struct dp_err *err)
{
    struct fd_port *p = self;
    int fd = p->fd;
    p->fd = -1;
    if (p->temporary != NULL && fsync(fd) != 0) {
        int saved = errno;
        close(fd);
        return dp_fail_errno(err, saved, "cannot write %s", p->name);
    }
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

static const struct dp_port_ops fd_ops = {fd_read, fd_write, fd_commit, fd_close};

int dp_port_open_fd(struct dp_port **port, int fd, const char *name, enum dp_direction direction, struct dp_err *err)
{
    struct fd_port *p;
    int rc = dp_alloc(&p, 1, sizeof *p, err);
    if (rc != DP_OK) {
        close(fd);
        return rc;
    }
    p->fd = fd;
    p->name = strdup(name);
    msgpack_sbuffer_init(&p->out);
    if (p->name == NULL) {
        fd_close(p);
        return dp_fail(err, DP_E_RUN, "out of memory");
    }
    bool terminal = direction == DP_OUT && isatty(fd);
    return dp_port_wrap(port, &fd_ops, p, terminal ? DP_EXPOSED_TERMINAL : DP_EXPOSED_NO, err);
}

int dp_port_open_file(struct dp_port **port, const char *path, enum dp_direction direction, struct dp_err *err)
{
    if (direction == DP_IN) {
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            return dp_fail_errno(err, errno, "cannot open %s", path);
        return dp_port_open_fd(port, fd, path, direction, err);
    }
    /* A device or pipe under that name is written in place. */
    struct stat st;
    bool special = stat(path, &st) == 0 && !S_ISREG(st.st_mode);
    char *temporary = NULL;
    int fd;
    if (special) {
        fd = open(path, O_WRONLY | O_CLOEXEC);
    } else {
        if (asprintf(&temporary, "%s.XXXXXX", path) < 0)
            return dp_fail(err, DP_E_RUN, "out of memory");
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
    int rc = dp_port_open_fd(port, fd, path, direction, err);
    if (rc != DP_OK) {
        if (temporary != NULL)
            unlink(temporary);
        free(temporary);
        return rc;
    }
    ((struct fd_port *)(*port)->self)->temporary = temporary;
    return DP_OK;
}
