/* The cost of a schema, as data sets and schemas say it ("paid" of dp-dataset(5)): so that a run can be one composition with it
 * (dp_ledger_book_join). */
#pragma once

#include <jansson.h>

#include "account/event.h"

struct dp_schema_cost {
    double epsilon, delta;     /* the budget that was fixed for the schema and a run together, before anything was released */
    struct dp_charges charges; /* of the schema and of knots: Gaussians of all rows, and thresholds */
};

/* Reads it; the caller starts *cost zeroed and frees cost->charges. False: no budget was fixed, the text makes no sense, or the
 * text is NULL. */
bool dp_schema_cost_parse(struct dp_schema_cost *cost, const char *text);

/* dp_schema_cost_add(paid, prior, event, epsilon, delta): put into *paid the charges that `prior` (NULL: nothing) has, and
 * one more lap; and the budget of `prior`, or this one. epsilon NAN, or a `prior` without a budget: nothing is put. */
void dp_schema_cost_add(json_t *paid, const json_t *prior, const struct dp_event *event, double epsilon, double delta);

/* *mu: of these charges without their thresholds, rounded up; *named: the delta of these. False: they are not Gaussians of all
 * rows. */
bool dp_schema_cost_mu(const struct dp_charges *charges, double *mu, double *named);

/* Whether the schema of this text was paid for as a part of a budget of epsilon and *delta (NAN: of any delta), so that a run
 * of Gaussians of all rows has what one composition leaves. Then *delta is the delta of the budget, and mu and named as above;
 * else both are 0. */
bool dp_schema_cost_joins(const char *text, double epsilon, double *delta, double *mu, double *named);
