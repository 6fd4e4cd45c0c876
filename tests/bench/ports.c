/* Frames of 1 MB from one process to another, alternately through a port and as messages of a bare PUSH and PULL. */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

#include "bench.h"

#include "base/clock.h"
#include "port/keys.h"
#include "port/port.h"

enum { NUMBERS = 131072, FRAMES = 600, ROUNDS = 5 };

struct way {
    const char *name, *address;
    bool keys;
};

static struct dp_key_pair gate, site;
static char gate_keys[64], site_keys[64];

static void fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    _exit(1);
}

static void *bare_socket(void *context, const struct way *way, bool reads)
{
    void *socket = zmq_socket(context, reads ? ZMQ_PULL : ZMQ_PUSH);
    int yes = 1;
    if (way->keys) {
        const struct dp_key_pair *own = reads ? &gate : &site;
        zmq_setsockopt(socket, ZMQ_CURVE_SECRETKEY, own->secret, strlen(own->secret));
        zmq_setsockopt(socket, ZMQ_CURVE_PUBLICKEY, own->public, strlen(own->public));
        if (reads)
            zmq_setsockopt(socket, ZMQ_CURVE_SERVER, &yes, sizeof yes);
        else
            zmq_setsockopt(socket, ZMQ_CURVE_SERVERKEY, gate.public, strlen(gate.public));
    }
    if ((reads ? zmq_bind(socket, way->address) : zmq_connect(socket, way->address)) != 0)
        fail(zmq_strerror(zmq_errno()));
    return socket;
}

static void bare_write(const struct way *way)
{
    void *context = zmq_ctx_new(), *socket = bare_socket(context, way, false);
    char *bytes = calloc(NUMBERS, sizeof(double));
    for (int i = 0; i < FRAMES; i++)
        if (zmq_send(socket, bytes, NUMBERS * sizeof(double), 0) < 0)
            fail("send");
    zmq_close(socket);
    zmq_ctx_term(context);
    free(bytes);
}

static double bare_read(const struct way *way)
{
    void *context = zmq_ctx_new(), *socket = bare_socket(context, way, true);
    double start = 0;
    zmq_msg_t message;
    zmq_msg_init(&message);
    for (int i = 0; i < FRAMES; i++) {
        if (zmq_msg_recv(&message, socket, 0) < 0)
            fail("recv");
        start = i == 0 ? dp_clock_now() : start;
    }
    double took = dp_clock_now() - start;
    zmq_msg_close(&message);
    zmq_close(socket);
    zmq_ctx_term(context);
    return took;
}

static struct dp_port *open_port(const struct way *way, enum dp_direction direction)
{
    struct dp_port *port;
    struct dp_err err;
    struct dp_port_setting setting = {
        .security = {.keys = direction == DP_IN ? gate_keys : site_keys, .plaintext = !way->keys}};
    if (dp_port_open_with(&port, way->address, direction, &setting, &err) != DP_OK)
        fail(err.message);
    return port;
}

static void port_write(const struct way *way)
{
    struct dp_port *out = open_port(way, DP_OUT);
    struct dp_frame *f;
    struct dp_err err;
    double *model;
    f = dp_frame_new();
    dp_frame_reset(f, DP_KIND_HELLO);
    dp_frame_set_int(f, DP_F_FORMAT, DP_FRAME_FORMAT);
    if (dp_port_write(out, f, &err) != DP_OK)
        fail(err.message);
    dp_frame_reset(f, DP_KIND_LAP);
    f->label = DP_LABEL_RELEASED;
    if (dp_frame_make_array(f, DP_F_MODEL, DP_F64, 1, NUMBERS, &model, &err) != DP_OK)
        fail(err.message);
    memset(model, 0, NUMBERS * sizeof *model);
    for (f->lap = 1; f->lap <= FRAMES; f->lap++)
        if (dp_port_write(out, f, &err) != DP_OK)
            fail(err.message);
    dp_port_close(out);
    dp_frame_free(f);
}

static double port_read(const struct way *way)
{
    struct dp_port *in = open_port(way, DP_IN);
    struct dp_frame *f;
    struct dp_err err;
    double start = 0;
    f = dp_frame_new();
    for (int i = 0; i < FRAMES + 1; i++) { /* the first one is the hello frame */
        if (dp_port_read(in, f, &err) != 1)
            fail(err.message);
        start = i == 1 ? dp_clock_now() : start;
    }
    double took = dp_clock_now() - start;
    dp_port_close(in);
    dp_frame_free(f);
    return took;
}

static double run(const struct way *way, bool port)
{
    pid_t pid = fork();
    if (pid == 0) {
        port ? port_write(way) : bare_write(way);
        _exit(0);
    }
    double took = port ? port_read(way) : bare_read(way);
    waitpid(pid, NULL, 0);
    return took;
}

int main(void)
{
    char directory[] = "/tmp/dpline-bench-XXXXXX", ipc[64], command[64];
    struct dp_err err;
    if (mkdtemp(directory) == NULL)
        return 1;
    snprintf(ipc, sizeof ipc, "ipc://%s/s", directory);
    snprintf(gate_keys, sizeof gate_keys, "%s/gate", directory);
    snprintf(site_keys, sizeof site_keys, "%s/site", directory);
    if (dp_keys_make(gate_keys, &gate, &err) != DP_OK || dp_keys_make(site_keys, &site, &err) != DP_OK ||
        dp_keys_trust(gate_keys, "site", site.public, &err) != DP_OK ||
        dp_keys_trust(site_keys, "gate", gate.public, &err) != DP_OK)
        fail(err.message);
    const struct way way[] = {
        {"ipc", ipc, false}, {"tcp, plain", "tcp://127.0.0.1:45671", false}, {"tcp, keys", "tcp://127.0.0.1:45672", true}};
    for (size_t i = 0; i < sizeof way / sizeof way[0]; i++) {
        double best[2] = {1e9, 1e9};
        for (int k = 0; k < 2 * ROUNDS; k++) {
            double took = run(&way[i], k % 2);
            best[k % 2] = took < best[k % 2] ? took : best[k % 2];
        }
        char what[80];
        snprintf(what, sizeof what, "%s, a port", way[i].name);
        bench_line(what, "frames/s", (FRAMES - 1) / best[1]);
        snprintf(what, sizeof what, "%s, bare PUSH and PULL", way[i].name);
        bench_line(what, "frames/s", (FRAMES - 1) / best[0]);
        snprintf(what, sizeof what, "%s, a port to bare", way[i].name);
        bench_line(what, "ratio", best[0] / best[1]);
    }
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return system(command);
}
