/* Addresses of ZeroMQ as options have them. Private to lib/port. */
#ifndef DP_PORT_ENDPOINT_H
#define DP_PORT_ENDPOINT_H

#include <stdbool.h>

#include "base/err.h"

struct dp_endpoint {
    char *address;    /* as libzmq takes it */
    const char *path; /* of ipc, within address; NULL for tcp */
    bool bind;        /* or it connects */
    bool here;        /* ipc, or a loopback address */
    bool ipv6;
};

/* spec: tcp://HOST:PORT or ipc://PATH, after @ (bind) or > (connect), without which it binds if binds_by_default. HOST is a
   name, a number, [an IPv6 number], or * to bind all. DP_E_USAGE with a sentence for anything else. */
int dp_endpoint_parse(struct dp_endpoint *endpoint, const char *spec, bool binds_by_default, struct dp_err *err);
void dp_endpoint_free(struct dp_endpoint *endpoint);

/* ipc alone: DP_E_UNSAFE unless the path's directory is the user's own, of mode 0700. */
int dp_endpoint_check(const struct dp_endpoint *endpoint, struct dp_err *err);

/* ipc alone, before and after it is bound: of two that want one path at the same time the second one waits here, and meets
   the first one's socket then. *hold, where it is not negative, is to be closed when the path is bound, or will not be.
   DP_E_RUN: somebody answers there. */
int dp_endpoint_claim(const struct dp_endpoint *endpoint, int *hold, struct dp_err *err);

/* ipc alone, when the socket that was bound is closed: takes its file away, unless somebody else listens there by now. */
void dp_endpoint_release(const struct dp_endpoint *endpoint);

#endif
