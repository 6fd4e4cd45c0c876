/* Time that passes while something is waited for. */
#ifndef DP_BASE_CLOCK_H
#define DP_BASE_CLOCK_H

/* Seconds of a clock that nobody sets and that has no zero: only differences mean something. */
double dp_clock_now(void);

#endif
