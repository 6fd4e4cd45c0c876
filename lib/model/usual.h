/* The score of a usual row in a linear model of a table, and which column moves it, without a look at any row.
 *
 *   f        the features of a row before it is divided by a norm (model/terms.h)
 *   u_ck     the part of column c in the score of output k: Σ weight_kj f_j over the terms j of the column, and half of each
 *            product with another one. If there are several outputs, their mean is taken off: only differences matter
 *   share_c  V_c / Σ_d V_d, V_c = Σ_k Var u_ck. All 0 if no column adds anything
 *   length   √E |f|²
 *   mean_k   E Σ_j weight_kj f_j
 *
 * The expectations are over one of two:
 *
 *   released   if the model has the transform T of released moments, and a bias: TᵀT = Σ g_i v_i v_iᵀ gives the moments
 *              M = Σ (1/g_i − 1/g) v_i v_iᵀ, where g is the largest g_i: 1/g is the floor of dp-transform. Directions whose
 *              1/g_i is not above 4/g are left out: by the semicircle law noise has eigenvalues up to 3.8/g with the default
 *              floor. M is of rows that were divided by a number r, and their bias is 1/r. So M_jk / M_bb is the mean of
 *              f_j f_k, where each row has the weight 1/r²
 *   otherwise  the cells are independent, and none is missing. A number is in each of the intervals between the edges of its
 *              basis (without: between its bounds) with the same probability, and anywhere in it (here: at 16 places). Each
 *              category of a column has the same probability. Products count as if they were independent of all other terms */
#pragma once

#include "model/terms.h"

struct dp_usual {
    bool released;
    double length;
    double *mean;  /* outputs */
    double *share; /* columns of the schema */
};

/* False: nothing is usual. The model carries no schema, or without released moments has a number without bounds; or it has more
 * than 1,000 terms. Starts zeroed; free it in any case. frame: the model, as for dp_terms_open. */
bool dp_usual_find(struct dp_usual *usual, const struct dp_terms *terms, const struct dp_frame *frame);
void dp_usual_free(struct dp_usual *usual);
