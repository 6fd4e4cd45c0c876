/* ZeroMQ addresses in the form that options take. Private to lib/port. */
#pragma once

#include "base/err.h"

struct dp_endpoint {
    char *address;    /* in the form that libzmq takes */
    const char *path; /* ipc: the path, within address; NULL for tcp */
    bool bind;        /* bind; otherwise connect */
    bool here;        /* ipc, or a loopback address */
    bool ipv6;
};

/* spec: tcp://HOST:PORT or ipc://PATH, after @ (bind) or > (connect). Without a prefix it binds if binds_by_default. HOST is a
 * name, a number, [an IPv6 number], or * to bind all. DP_E_USAGE with a sentence for anything else. */
int dp_endpoint_parse(struct dp_endpoint *endpoint, const char *spec, bool binds_by_default, struct dp_err *err);
void dp_endpoint_free(struct dp_endpoint *endpoint);

/* Only ipc: DP_E_UNSAFE unless the path's directory belongs to the user and has mode 0700. */
int dp_endpoint_check(const struct dp_endpoint *endpoint, struct dp_err *err);

/* Only ipc; call it before the path is bound. If two processes want the same path, the second one waits here and then finds the
 * socket of the first. If *hold is not negative, close it after the path is bound, or if it will not be bound. DP_E_RUN: a
 * process listens on the path. */
int dp_endpoint_claim(const struct dp_endpoint *endpoint, int *hold, struct dp_err *err);

/* Only ipc; call it after the socket is closed. Removes the socket's file, unless another process listens there by now. */
void dp_endpoint_release(const struct dp_endpoint *endpoint);
