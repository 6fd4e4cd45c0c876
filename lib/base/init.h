/* What the library needs once in a process. */
#ifndef DP_BASE_INIT_H
#define DP_BASE_INIT_H

/* Turns off GSL's error handler, which would end the process where memory is short: what GSL returns is checked. Has the
 * allocations of jansson watched (base/json.h), and gives GMP some that do not end the process (base/spare.h). Programs call
 * this first (dp_cli_guard does), and so does whatever in the library asks GSL for something that can fail, so that no user of
 * the library needs to. A handler that is set later stays. From any thread, any number of times. */
void dp_init(void);

#endif
