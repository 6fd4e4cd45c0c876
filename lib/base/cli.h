/* The part that every command's main() has in common: parse options, answer --help and --version, report errors, and check that
 * stdout was written completely. Used by bin/ only: the one place that prints. */
#pragma once

#include "base/err.h"
#include "base/option.h"

/* Calls dp_init and opens /dev/null for standard streams that are closed, so that no file of ours gets their numbers; a write
 * to a closed standard output still fails. Handles SIGBUS (mapped.h) and guards terminals (terminal.h). Ignores SIGXFSZ, so that
 * write reports an error when a file may not grow. Removes POSIXLY_CORRECT from the environment. */
void dp_cli_guard(void);

/* Calls dp_cli_guard, and puts the directory of the program first in PATH unless PATH leads to this program. Parses; answers
   --help and --version itself. Returns true when the command is to run; otherwise *status is the
   exit status. */
bool dp_cli_start(const struct dp_command *command, void *values, void *common, int argc, char **argv, int *first_operand,
                  int *status);

/* Prints the page that --help or --version asked for (code is a DP_PARSE_ value); returns the exit status. */
int dp_cli_answer(const struct dp_command *command, int code);

/* Prints "name: warning: sentence" on standard error. */
void dp_cli_warn(const char *name, const char *sentence);

/* dp_cli_warn as a callback of runtime/child.h. self is not used. */
void dp_cli_warn_of(void *self, const char *name, const char *sentence);

/* dp_cli_warn as a callback of port/port.h. name is the text that precedes the sentence. */
void dp_cli_hear(void *name, const char *sentence);

/* Prints "name: message" for a failure (unless DP_E_UPSTREAM with an empty message), flushes and checks stdout, and
   returns the exit status. */
int dp_cli_finish(const char *name, int rc, struct dp_err *err);
