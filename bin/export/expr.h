/* Expressions of the steps of a model (steps.h), and a printer that knows only a syntax. A number is absent (OP_NONE) where a
 * cell cannot be read, and so is each number that is made of it. */
#pragma once

#include "base/c.h"

enum op {
    OP_NUMBER, /* a constant */
    OP_NONE,   /* no number */
    OP_NAME,   /* a step, by its number */
    OP_INPUT,  /* the cell of a column; a feature, if the model carries no schema */
    OP_TRIM,   /* its text without the blanks around it, or '' */
    OP_READ,   /* the number in a text, as people write it (base/number.h), or none */
    OP_DATE,   /* the value of a date in a text (data/date.h), or none */
    OP_HASH,   /* 1 + the number of the bucket of a text */
    OP_IN,     /* whether a text is one of the words */
    OP_ABSENT, /* whether there is no number */
    OP_LESS,   /* a < b */
    OP_ADD,
    OP_SUBTRACT,
    OP_MULTIPLY,
    OP_DIVIDE,
    OP_SQRT,
    OP_COS,
    OP_EXP,
    OP_IF,    /* a ? b : c */
    OP_MATCH, /* the value of the word that a text is, else b */
    OP_STEPS, /* value i where key_i <= a < key_(i+1), the last value above */
    OP_LINES, /* linear between (key_i, value_i); key_0 <= a <= the last key */
    OPS
};

struct expr {
    enum op op;
    double number;
    size_t at; /* OP_NAME, OP_INPUT, OP_DATE, OP_HASH: of a step or a column. Tables: a number for the printer */
    const struct expr *arg[3];
    struct expr_entry {
        const char *word; /* of OP_IN and OP_MATCH */
        double key, value;
    } * entry; /* of a table */
    size_t count, room;
    struct expr *next;
};

/* Expressions live until expr_free. */
#define expr(op, ...) expr_new(op, (const struct expr *[3]){__VA_ARGS__})
struct expr *expr_new(enum op op, const struct expr *const arg[3]);
struct expr *expr_at(enum op op, const struct expr *a, size_t at);
const struct expr *expr_number(double value);
void expr_free(void);

/* Adds an entry to a table. word (may be NULL) is kept as a pointer. Steps of equal values become one. */
void expr_entry(struct expr *table, const char *word, double key, double value);

/* The sum, as a tree of little depth; 0 for no terms. */
const struct expr *expr_sum(const struct expr **term, size_t count);

/* How operations are written. A form is a text with
 *
 *   %a %b %c   the arguments
 *   %s         the name of the step or input that x is, %f: that its first argument is
 *   %i         `at` + 1: the number of a column or of a table, %n: how many entries the table has
 *   %w %k %v   of an entry: its word, key and value; %v is also the value of a number
 *   %K %W %V   the key of the next entry, the distance to it, and the distance of the values
 *   %( … %)    for each entry
 *   %[ … %]    for each interval of OP_STEPS or OP_LINES but the last one, of which the rest of the form is
 *   %%         a percent sign; another letter is written by `other` */
struct syntax {
    const char *form[OPS];
    void (*number)(void *self, double value);
    void (*word)(void *self, const char *word);
    void (*name)(void *self, const struct expr *x);
    void (*other)(void *self, char letter, const struct expr *x);
};

/* Writes the form of an expression, or another one with it. self: for the functions of the syntax. */
void expr_print(const struct syntax *syntax, void *self, const struct expr *x, FILE *out);
void expr_print_as(const struct syntax *syntax, void *self, const char *form, const struct expr *x, FILE *out);
