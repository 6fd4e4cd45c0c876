/* Features of pairs of numbers, so that a linear model has interactions. Each pair of columns a < b whose basis is cosines has
 * four, in the order of the schema:
 *
 *   w cos(π i u_a) / i · cos(π k u_b) / k,   (i, k) = (1, 1), (1, 2), (2, 1), (2, 2)
 *
 * with u as in data/basis.h. The products are of features that rows have already, so the map is public. The weight w makes the
 * mean square of all products a tenth of the mean square of the other features, for numbers that are spread evenly over [0, 1].
 * For m numbers and c category columns, each of which has one 1, as the bias has, this is
 * w² = 0.1 (1.1 m + c + 1) / (25/64 m (m − 1) / 2). */
#pragma once

#include <jansson.h>

#include "data/schema.h"

#define DP_PRODUCTS_OF_A_PAIR 4

/* Starts zeroed. */
struct dp_products {
    size_t *at; /* numbers: the features "cosine 1" of the columns */
    size_t numbers, count;
    double weight;
};

/* How many products that many numbers have. */
size_t dp_products_count(size_t numbers);

/* first: per column, its first feature. DP_E_RUN: more products than a transform has columns. */
int dp_products_plan(struct dp_products *products, const struct dp_schema *schema, const size_t *first, struct dp_err *err);
void dp_products_free(struct dp_products *products);

/* The two features of product k, from 0. */
void dp_products_of(const struct dp_products *products, size_t k, size_t of[2]);

/* Writes count products of the features x to `to`. */
void dp_products_features(const struct dp_products *products, const double *x, double *to);

/* The largest sum of squares: w² (1 + 1/4)² for each pair, where all numbers are at bounds. No product is beyond −w and w. */
double dp_products_norm2(const struct dp_products *products);

/* Appends "NAME × NAME" for each product to names, which has the names of the features. */
void dp_products_names(const struct dp_products *products, json_t *names);
