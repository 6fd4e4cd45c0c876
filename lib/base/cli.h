/* What every command's main() does alike: parse, answer --help and --version, report, and close stdout checked.
   Used by bin/ only: the one place that prints. */
#ifndef DP_BASE_CLI_H
#define DP_BASE_CLI_H

#include "base/err.h"
#include "base/option.h"

/* dp_init, and puts something on the standard streams that were closed, so that no file of ours takes their numbers;
   writing to a closed standard output still fails. Handles SIGBUS (mapped.h), and ignores SIGXFSZ, so that a file that may not
   grow is an error of write. */
void dp_cli_guard(void);

/* Parses; answers --help and --version itself. Returns true when the command is to run; otherwise *status is the
   exit status. */
bool dp_cli_start(const struct dp_command *command, void *values, void *common, int argc, char **argv, int *first_operand,
                  int *status);

/* Prints the page that --help or --version asked for (code is a DP_PARSE_ value); returns the exit status. */
int dp_cli_answer(const struct dp_command *command, int code);

/* Prints "name: warning: sentence" on standard error. */
void dp_cli_warn(const char *name, const char *sentence);

/* The same, for whoever calls back with a pointer that says no more (runtime/child.h). */
void dp_cli_warn_of(void *self, const char *name, const char *sentence);

/* The same, for whoever calls back with a pointer (port/port.h): name is a text. */
void dp_cli_hear(void *name, const char *sentence);

/* Prints "name: message" for a failure (unless DP_E_UPSTREAM with an empty message), flushes and checks stdout, and
   returns the exit status. */
int dp_cli_finish(const char *name, int rc, struct dp_err *err);

#endif
