/* Decimals that err on one side: what is printed, and reads back as the same double, is not above (or not below) the number. */
#ifndef DP_BASE_ROUND_H
#define DP_BASE_ROUND_H

/* The smallest decimal of `digits` significant digits (1 to 15) that is not below value. Zero and what is not
   finite come back as they are. */
double dp_round_up(double value, int digits);

/* The largest decimal of `digits` significant digits that is not above value; the same for zero and what is not finite. */
double dp_round_down(double value, int digits);

#endif
