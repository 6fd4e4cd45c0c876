/* A clock that measures waiting times. */
#ifndef DP_BASE_CLOCK_H
#define DP_BASE_CLOCK_H

/* Seconds of a monotonic clock. Only differences have a meaning. */
double dp_clock_now(void);

#endif
