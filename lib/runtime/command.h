/* Runs a shell command that writes a stream of frames, and takes its last lap. */
#pragma once

#include <signal.h>

#include "base/err.h"
#include "wire/frame.h"

struct dp_command_end {
    int status; /* exit status, or 128 and the signal */
    bool whole; /* the stream has an end frame that reports success */
    bool lap;   /* there was a lap, and *last holds it */
};

/* Runs `sh -c text` in a process group of its own, without standard input, and with its standard error at the descriptor
   `errors`. *last is its last lap frame. Once *cancel is set, the group is ended and the call fails. DP_E_RUN: the command
   cannot be started, or its output is not a stream of frames. */
int dp_command_last(const char *text, int errors, volatile sig_atomic_t *cancel, struct dp_frame *last,
                    struct dp_command_end *end, struct dp_err *err);
