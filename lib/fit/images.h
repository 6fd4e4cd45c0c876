/* The rule for rows that are features of images (images/map.h). */
#pragma once

#include "fit/fit.h"

/* Fills the run of *fit from its reach: laps of gradients of all rows with a clip bound C far below their norms, momentum m, and
 * a step that falls linearly to 0. A row then has the same weight in all laps. The length of the path matters: in units of C it
 * is the sum of the steps over 1 − m,
 *
 *   L = 36000 (reach / 415)^0.7,   step of the first lap = 2 (1 − m) L / (laps C).
 *
 * Does not set multipliers. */
void dp_fit_images(struct dp_fit *fit);
