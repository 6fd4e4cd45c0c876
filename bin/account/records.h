/* Mechanism records of a run that has been, as JSON lines. */
#ifndef DP_BIN_ACCOUNT_RECORDS_H
#define DP_BIN_ACCOUNT_RECORDS_H

#include "priv/event.h"

/* Adds what each line of the file ("-": standard input) says: a charge as priv/event.h has it, or a lap frame as dp-cat
   prints it, which is one lap of its mechanism records. Lines of other kinds of frame are passed over. */
int records_read(const char *path, struct dp_charges *charges, struct dp_err *err);

#endif
