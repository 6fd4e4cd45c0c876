#include "port/port.h"

#include "base/mem.h"
#include "base/watch.h"

void dp_port_wrap(struct dp_port **port, const struct dp_port_ops *ops, void *self, enum dp_exposure exposure)
{
    *port = dp_new(1, sizeof **port);
    **port = (struct dp_port){.ops = ops, .self = self, .exposure = exposure};
}

void dp_port_watch(struct dp_port *in, struct dp_port *out)
{
    dp_watch_free(in->watch);
    in->watch = NULL;
    in->polls = false;
    in->watched = out != NULL && out->ops->unread != NULL ? out : NULL;
}

bool dp_port_unread(const struct dp_port *port)
{
    return port->ops->unread != NULL && port->ops->unread(port->self);
}

void dp_port_cancel(struct dp_port *port, volatile sig_atomic_t *flag)
{
    port->cancel = flag;
}

void dp_port_limit(struct dp_port *port, double seconds)
{
    port->limit = seconds;
}

int dp_port_interrupted(const struct dp_port *port, struct dp_err *err)
{
    return port->cancel != NULL && *port->cancel ? dp_fail(err, DP_E_RUN, "interrupted") : DP_OK;
}

int dp_port_wait(struct dp_port *port, const char *name, struct pollfd *items, nfds_t count, struct dp_err *err)
{
    struct dp_port *out = port->watched;
    nfds_t all = count;
    if (out != NULL)
        items[all++] = out->ops->item(out->self);
    for (;;) {
        int rc = dp_port_interrupted(port, err);
        if (rc != DP_OK)
            return rc;
        int ready = poll(items, all, port->limit > 0 ? (int)(1000 * port->limit) : -1);
        if (ready < 0 && errno != EINTR)
            return dp_fail_errno(err, errno, "cannot wait for %s", name);
        if (ready < 0)
            continue;
        if (ready == 0)
            return dp_fail(err, DP_E_RUN, "%s gave no answer within %g s", name, port->limit);
        for (nfds_t i = 0; i < count; i++)
            if (items[i].revents != 0)
                return 1;
        if (out->ops->unread(out->self))
            return DP_PORT_UNREAD;
    }
}

bool dp_port_may_wait(struct dp_port *port)
{
    struct dp_port *out = port->watched;
    if (port->limit > 0)
        return false;
    if (out == NULL)
        return true;
    if (port->watch == NULL && !port->polls) {
        struct pollfd item = out->ops->item(out->self);
        if (item.fd < 0) /* it always has a reader */
            return true;
        /* A watch only detects that the reader is gone; a descriptor with other events needs poll. */
        port->watch = item.events == 0 ? dp_watch_new(item.fd) : NULL;
        port->polls = port->watch == NULL;
    }
    return port->watch != NULL && dp_watch_begin(port->watch);
}

void dp_port_waited(struct dp_port *port)
{
    if (port->watch != NULL)
        dp_watch_end(port->watch);
}

int dp_port_read(struct dp_port *port, struct dp_frame *frame, struct dp_err *err)
{
    return port->ops->read(port, frame, err);
}

int dp_port_write(struct dp_port *port, const struct dp_frame *frame, struct dp_err *err)
{
    return port->ops->write(port, frame, err);
}

int dp_port_flush(struct dp_port *port, struct dp_err *err)
{
    return port->ops->flush != NULL ? port->ops->flush(port, err) : DP_OK;
}

int dp_port_commit(struct dp_port *port, struct dp_err *err)
{
    return port->ops->commit(port, err);
}

static void free_port(struct dp_port *port, bool abandon)
{
    if (port == NULL)
        return;
    dp_watch_free(port->watch);
    port->ops->close(port, abandon);
    free(port);
}

void dp_port_close(struct dp_port *port)
{
    free_port(port, false);
}

void dp_port_abandon(struct dp_port *port)
{
    free_port(port, true);
}

void dp_port_expect(struct dp_port *port, const struct dp_frame *hello)
{
    if (port->ops->expect != NULL)
        port->ops->expect(port, hello);
}

enum dp_exposure dp_port_exposure(const struct dp_port *port)
{
    return port->exposure;
}

int dp_port_admits(enum dp_exposure exposure, enum dp_label label, bool allowed, struct dp_err *err)
{
    if (label == DP_LABEL_RELEASED || exposure == DP_EXPOSED_NO || (exposure == DP_EXPOSED_TERMINAL && allowed))
        return DP_OK;
    if (exposure == DP_EXPOSED_TERMINAL)
        return dp_fail(err, DP_E_UNSAFE, "will not write a %s frame to a terminal (--allow-private-output overrides)",
                       dp_label_name(label));
    return dp_fail(err, DP_E_UNSAFE, "will not write a %s frame in plain text to a network: leave out --insecure-plaintext",
                   dp_label_name(label));
}

bool dp_port_stored(const struct dp_port *port)
{
    return port->stored;
}
