/* Estimates from released tables: counts that agree where tables share columns, and intervals for counts and means.
 * Everything is computed from released numbers. */
#pragma once

#include "tables/tables.h"

#define DP_ESTIMATE_CONFIDENCE 0.95

/* Makes the counts of tables agree: for every set of columns that two tables share, from the smallest set up, the margins of
 * all tables that have the set become their mean, weighted by 1 / variance (Qardaji, Yang, Li 2014, section 4.4). Sums keep
 * their values. value: the released numbers. Does nothing to a list of one table. */
void dp_estimate_agree(const struct dp_tables *tables, double *value);

/* Whether Laplace noise of that multiplier, on the L1 norm of the tables, has a smaller deviation than Gaussian noise of the
 * other one, on their L2 norm: √2 z1 |v|1 < z2 |v|2. Where there are sums, both are deviations of a mean (dp_tables_weigh), and
 * the tables get the weights of the better kind. */
bool dp_estimate_laplace(struct dp_tables *tables, double laplace, double gaussian);

/* An interval that holds a count with DP_ESTIMATE_CONFIDENCE: count ± this. */
double dp_estimate_width(const struct dp_table *table);

/* The mean of (v − middle) / range, r = sum / count, from −1/2 to 1/2, with the interval of all r for which sum − r count is no
 * farther from 0 than noise is with DP_ESTIMATE_CONFIDENCE (Fieller 1954). False: too few rows; the count is not above the
 * noise, or the interval is everything. */
struct dp_estimate_mean {
    double mean, low, high;
};
bool dp_estimate_mean(const struct dp_table *table, double sum, double count, struct dp_estimate_mean *mean);
