/* Between the public types and those inside. Private to lib/public. */
#ifndef DP_PUBLIC_CONVERT_H
#define DP_PUBLIC_CONVERT_H

#include "base/err.h"
#include <dpline/account.h>
#include <dpline/error.h>
#include "account/event.h"

/* Tells the caller's error what happened inside; returns rc. */
int dp_public_result(struct dpline_error *error, int rc, const struct dp_err *inside);

/* The other way: what a caller's function returned, and said. */
int dp_public_taken(struct dp_err *inside, int rc, const struct dpline_error *error);

/* The event of a charge and its laps. DP_E_USAGE: it makes no sense. */
int dp_public_event(struct dp_event *event, int64_t *laps, const struct dpline_charge *charge, struct dp_err *err);

struct dpline_account {
    struct dp_charges charges;
};

#endif
