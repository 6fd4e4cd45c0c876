#include "port/port.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

int dp_port_wrap(struct dp_port **port, const struct dp_port_ops *ops, void *self, enum dp_exposure exposure,
                 struct dp_err *err)
{
    int rc = dp_alloc(port, 1, sizeof **port, err);
    if (rc != DP_OK) {
        ops->close(self);
        return rc;
    }
    **port = (struct dp_port){.ops = ops, .self = self, .exposure = exposure};
    return DP_OK;
}

int dp_port_open(struct dp_port **port, const char *spec, enum dp_direction direction, struct dp_err *err)
{
    if (strcmp(spec, "-") == 0) {
        int fd = dup(direction == DP_IN ? STDIN_FILENO : STDOUT_FILENO);
        const char *name = direction == DP_IN ? "standard input" : "standard output";
        if (fd < 0)
            return dp_fail_errno(err, errno, "cannot use %s", name);
        return dp_port_open_fd(port, fd, name, direction, err);
    }
    if (strstr(spec, "://") != NULL)
        return dp_port_open_zmq(port, spec, direction, err);
    return dp_port_open_file(port, spec, direction, err);
}

int dp_port_read(struct dp_port *port, struct dp_frame *frame, struct dp_err *err)
{
    return port->ops->read(port->self, frame, err);
}

int dp_port_write(struct dp_port *port, const struct dp_frame *frame, struct dp_err *err)
{
    return port->ops->write(port->self, frame, err);
}

int dp_port_commit(struct dp_port *port, struct dp_err *err)
{
    return port->ops->commit(port->self, err);
}

void dp_port_close(struct dp_port *port)
{
    if (port == NULL)
        return;
    port->ops->close(port->self);
    free(port);
}

enum dp_exposure dp_port_exposure(const struct dp_port *port)
{
    return port->exposure;
}
