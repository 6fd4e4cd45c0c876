/* A port carries frames: a pipe or standard stream, a file, or a ZeroMQ socket. A stage never knows which. */
#pragma once

#include <poll.h>
#include <signal.h>

#include "base/err.h"
#include "port/link.h"
#include "wire/frame.h"

enum dp_direction { DP_IN, DP_OUT };

/* Other readers that the output of a port may have. */
enum dp_exposure { DP_EXPOSED_NO, DP_EXPOSED_TERMINAL, DP_EXPOSED_SOCKET };

struct dp_port;

/* Settings of a ZeroMQ port; all zero is the default. */
struct dp_port_setting {
    struct dp_security security;
    double patience;  /* seconds to wait for the other end to connect and, over a network, to connect again; 0: 10, over a
                       * network 30 */
    dp_link_log *log; /* receiver of sentences about dropped messages, or NULL */
    void *log_self;
};

/* spec: "-" (standard input or output), "ipc://PATH" or "tcp://HOST:PORT" (ZeroMQ: input binds, output connects, unless @
   or > precedes it), or a file. An output file is written under a temporary name and gets its own in dp_port_commit. setting
   may be NULL; it is copied, except for its texts. Errors of links: dp_link_open. */
int dp_port_open_with(struct dp_port **port, const char *spec, enum dp_direction direction,
                      const struct dp_port_setting *setting, struct dp_err *err);
int dp_port_open(struct dp_port **port, const char *spec, enum dp_direction direction, struct dp_err *err);

/* Wraps a file descriptor, which the port then owns. name is for messages. */
void dp_port_open_fd(struct dp_port **port, int fd, const char *name, enum dp_direction direction);

/* Result of dp_port_read, in addition to 0, 1 and errors. */
enum { DP_PORT_UNREAD = 2 };

/* The next frame: 1; 0 at end of input between frames, over ZeroMQ when the writer is gone; DP_PORT_UNREAD when there is no
   input yet and the reader of the watched output is gone. Truncated or corrupt input is an error. */
int dp_port_read(struct dp_port *port, struct dp_frame *frame, struct dp_err *err);

/* While `in` waits for input, it also checks whether `out` still has a reader. Otherwise the stages upstream would not notice a
 * process that dies while all wait for the next frame. out = NULL ends the watch; out must outlive the watch. Output that is
 * neither a pipe nor a socket always has a reader. */
void dp_port_watch(struct dp_port *in, struct dp_port *out);

bool dp_port_unread(const struct dp_port *port);

/* Reads and writes that wait fail once *flag is set. A signal handler may set it; the signal has to be sent repeatedly, because
 * it may arrive just before the wait. Without a flag, signals do not interrupt a wait. */
void dp_port_cancel(struct dp_port *port, volatile sig_atomic_t *flag);

/* Sets a time limit for reads, and for writes to a descriptor that does not block. A signal restarts the time. */
void dp_port_limit(struct dp_port *port, double seconds);

/* Waits while the reader is slower. A ZeroMQ port keeps one frame for a reader that has not connected yet; the next write waits
 * for the reader until its patience is over, and then fails. */
int dp_port_write(struct dp_port *port, const struct dp_frame *frame, struct dp_err *err);

/* Waits until all frames are on their way to the reader; waits for the reader to connect as dp_port_write does. Not needed for
 * a port that is watched, or that is written or closed next. */
int dp_port_flush(struct dp_port *port, struct dp_err *err);

/* Ends the output: closes the descriptor, checks for errors, and gives an output file its name. */
int dp_port_commit(struct dp_port *port, struct dp_err *err);

/* Frees the port. An output file that was not committed is removed. A ZeroMQ port waits a while for a reader that has not
 * connected yet. port may be NULL. */
void dp_port_close(struct dp_port *port);

/* The same without that wait: only a reader that is connected gets the frames. */
void dp_port_abandon(struct dp_port *port);

/* Accepts only frames of the run of this hello frame: over ZeroMQ, frames of other runs are dropped. */
void dp_port_expect(struct dp_port *port, const struct dp_frame *hello);

/* An output file of text: written with stdio, and whole under its name or not there, as a file of frames is. A device or pipe of
 * that name is written in place; a symbolic link is replaced. private: only its owner may read it. */
struct dp_output {
    FILE *stream;
    struct dp_port *port;
};
int dp_output_open(struct dp_output *output, const char *path, bool private, struct dp_err *err);

/* Ends an output: if rc is DP_OK and all was written, the file gets its name; otherwise it disappears. Returns rc, or the
 * error. */
int dp_output_close(struct dp_output *output, int rc, struct dp_err *err);

enum dp_exposure dp_port_exposure(const struct dp_port *port);

/* DP_E_UNSAFE: a lap frame with that label may not be written to a port with that exposure. allowed: the user has allowed it
 * for a terminal. */
int dp_port_admits(enum dp_exposure exposure, enum dp_label label, bool allowed, struct dp_err *err);

/* Whether the port is a file on disk, whose writer may have ended long ago. */
bool dp_port_stored(const struct dp_port *port);

/* Private to lib/port: the functions of one implementation. unread and item may both be NULL: such output always has a
 * reader. */
struct dp_port_ops {
    int (*read)(struct dp_port *port, struct dp_frame *frame, struct dp_err *err);
    int (*write)(struct dp_port *port, const struct dp_frame *frame, struct dp_err *err);
    int (*commit)(struct dp_port *port, struct dp_err *err);
    void (*close)(struct dp_port *port, bool abandon); /* all but *port */
    bool (*unread)(void *self);                        /* whether the reader is gone */
    struct pollfd (*item)(void *self); /* what poll(2) waits for until that may have changed; ready if it has already */
    int (*flush)(struct dp_port *port, struct dp_err *err);             /* or NULL */
    void (*expect)(struct dp_port *port, const struct dp_frame *hello); /* or NULL */
};

struct dp_port {
    const struct dp_port_ops *ops;
    void *self;
    enum dp_exposure exposure;
    bool stored;
    struct dp_port *watched;
    struct dp_watch *watch; /* watch of its descriptor, for reads without poll; NULL: none yet */
    bool polls;             /* no watch is possible */
    volatile sig_atomic_t *cancel;
    double limit; /* seconds; 0: none */
};

/* Waits until one of items[0..count), or the descriptor that watches the output, is ready. The array needs room for count + 1
   items. name is for messages. Returns 1; DP_PORT_UNREAD if no item is ready and the output has no reader; or an error. */
int dp_port_wait(struct dp_port *port, const char *name, struct pollfd *items, nfds_t count, struct dp_err *err);

/* Whether a read may wait without dp_port_wait before it. If so, until dp_port_waited, a read that waits ends with EINTR when
   the watched output has no reader any more. */
bool dp_port_may_wait(struct dp_port *port);
void dp_port_waited(struct dp_port *port);

/* After EINTR: 0 to continue, or the error if the interrupt was meant for this port. */
int dp_port_interrupted(const struct dp_port *port, struct dp_err *err);

int dp_port_open_file(struct dp_port **port, const char *path, enum dp_direction direction, struct dp_err *err);
int dp_port_open_stream(struct dp_port **port, const char *spec, enum dp_direction direction,
                        const struct dp_port_setting *setting, struct dp_err *err);
void dp_port_wrap(struct dp_port **port, const struct dp_port_ops *ops, void *self, enum dp_exposure exposure);
