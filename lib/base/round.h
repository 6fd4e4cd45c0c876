/* Rounding to decimals in one direction: the decimal that is printed, read back as a double, is not above (or not below) the
 * number. */
#pragma once

/* The smallest decimal of `digits` significant digits (1 to 15) that is not below value. Zero and values that are not finite
 * are returned unchanged. */
double dp_round_up(double value, int digits);

/* The largest decimal of `digits` significant digits that is not above value. Zero and values that are not finite are returned
 * unchanged. */
double dp_round_down(double value, int digits);
