/* Tables of options: one for each command drives getopt_long, range checks, --help and the lint against the man page. */
#pragma once

#include "base/err.h"

enum dp_option_kind {
    DP_OPT_FLAG,   /* bool */
    DP_OPT_TEXT,   /* const char *, into argv; NULL when absent and without default */
    DP_OPT_REAL,   /* double; NAN when absent and without default */
    DP_OPT_INT,    /* int64_t; INT64_MIN when absent and without default */
    DP_OPT_CHOICE, /* int, the index in `choices`; -1 when absent and without default */
};

#define DP_OPT_ABSENT_INT INT64_MIN

/* A table ends with a row that has neither name nor member. */
struct dp_option {
    const char *name;   /* long name; NULL: made of the member's */
    const char *member; /* "pay.no_ledger" makes --no-ledger; NULL where there is a name */
    char letter;        /* short form, or 0 */
    enum dp_option_kind kind;
    size_t offset;        /* offset of the member in the command's option struct */
    const char *metavar;  /* NULL for a flag */
    const char *help;     /* one line, no full stop */
    const char *fallback; /* default as text, or NULL */
    const char *choices;  /* "poisson|fixed", for DP_OPT_CHOICE; for DP_OPT_INT a word that the command itself interprets, or
                           * NULL */
    double min, max;      /* for numbers; both 0 means any finite value */
    bool open_min;        /* the minimum itself is out of range */
    bool open_max;        /* the maximum itself is out of range */
    bool required;        /* the command refuses to start without it */
    bool single;          /* a positive number must not be zero as a float */
    /* Rules that tie it to other options, see below. NULL: none. */
    const char *needs, *excludes, *only, *needed_by, *unless;
    const char *at_least; /* the name of another number, which it must not be below */
};

/* Rules are texts. A condition is the long name of an option, which holds if its value is not its default; the name of a choice
   with values; or only the values of the word that says what the operand is. A list of conditions may end with a reason;
   an option that a command does not have excludes nothing:

       .needs = "private-schema, private-knots"  one of them: "--delta needs --private-schema or --private-knots"
       .needs = "output; basis=hats|bins"        both
       .excludes = "follow, mode=full: why"      neither: "--rate and --mode full exclude each other: why"
       .needed_by = "method=descent, =sqlite"    required where one of them holds: "--method descent needs --iterations"
       .unless = "plan"                          with .required or .needed_by: one of these will do instead of it
       .only = "csv|tsv"                         what the operand is: "--schema is for csv and tsv"

   --help has .only and .needs before the text, and .excludes after it. */

/* Rows of a table. DP_OPTIONS is the struct that the values go to, and each file with a table defines it. letter_: 0 for none.
   The help comes last. Members that few rows need are set after it:

       #define DP_OPTIONS struct options
       DP_OPTION_REAL('s', step, "ETA", DP_ABOVE(0), "the step size", .required = true),
       DP_OPTION_INT(0, every, "N", DP_FROM_TO(1, 1000), "laps", .name = "checkpoint-every", .fallback = "10"),

   .name if the option has another name than the member, .fallback, .required, .choices for an integer that may be a word, and
   rules.
   An option that several commands have is a macro for such a row. */
#define DP_OPTION_ROW(letter_, member_) .letter = (letter_), .member = #member_, .offset = offsetof(DP_OPTIONS, member_)
#define DP_OPTION_FLAG(letter_, member_, ...)                                                                                  \
    {                                                                                                                          \
        .kind = DP_OPT_FLAG, DP_OPTION_ROW(letter_, member_), .help = __VA_ARGS__                                              \
    }
#define DP_OPTION_TEXT(letter_, member_, metavar_, ...)                                                                        \
    {                                                                                                                          \
        .kind = DP_OPT_TEXT, DP_OPTION_ROW(letter_, member_), .metavar = (metavar_), .help = __VA_ARGS__                       \
    }
#define DP_OPTION_REAL(letter_, member_, metavar_, range_, ...)                                                                \
    {                                                                                                                          \
        .kind = DP_OPT_REAL, DP_OPTION_ROW(letter_, member_), .metavar = (metavar_), range_, .help = __VA_ARGS__               \
    }
#define DP_OPTION_INT(letter_, member_, metavar_, range_, ...)                                                                 \
    {                                                                                                                          \
        .kind = DP_OPT_INT, DP_OPTION_ROW(letter_, member_), .metavar = (metavar_), range_, .help = __VA_ARGS__                \
    }
#define DP_OPTION_CHOICE(letter_, member_, metavar_, choices_, ...)                                                            \
    {                                                                                                                          \
        .kind = DP_OPT_CHOICE, DP_OPTION_ROW(letter_, member_), .metavar = (metavar_), .choices = (choices_),                  \
        .help = __VA_ARGS__                                                                                                    \
    }

/* Ranges: FROM and TO include the limit, ABOVE and BELOW exclude it. */
#define DP_ANY_NUMBER .min = 0, .max = 0
#define DP_FROM(low) .min = (low), .max = INFINITY
#define DP_ABOVE(low) .min = (low), .max = INFINITY, .open_min = true
#define DP_FROM_TO(low, high) .min = (low), .max = (high)
#define DP_FROM_BELOW(low, high) .min = (low), .max = (high), .open_max = true
#define DP_ABOVE_TO(low, high) .min = (low), .max = (high), .open_min = true
#define DP_ABOVE_BELOW(low, high) .min = (low), .max = (high), .open_min = true, .open_max = true

struct dp_command {
    const char *name;                /* "dp-noise" */
    const char *operands;            /* "FILE …" for the usage line, or "" */
    const char *summary;             /* one line for --help */
    const struct dp_option *options; /* --help and --version are added by themselves */
    const struct dp_option *common;  /* a second table laid out in another struct, or NULL */
};

enum { DP_PARSE_RUN = 0, DP_PARSE_HELP = 1, DP_PARSE_VERSION = 2 };

/* The rules of the options that were parsed, now that the command knows what its operand is (one of the words of .only). Their
   order: what excludes each other, what an option needs, what the operand or a choice needs. DP_E_USAGE: one is broken. */
int dp_option_operand(const struct dp_command *command, void *values, void *common, const char *word, struct dp_err *err);

/* Parses argv[1..argc) into the struct `values` (laid out by command->options) and `common` (by command->common).
   Both are filled with defaults first. Options and operands may mix; "--" ends the options. argv is permuted; on
   return *first_operand is the index of the first operand. Checks the rules that do not ask what the operand is. Returns
   DP_PARSE_*, or DP_E_USAGE. */
int dp_option_parse(const struct dp_command *command, void *values, void *common, int argc, char **argv, int *first_operand,
                    struct dp_err *err);

/* Reads the two numbers of an option K/N: 1 ≤ K ≤ N ≤ most. option: its name, for messages. DP_E_USAGE: anything else. */
int dp_option_part(const char *option, const char *text, int64_t most, int64_t *k, int64_t *n, struct dp_err *err);

void dp_option_help(const struct dp_command *command, FILE *stream);
