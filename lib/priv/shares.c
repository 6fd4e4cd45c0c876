#include "priv/shares.h"

#include "math/upward.h"

double dp_shares_scale(double scale, int64_t shares, int64_t colluding)
{
    return dp_upward(scale / sqrt((double)(shares - colluding)));
}
