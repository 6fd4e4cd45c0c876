/* The subcommands of dp-account. Each takes argv from its own name on and returns the exit status. */
#ifndef DP_BIN_ACCOUNT_WORDS_H
#define DP_BIN_ACCOUNT_WORDS_H

#include "base/option.h"

int word_sigma(int argc, char **argv);
int word_epsilon(int argc, char **argv);
int word_delta(int argc, char **argv);
int word_laps(int argc, char **argv);
int word_rate(int argc, char **argv);
int word_curve(int argc, char **argv);
int word_sensitivity(int argc, char **argv);
int word_budget(int argc, char **argv);
int word_report(int argc, char **argv);
int word_verify(int argc, char **argv);
int word_certify(int argc, char **argv);

/* Their --help pages. */
extern const struct dp_command command_sigma, command_epsilon, command_delta, command_laps, command_rate, command_curve,
    command_sensitivity, command_budget, command_report, command_verify, command_certify;

#endif
