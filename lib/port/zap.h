/* Decides who may connect to a link that binds. libzmq asks for this decision before it passes the first message of a
 * connection (ZAP, ZeroMQ RFC 27). Runs in its own thread as long as the context exists. Private to lib/port. */
#pragma once

#include "base/err.h"

#define DP_ZAP_DOMAIN "dpline"

struct dp_zap;

/* directory: its list of trusted keys is read again for each connection; NULL admits everybody, without a key. */
int dp_zap_start(struct dp_zap **zap, void *context, const char *directory, struct dp_err *err);

/* The number of connections that were refused since the last call. */
unsigned long dp_zap_denied(struct dp_zap *zap);

/* Joins the thread and frees. Call it after zmq_ctx_shutdown and before zmq_ctx_term. zap may be NULL. */
void dp_zap_end(struct dp_zap *zap);
