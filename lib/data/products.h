/* Features of pairs of columns, so that a linear model has interactions. A number whose basis is cosines has two factors, a
 * category column of at most 60 categories one for each category c:
 *
 *   √2 cos(π k u) / k, k = 1, 2      with u as in data/basis.h
 *   1 if the cell is c, else 0
 *
 * Each factor of one column times each factor of the other, times w, is a product. Two category columns with more than 400
 * products are left out. Pairs come in the order of how many products they have, then in the order of the schema, and the
 * first of them are taken that together have at most `most`. The factors are features that rows have already, so the map is
 * public. The weight w makes the mean square of all products 0.3 of the mean square of the other features, for numbers that
 * are spread evenly over [0, 1]. With m numbers, c category columns, each of which has one 1, as the bias has, and q = 5/4 for
 * a number and 1 for a category column:
 *
 *   w² = 0.3 (1.1 m + c + 1) / Σ q_a q_b      over the pairs that are taken
 *
 * most = 0 is what earlier versions had: all pairs of numbers, and 0.1. */
#pragma once

#include <jansson.h>

#include "data/schema.h"

/* The most columns of dp-transform. */
#define DP_PRODUCTS_COLUMNS 8192

/* Starts zeroed. */
struct dp_products {
    struct dp_pair {
        size_t columns[2], first[2], factors[2]; /* of the schema; the features that are its factors, a number's first */
        bool number[2];
        double weight; /* of a product of two features: w, and √2 for each number */
    } * pair;
    size_t pairs, all, count; /* taken, and of all columns; products of those that are taken */
    double weight;            /* the largest weight: no product is beyond −weight and weight */
};

/* first: per column, its first feature. DP_E_RUN: most is 0, and there are more products than a model may have columns. */
int dp_products_plan(struct dp_products *products, const struct dp_schema *schema, const size_t *first, size_t most,
                     struct dp_err *err);
void dp_products_free(struct dp_products *products);

/* The two features of product k, from 0, and its weight. */
double dp_products_of(const struct dp_products *products, size_t k, size_t of[2]);

/* Writes count products of the features x to `to`. */
void dp_products_features(const struct dp_products *products, const double *x, double *to);

/* The largest sum of squares: Σ weight² q_a q_b over the pairs, where each number is at a bound. */
double dp_products_norm2(const struct dp_products *products);

/* Appends "NAME × NAME" for each product to names, which has the names of the features. */
void dp_products_names(const struct dp_products *products, json_t *names);
