/* Lines of formats 1 and 2, in which a run reserved laps in pieces while it ran, and gave back what it had not used. They are
 * folded into the entry of their run: `paid` is what it has reserved and not given back. Each function returns NULL, or why the
 * line is not valid at this place. */
#pragma once

#include "ledger/book.h"

void dp_ledger_old_free(struct dp_ledger_old *old);

/* A reserve line. A program that pays as it goes (dpline/ledger.h) writes it in every format. */
const char *dp_ledger_old_reserve(struct dp_ledger_entry *entry, const struct dp_charge *charge);

/* A charge line (used) or a refund line. */
const char *dp_ledger_old_give_back(struct dp_ledger_entry *entry, const struct dp_charge *charge, bool used);

/* A checkpoint at which that was used. */
const char *dp_ledger_old_checkpoint(struct dp_ledger_entry *entry, const struct dp_charges *used);

/* A close line with that number of laps. */
const char *dp_ledger_old_close(struct dp_ledger_entry *entry, int64_t laps);
