/* Option tables. One table per command drives getopt_long, range checks, --help and the lint against the man page. */
#ifndef DP_BASE_OPTION_H
#define DP_BASE_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

enum dp_option_kind {
    DP_OPT_FLAG,   /* bool */
    DP_OPT_TEXT,   /* const char *, into argv; NULL when absent and without default */
    DP_OPT_REAL,   /* double; NAN when absent and without default */
    DP_OPT_INT,    /* int64_t; INT64_MIN when absent and without default */
    DP_OPT_CHOICE, /* int, the index in `choices`; -1 when absent and without default */
};

enum dp_option_flags {
    DP_OPT_REQUIRED = 1, /* the command refuses to start without it */
    DP_OPT_OPEN_MIN = 2, /* the minimum itself is out of range */
    DP_OPT_OPEN_MAX = 4, /* the maximum itself is out of range */
};

#define DP_OPT_ABSENT_INT INT64_MIN

struct dp_option {
    const char *name; /* long name; a table ends with a NULL name */
    char letter;      /* short form, or 0 */
    enum dp_option_kind kind;
    size_t offset;        /* of the member in the command's option struct */
    const char *metavar;  /* NULL for a flag */
    const char *help;     /* one line, no full stop */
    const char *fallback; /* default as text, or NULL */
    const char *choices;  /* "poisson|fixed", for DP_OPT_CHOICE; for DP_OPT_INT a word that the command itself interprets, or
                           * NULL */
    double min, max;      /* for numbers; both 0 means any finite value */
    unsigned flags;
};

struct dp_command {
    const char *name;                /* "dp-noise" */
    const char *operands;            /* "FILE …" for the usage line, or "" */
    const char *summary;             /* one line for --help */
    const struct dp_option *options; /* --help and --version are added by themselves */
    const struct dp_option *common;  /* a second table laid out in another struct, or NULL */
};

enum { DP_PARSE_RUN = 0, DP_PARSE_HELP = 1, DP_PARSE_VERSION = 2 };

/* Parses argv[1..argc) into the struct `values` (laid out by command->options) and `common` (by command->common).
   Both are filled with defaults first. Options and operands may mix; "--" ends the options. argv is permuted; on
   return *first_operand is the index of the first operand. Returns DP_PARSE_*, or DP_E_USAGE. */
int dp_option_parse(const struct dp_command *command, void *values, void *common, int argc, char **argv, int *first_operand,
                    struct dp_err *err);

/* Writes the --help page. */
void dp_option_help(const struct dp_command *command, FILE *stream);

#endif
