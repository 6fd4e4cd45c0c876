/* A port carries frames: a pipe or standard stream, a file, a ZeroMQ socket, or memory. A stage never knows which. */
#ifndef DP_PORT_PORT_H
#define DP_PORT_PORT_H

#include <stdbool.h>

#include "base/err.h"
#include "wire/frame.h"

enum dp_direction { DP_IN, DP_OUT };

/* Who else might read what is written here. */
enum dp_exposure { DP_EXPOSED_NO, DP_EXPOSED_TERMINAL, DP_EXPOSED_SOCKET };

struct dp_port;

/* spec: "-" (standard input or output), "ipc://PATH" or "tcp://127.0.0.1:PORT" (ZeroMQ PULL, which binds, for input;
   PUSH, which connects, for output), or a file. An output file is written beside its name and takes it in
   dp_port_commit. Anything but a loopback address is refused. */
int dp_port_open(struct dp_port **port, const char *spec, enum dp_direction direction, struct dp_err *err);

/* Wraps a file descriptor, which the port then owns. name is for messages. */
int dp_port_open_fd(struct dp_port **port, int fd, const char *name, enum dp_direction direction, struct dp_err *err);

/* A queue of frames in memory that is written and read by one thread. Reading it empty gives end of input. */
int dp_port_open_memory(struct dp_port **port, struct dp_err *err);

/* The next frame: 1; 0 at end of input between frames. Truncated or corrupt input is an error. */
int dp_port_read(struct dp_port *port, struct dp_frame *frame, struct dp_err *err);

int dp_port_write(struct dp_port *port, const struct dp_frame *frame, struct dp_err *err);

/* All is written: closes the descriptor and checks that, and gives an output file its name. */
int dp_port_commit(struct dp_port *port, struct dp_err *err);

/* Frees the port. An output file that was not committed is removed. port may be NULL. */
void dp_port_close(struct dp_port *port);

enum dp_exposure dp_port_exposure(const struct dp_port *port);

/* Private to lib/port: one implementation. */
struct dp_port_ops {
    int (*read)(void *self, struct dp_frame *frame, struct dp_err *err);
    int (*write)(void *self, const struct dp_frame *frame, struct dp_err *err);
    int (*commit)(void *self, struct dp_err *err);
    void (*close)(void *self);
};

struct dp_port {
    const struct dp_port_ops *ops;
    void *self;
    enum dp_exposure exposure;
};

int dp_port_open_file(struct dp_port **port, const char *path, enum dp_direction direction, struct dp_err *err);
int dp_port_open_zmq(struct dp_port **port, const char *spec, enum dp_direction direction, struct dp_err *err);
int dp_port_wrap(struct dp_port **port, const struct dp_port_ops *ops, void *self, enum dp_exposure exposure,
                 struct dp_err *err);

#endif
