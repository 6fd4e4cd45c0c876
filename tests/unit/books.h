/* Ledgers of tests: test.ledger in the directory of the test (scratch.h), its budgets, and lines with correct hashes. */
#pragma once

#include <unistd.h>

#include "charges.h"
#include "ledger/book.h"
#include "ledger/ledger.h"

#define PATH "test.ledger"

/* Removes a ledger and its mark. */
static inline void gone(const char *path)
{
    char mark[80];
    snprintf(mark, sizeof mark, "%s.mark", path);
    unlink(mark);
    unlink(path);
}

/* Before a test: there is no ledger. */
static inline int fresh(void **state)
{
    (void)state;
    gone(PATH);
    return 0;
}

static inline struct dp_ledger *opened(const struct dp_ledger_run *run)
{
    struct dp_ledger *ledger;
    struct dp_err err = {0};
    assert_ok(dp_ledger_open(&ledger, PATH, run, &err));
    return ledger;
}

static inline void reserve(struct dp_ledger *ledger, const struct dp_event *event, int64_t laps)
{
    struct dp_err err = {0};
    assert_ok(dp_ledger_reserve(ledger, event, laps, &err));
}

/* Closes a run with the cost that its readers compute. */
static inline int close_with(struct dp_ledger *ledger, const struct dp_charges *used, double delta, const char *status,
                             struct dp_err *err)
{
    struct dp_answer cost = {.by = DP_ACCOUNTANT_NONE};
    int rc = dp_ledger_cost(ledger, used, status, &cost, err);
    const struct dp_ledger_end end = {used, cost.upper, delta, dp_accountant_names[cost.by], status, NULL, 0};
    return rc != DP_OK ? rc : dp_ledger_close(ledger, &end, err);
}

/* A budget with all of its delta at one order */
static inline struct dp_ledger_budget budget_of(const char *population, double epsilon, double delta, double order)
{
    return (struct dp_ledger_budget){.population = population,
                                     .adjacency = "null-record",
                                     .epsilon = epsilon,
                                     .delta = delta,
                                     .order = {{order, 1}},
                                     .orders = 1};
}

static inline void set_budget(struct dp_ledger_budget *budget)
{
    struct dp_err err = {0};
    assert_ok(dp_ledger_set_budget(PATH, budget, &err));
}

static inline void read_book(struct dp_ledger_book *book, const char *path)
{
    struct dp_err err = {0};
    *book = (struct dp_ledger_book){0};
    assert_ok(dp_ledger_book_read(book, path, &err));
}

/* Laps that the last run of the ledger has spent. */
static inline int64_t spent(void)
{
    struct dp_ledger_book book;
    int64_t laps = 0;
    read_book(&book, PATH);
    if (book.entries > 0)
        laps = dp_ledger_entry_laps(&book.entry[book.entries - 1]);
    dp_ledger_book_free(&book);
    return laps;
}

/* The text of line seq, to free, with these members, which it takes. hash: of the line before it, and then of this line. */
static inline char *line_of(json_t *members, size_t seq, char hash[DP_LEDGER_HASH + 1])
{
    char prev[DP_LEDGER_HASH + 1], *text;
    size_t length;
    struct dp_err err = {0};
    assert_non_null(members);
    json_object_del(members, "seq");
    json_object_del(members, "prev");
    json_object_del(members, "hash");
    memcpy(prev, hash, sizeof prev);
    assert_ok(dp_ledger_line(members, seq, prev, &text, &length, hash, &err));
    assert_int_equal(strlen(text), length);
    return text;
}
