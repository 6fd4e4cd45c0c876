/* Memory for GMP and MPFR, which end the process where there is none. Private to lib/base. */
#ifndef DP_BASE_SPARE_H
#define DP_BASE_SPARE_H

/* Gives GMP allocators that fall back on 64 KB kept for that: more than the noise on a number needs, which is all that they
   are used for here, so that a draw is finished, with the bits it would have had, and whatever needs memory next says that
   there is none. Only where even that is used up the process ends, as it does by GMP's own allocators. */
void dp_spare_open(void);

#endif
