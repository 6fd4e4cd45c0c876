/* The subcommands of dp-account. */
#pragma once

#include "base/option.h"

struct books;

struct word {
    struct dp_command command; /* its name is "dp-account WORD" */
    /* Takes argv from WORD on and returns the exit status. */
    int (*run)(const struct word *word, int argc, char **argv);
    int unknown;                                       /* what the calculator solves for: an enum unknown */
    int (*books)(struct books *b, struct dp_err *err); /* what is done with the ledgers */
};

extern const struct word word_sigma, word_epsilon, word_delta, word_laps, word_rate, word_curve, word_sensitivity, word_budget,
    word_charge, word_report, word_verify, word_certify;
