/* SIGINT, SIGTERM, SIGHUP and SIGQUIT while a data set is written: finish the row, remove what was written, then die of the
   signal. Used by commands, which call dp_interrupt_catch before and dp_interrupt_rethrow after their work. */
#pragma once

#include <signal.h>

#include "base/c.h"

void dp_interrupt_catch(void);

/* The same with a handler of the command. A signal that is ignored, as SIGHUP is after nohup(1), stays so; another one also
   interrupts a read from a pipe. */
void dp_interrupt_catch_by(void (*handler)(int number));

/* Ends the process by the signal; returns if it is 0. */
void dp_interrupt_end_by(int number);

/* Whether one of the signals has arrived since dp_interrupt_catch. Writers and spools then fail. */
bool dp_interrupt_pending(void);

/* The flag that the handler sets, for waits that end when it is set (port/port.h). */
volatile sig_atomic_t *dp_interrupt_flag(void);

/* Ends the process by the signal that came; returns if none did. */
void dp_interrupt_rethrow(void);
