/* libzmq, which a process loads when it opens its first link or reads its first key. Programs linked with it start twice as
 * slowly, and most stages only have pipes. Private to lib/port. */
#pragma once

#include <zmq.h>

#include "base/err.h"

/* clang-format off */
#define DP_ZMQ(X) \
    X(bind) X(close) X(connect) X(ctx_new) X(ctx_shutdown) X(ctx_term) X(curve_keypair) X(disconnect) X(getsockopt) X(has) \
    X(msg_close) X(msg_data) X(msg_gets) X(msg_init) X(msg_init_data) X(msg_more) X(msg_recv) X(msg_send) X(msg_size) X(recv) X(send) \
    X(setsockopt) X(socket) X(socket_monitor) X(strerror) X(z85_decode) X(z85_encode)
/* clang-format on */

/* dp_zmq.bind is zmq_bind, and so on, once dp_zmq_load() has succeeded; zmq_errno() is errno. */
struct dp_zmq {
#define DP_ZMQ_FUNCTION(name) __typeof__(&zmq_##name) name;
    DP_ZMQ(DP_ZMQ_FUNCTION)
#undef DP_ZMQ_FUNCTION
};
extern struct dp_zmq dp_zmq;

/* Loads libzmq unless it is loaded. DP_E_RUN: it is not installed. */
int dp_zmq_load(struct dp_err *err);
