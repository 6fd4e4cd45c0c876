/* Ports on ZeroMQ PUSH and PULL sockets, one message per frame. ZeroMQ has no end of file: the end frame is the end, and
   the socket's monitor tells of a process at the other end that goes before it. On one machine the kernel closes the
   connection of a process that dies, so no heartbeat is needed, which a process that is only stopped would miss. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zmq.h>

#include "base/mem.h"
#include "port/port.h"
#include "wire/codec.h"

#define LINGER_MS 10000 /* how long what was written may wait for a reader that has not come yet */
#define ABANDON_MS 1000 /* the same for one that is there, when the run is over anyway */
#define STEP_MS 100     /* waits with an end are counted in steps, which a signal may cut short */
#define MONITOR "inproc://monitor"

struct zmq_port {
    void *context, *socket, *monitor;
    int socket_fd, monitor_fd; /* readable when there may be news */
    char *name;
    msgpack_sbuffer out;
    unsigned came, peers;  /* connections that there have been, and are */
    bool failed;           /* the next one to end never was one */
    bool writes, given_up; /* a writer; its reader has not come in time */
};

#define FAILURES (ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL | ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH)
#define EVENTS (ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_DISCONNECTED | FAILURES)

/* Counts who comes and goes. */
static void note_peers(struct zmq_port *p)
{
    zmq_msg_t message;
    for (;;) {
        uint16_t event = 0;
        zmq_msg_init(&message);
        int size = zmq_msg_recv(&message, p->monitor, ZMQ_DONTWAIT);
        if (size >= (int)sizeof event)
            memcpy(&event, zmq_msg_data(&message), sizeof event);
        bool more = size >= 0 && zmq_msg_more(&message);
        zmq_msg_close(&message);
        if (size < 0)
            return;
        if (more) { /* the second part names the endpoint */
            zmq_msg_init(&message);
            zmq_msg_recv(&message, p->monitor, ZMQ_DONTWAIT);
            zmq_msg_close(&message);
        }
        if (event == ZMQ_EVENT_HANDSHAKE_SUCCEEDED) {
            p->came++;
            p->peers++;
        } else if ((event & FAILURES) != 0) {
            p->failed = true;
        } else if (event == ZMQ_EVENT_DISCONNECTED) {
            p->peers -= !p->failed && p->peers > 0;
            p->failed = false;
        }
    }
}

/* All that there were are gone. */
static bool zmq_port_alone(void *self)
{
    struct zmq_port *p = self;
    note_peers(p);
    return p->given_up || (p->came > 0 && p->peers == 0);
}

/* The descriptor becomes readable only by what comes after a look at the monitor. It is always writable. */
static struct pollfd zmq_port_item(void *self)
{
    const struct zmq_port *p = self;
    return (struct pollfd){p->monitor_fd, zmq_port_alone(self) ? POLLOUT : POLLIN, 0};
}

/* The connection has taken all that was written: the queue holds one frame, and has room. */
static bool taken(const struct zmq_port *p)
{
    int events = 0;
    size_t size = sizeof events;
    return zmq_getsockopt(p->socket, ZMQ_EVENTS, &events, &size) == 0 && (events & ZMQ_POLLOUT) != 0;
}

/* Waits for news, after a look at the socket and its monitor. */
static void wait_step(const struct zmq_port *p)
{
    struct pollfd items[2] = {{p->socket_fd, POLLIN, 0}, {p->monitor_fd, POLLIN, 0}};
    poll(items, 2, STEP_MS);
}

/* Waits until what was written has been taken, and tells how long ZeroMQ may then go on with it. It cannot wait in our place:
   a reader that dies meanwhile does not shorten its wait. */
static int linger(struct zmq_port *p, bool abandon)
{
    if (!p->writes || zmq_port_alone(p) || (abandon && p->peers == 0))
        return 0;
    int patience = abandon ? ABANDON_MS : LINGER_MS;
    for (int left = patience / STEP_MS; left > 0 && !taken(p) && !zmq_port_alone(p); left--)
        wait_step(p);
    return taken(p) ? patience : 0;
}

static void zmq_port_close(void *self, bool abandon)
{
    struct zmq_port *p = self;
    if (p->monitor != NULL) {
        int rest = linger(p, abandon);
        zmq_socket_monitor(p->socket, NULL, 0);
        zmq_close(p->monitor);
        zmq_setsockopt(p->socket, ZMQ_LINGER, &rest, sizeof rest);
    }
    if (p->socket != NULL)
        zmq_close(p->socket);
    if (p->context != NULL)
        while (zmq_ctx_term(p->context) != 0 && errno == EINTR)
            ;
    free(p->name);
    msgpack_sbuffer_destroy(&p->out);
    free(p);
}

/* The next message: 1, 0 when all writers are gone and it has all been read, DP_PORT_UNREAD, or an error. */
static int receive(struct dp_port *port, zmq_msg_t *message, struct dp_err *err)
{
    struct zmq_port *p = port->self;
    for (bool last = false;;) {
        /* Nobody may have been asleep when the watched reader went: look before each wait. */
        if (zmq_msg_recv(message, p->socket, ZMQ_DONTWAIT) >= 0)
            return 1;
        if (errno != EAGAIN && errno != EINTR)
            return dp_fail(err, DP_E_RUN, "cannot read %s: %s", p->name, zmq_strerror(errno));
        if (last)
            return 0;
        last = zmq_port_alone(p); /* what came before that is still to be read */
        if (last)
            continue;
        struct pollfd items[3] = {{p->socket_fd, POLLIN, 0}, {p->monitor_fd, POLLIN, 0}};
        int rc = dp_port_wait(port, p->name, items, 2, err);
        if (rc != 1)
            return rc;
    }
}

static int zmq_port_read(struct dp_port *port, struct dp_frame *frame, struct dp_err *err)
{
    struct zmq_port *p = port->self;
    zmq_msg_t message;
    zmq_msg_init(&message);
    size_t length = 0;
    struct dp_scan scan = {0};
    int rc = receive(port, &message, err);
    if (rc == 1) {
        size_t size = zmq_msg_size(&message);
        rc = dp_wire_scan(&scan, zmq_msg_data(&message), size, &length, err);
        if (rc == 0 || (rc == 1 && length != size))
            rc = dp_fail(err, DP_E_RUN, "a message on %s is not one frame", p->name);
        if (rc == 1)
            rc = dp_wire_decode(frame, zmq_msg_data(&message), length, err);
        rc = rc < 0 ? rc : 1;
    }
    zmq_msg_close(&message);
    return rc;
}

/* What is written to a reader that is gone is lost, which the next read tells. */
static int zmq_port_write(struct dp_port *port, const struct dp_frame *frame, struct dp_err *err)
{
    struct zmq_port *p = port->self;
    msgpack_sbuffer_clear(&p->out);
    int rc = dp_wire_encode(&p->out, frame, err);
    for (int left = LINGER_MS / STEP_MS; rc == DP_OK; left--) {
        if (zmq_send(p->socket, p->out.data, p->out.size, ZMQ_DONTWAIT) >= 0)
            return DP_OK;
        if (errno != EAGAIN && errno != EINTR)
            return dp_fail(err, DP_E_RUN, "cannot write %s: %s", p->name, zmq_strerror(errno));
        if (zmq_port_alone(p))
            return DP_OK;
        p->given_up = p->came == 0 && left <= 0;
        if (p->given_up)
            return dp_fail(err, DP_E_RUN, "nobody has come to read %s", p->name);
        wait_step(p);
        rc = dp_port_interrupted(port, err);
    }
    return rc;
}

static int zmq_port_commit(struct dp_port *port, struct dp_err *err)
{
    (void)port;
    (void)err;
    return DP_OK;
}

static const struct dp_port_ops zmq_ops = {zmq_port_read,  zmq_port_write, zmq_port_commit,
                                           zmq_port_close, zmq_port_alone, zmq_port_item};

/* Without keys and allow-lists a frame may not leave this machine: a numeric loopback address, or localhost. */
static bool stays_here(const char *spec)
{
    if (strncmp(spec, "ipc://", 6) == 0 || strncmp(spec, "tcp://localhost:", 16) == 0 || strncmp(spec, "tcp://[::1]:", 12) == 0)
        return true;
    if (strncmp(spec, "tcp://127.", 10) != 0)
        return false;
    return spec[6 + strspn(spec + 6, "0123456789.")] == ':';
}

/* A socket that hears who comes to p->socket and who goes. */
static int open_monitor(struct zmq_port *p)
{
    size_t size = sizeof(int);
    if (zmq_socket_monitor(p->socket, MONITOR, EVENTS) != 0)
        return -1;
    p->monitor = zmq_socket(p->context, ZMQ_PAIR);
    if (p->monitor == NULL || zmq_connect(p->monitor, MONITOR) != 0)
        return -1;
    return zmq_getsockopt(p->socket, ZMQ_FD, &p->socket_fd, &size) != 0 ||
                   zmq_getsockopt(p->monitor, ZMQ_FD, &p->monitor_fd, &size) != 0
               ? -1
               : 0;
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
        zmq_port_close(p, true);
        return rc;
    }
    p->writes = direction == DP_OUT;
    int64_t largest = (int64_t)DP_LIMIT_FRAME;
    int one = 1;
    int ipv6 = strstr(spec, "[::1]") != NULL;
    zmq_setsockopt(p->socket, ZMQ_MAXMSGSIZE, &largest, sizeof largest);
    zmq_setsockopt(p->socket, ZMQ_SNDHWM, &one, sizeof one);
    zmq_setsockopt(p->socket, ZMQ_IPV6, &ipv6, sizeof ipv6);
    if (open_monitor(p) != 0 || (direction == DP_IN ? zmq_bind(p->socket, spec) : zmq_connect(p->socket, spec)) != 0) {
        rc = dp_fail(err, DP_E_RUN, "cannot open %s: %s", spec, zmq_strerror(errno));
        zmq_port_close(p, true);
        return rc;
    }
    return dp_port_wrap(port, &zmq_ops, p, DP_EXPOSED_SOCKET, err);
}
