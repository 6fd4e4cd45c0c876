/* Sums over rows use a fixed number of lanes, column j in lane j mod LANES, and a fixed tree adds up the lanes: the same bits
   for any width of the CPU's vectors. */
#pragma once

#define LANES 16

static inline double fold(const double lane[LANES])
{
    double half[LANES / 2], quarter[LANES / 4];
    for (int i = 0; i < LANES / 2; i++)
        half[i] = lane[i] + lane[i + LANES / 2];
    for (int i = 0; i < LANES / 4; i++)
        quarter[i] = half[i] + half[i + LANES / 4];
    return (quarter[0] + quarter[2]) + (quarter[1] + quarter[3]);
}
