/* Ports on ZeroMQ PUSH and PULL sockets, one message per frame. ZeroMQ has no end of file: the end frame is the end. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include "base/mem.h"
#include "port/port.h"
#include "wire/codec.h"

#define LINGER_MS 10000 /* how long what was written may wait for a reader that is not there */

struct zmq_port {
    void *context, *socket;
    char *name;
    msgpack_sbuffer out;
};

static void zmq_port_close(void *self)
{
    struct zmq_port *p = self;
    if (p->socket != NULL)
        zmq_close(p->socket);
    if (p->context != NULL)
        zmq_ctx_term(p->context);
    free(p->name);
    msgpack_sbuffer_destroy(&p->out);
    free(p);
}

static int zmq_port_read(void *self, struct dp_frame *frame, struct dp_err *err)
{
    struct zmq_port *p = self;
    zmq_msg_t message;
    zmq_msg_init(&message);
    int rc;
    size_t length = 0;
    if (zmq_msg_recv(&message, p->socket, 0) < 0) {
        rc = dp_fail(err, DP_E_RUN, "cannot read %s: %s", p->name, zmq_strerror(errno));
    } else {
        size_t size = zmq_msg_size(&message);
        rc = dp_wire_scan(zmq_msg_data(&message), size, &length, err);
        if (rc == 0 || (rc == 1 && length != size))
            rc = dp_fail(err, DP_E_RUN, "a message on %s is not one frame", p->name);
        if (rc == 1)
            rc = dp_wire_decode(frame, zmq_msg_data(&message), length, err);
    }
    zmq_msg_close(&message);
    return rc < 0 ? rc : 1;
}

static int zmq_port_write(void *self, const struct dp_frame *frame, struct dp_err *err)
{
    struct zmq_port *p = self;
    msgpack_sbuffer_clear(&p->out);
    int rc = dp_wire_encode(&p->out, frame, err);
    if (rc == DP_OK && zmq_send(p->socket, p->out.data, p->out.size, 0) < 0)
        rc = dp_fail(err, DP_E_RUN, "cannot write %s: %s", p->name, zmq_strerror(errno));
    return rc;
}

static int zmq_port_commit(void *self, struct dp_err *err)
{
    (void)self;
    (void)err;
    return DP_OK;
}

static const struct dp_port_ops zmq_ops = {zmq_port_read, zmq_port_write, zmq_port_commit, zmq_port_close};

/* Without keys and allow-lists a frame may not leave this machine: a numeric loopback address, or localhost. */
static bool stays_here(const char *spec)
{
    if (strncmp(spec, "ipc://", 6) == 0 || strncmp(spec, "tcp://localhost:", 16) == 0 ||
        strncmp(spec, "tcp://[::1]:", 12) == 0)
        return true;
    if (strncmp(spec, "tcp://127.", 10) != 0)
        return false;
    return spec[6 + strspn(spec + 6, "0123456789.")] == ':';
}

int dp_port_open_zmq(struct dp_port **port, const char *spec, enum dp_direction direction, struct dp_err *err)
{
    if (strncmp(spec, "ipc://", 6) != 0 && strncmp(spec, "tcp://", 6) != 0)
        return dp_fail(err, DP_E_USAGE, "%s: a port is -, a file, ipc://PATH or tcp://127.0.0.1:PORT", spec);
    if (!stays_here(spec))
        return dp_fail(err, DP_E_UNSAFE, "%s: not a loopback address; frames do not leave this machine", spec);
    struct zmq_port *p;
    int rc = dp_alloc(&p, 1, sizeof *p, err);
    if (rc != DP_OK)
        return rc;
    msgpack_sbuffer_init(&p->out);
    p->name = strdup(spec);
    p->context = zmq_ctx_new();
    if (p->context != NULL)
        p->socket = zmq_socket(p->context, direction == DP_IN ? ZMQ_PULL : ZMQ_PUSH);
    if (p->name == NULL || p->socket == NULL) {
        rc = dp_fail(err, DP_E_RUN, "cannot open %s: %s", spec, zmq_strerror(errno));
        zmq_port_close(p);
        return rc;
    }
    int linger = direction == DP_IN ? 0 : LINGER_MS;
    int64_t largest = (int64_t)DP_LIMIT_FRAME;
    int ipv6 = strstr(spec, "[::1]") != NULL;
    zmq_setsockopt(p->socket, ZMQ_LINGER, &linger, sizeof linger);
    zmq_setsockopt(p->socket, ZMQ_MAXMSGSIZE, &largest, sizeof largest);
    zmq_setsockopt(p->socket, ZMQ_IPV6, &ipv6, sizeof ipv6);
    if ((direction == DP_IN ? zmq_bind(p->socket, spec) : zmq_connect(p->socket, spec)) != 0) {
        rc = dp_fail(err, DP_E_RUN, "cannot open %s: %s", spec, zmq_strerror(errno));
        zmq_port_close(p);
        return rc;
    }
    return dp_port_wrap(port, &zmq_ops, p, DP_EXPOSED_SOCKET, err);
}
