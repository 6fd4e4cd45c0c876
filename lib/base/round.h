/* Rounding in one direction. A decimal that is printed, read back as a double, is not above (or not below) the number. */
#pragma once

/* The smallest decimal of `digits` significant digits (1 to 15) that is not below value. Zero and values that are not finite
 * are returned unchanged. */
double dp_round_up(double value, int digits);

/* The smallest number of 32 significant bits that is not below value ≥ 0. The last bits of an epsilon depend on the machine's
 * exp and log; what is stored of it does not. */
double dp_round_up_bits(double value);

/* The largest decimal of `digits` significant digits that is not above value. Zero and values that are not finite are returned
 * unchanged. */
double dp_round_down(double value, int digits);
