/* Conversion between the public and the internal types. Private to lib/public. */
#pragma once

#include "base/err.h"
#include <dpline/account.h>
#include <dpline/error.h>
#include "account/event.h"

/* Copies an error of the library into the caller's error, and returns rc. */
int dp_public_result(struct dpline_error *error, int rc, const struct dp_err *inside);

/* Copies the error of a caller's function into an error of the library. */
int dp_public_taken(struct dp_err *inside, int rc, const struct dpline_error *error);

/* The event of a charge and its laps. DP_E_USAGE: it makes no sense. */
int dp_public_event(struct dp_event *event, int64_t *laps, const struct dpline_charge *charge, struct dp_err *err);

struct dpline_account {
    struct dp_charges charges;
};
