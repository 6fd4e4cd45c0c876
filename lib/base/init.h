/* Initialisation of the library, once in a process. */
#pragma once

/* Lets libsodium choose the fastest code of this CPU. Turns off GSL's error handler, which ends the process when memory is
 * short: callers check what GSL returns. Lets jansson and GMP allocate as base/mem.h does. Programs call this first
 * (dp_cli_guard does). Functions of the library that call GSL and can fail call it, too, so that a user of the library need
 * not. A handler that is set later stays. Any thread may call this, any number of times. */
void dp_init(void);
