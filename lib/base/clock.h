/* A clock that measures waiting times. */
#pragma once

/* Seconds of a monotonic clock. Only differences have a meaning. */
double dp_clock_now(void);
