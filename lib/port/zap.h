/* Who may connect to a link that binds: the answers that libzmq asks for before the first message of a connection goes through
   (ZAP, ZeroMQ RFC 27). A thread of its own, as long as the context lives. Private to lib/port. */
#ifndef DP_PORT_ZAP_H
#define DP_PORT_ZAP_H

#include "base/err.h"

#define DP_ZAP_DOMAIN "dpline"

struct dp_zap;

/* directory: whose list of trusted keys is asked, read anew for each connection; NULL lets in everybody, without a key. */
int dp_zap_start(struct dp_zap **zap, void *context, const char *directory, struct dp_err *err);

/* How many connections it has turned away since the last call. */
unsigned long dp_zap_denied(struct dp_zap *zap);

/* After zmq_ctx_shutdown, and before zmq_ctx_term: joins the thread, and frees. zap may be NULL. */
void dp_zap_end(struct dp_zap *zap);

#endif
