/* dp_eigen(m, n, values, err): the eigenvalues of a symmetric matrix, largest first, and its eigenvectors as rows.
 *
 *   M = Σ_i values[i] v_i v_iᵀ,   v_i = row i of m at the end, of norm 1, orthogonal to the others
 *
 * m       n × n, n ≥ 1, finite and symmetric; overwritten
 * values  n
 * DP_E_RUN: no convergence, which nobody has seen. Errors are of some n ε times the largest
 * eigenvalue. Only + − × ÷ √ in one order: the same bytes on every machine, where a library's products may be contracted.
 * Householder's tridiagonal form, then QR steps with Wilkinson's shift: Golub and Van Loan, Matrix Computations, 8.3. */
#pragma once

#include "base/err.h"

int dp_eigen(double *m, size_t n, double *values, struct dp_err *err);
