/* Rules between the options of a table (option.h): how their texts are read, checked and shown. Part of option.c. */
#pragma once

#include "base/option.h"

#define DP_OPTION_MOST 64
#define DP_OPTION_NAME 40

/* The options of a command, each with the struct that its value is in. */
struct dp_option_table {
    const struct dp_option *entry[DP_OPTION_MOST];
    void *values[DP_OPTION_MOST];
    int count;
    const char *word; /* what the operand is; NULL: not known yet, and rules that ask for it are not checked */
};

bool dp_option_is_end(const struct dp_option *option);

/* The long name. "pay.no_ledger": no-ledger. */
const char *dp_option_name(const struct dp_option *option, char buffer[DP_OPTION_NAME]);

/* Whether the value is not the default. In option.c. */
bool dp_option_given(const struct dp_option *option, const void *values);

/* DP_E_USAGE, with a sentence: a rule is broken. needed: only .needed_by is checked; else all other rules. */
int dp_option_rules(const struct dp_option_table *table, bool needed, struct dp_err *err);

/* Option i is required and was not given: DP_E_USAGE with a sentence, or DP_OK if an option of its .unless was. */
int dp_option_missing(const struct dp_option_table *table, int i, struct dp_err *err);

/* Parts of a line of --help: the first is before the text of the option, the others follow it. */
void dp_option_print_needs(const struct dp_option *option, FILE *stream);
void dp_option_print_excludes(const struct dp_option_table *table, const struct dp_option *option, FILE *stream);
void dp_option_print_required(const struct dp_option *option, FILE *stream);
