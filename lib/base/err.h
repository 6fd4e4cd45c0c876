/* Errors: a status and one sentence, owned by the caller. The library never prints and never exits. */
#pragma once

#include "base/c.h"

/* The exit status of a command is the negated value. */
enum dp_status {
    DP_OK = 0,
    DP_E_RUN = -1,      /* data or run failed */
    DP_E_USAGE = -2,    /* a wrong option or argument */
    DP_E_BUDGET = -3,   /* the privacy budget was spent before the work was done */
    DP_E_UPSTREAM = -4, /* the stage before this one failed, and has printed why */
    DP_E_UNSAFE = -5,   /* refused: it would have leaked, or could not be accounted for */
};

#define DP_ERR_MESSAGE_SIZE 512

struct dp_err {
    enum dp_status status;
    char where[32]; /* the command or stage that failed; "" until dp_err_at */
    char message[DP_ERR_MESSAGE_SIZE];
};

/* Fills *err (may be NULL) with the formatted sentence and returns status, so that `return dp_fail(...)` reads well. */
int dp_fail(struct dp_err *err, enum dp_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* As dp_fail with DP_E_RUN; appends ": " and the text of the errno value. */
int dp_fail_errno(struct dp_err *err, int errnum, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Names the command or stage that failed, unless one is named already. */
void dp_err_at(struct dp_err *err, const char *where);

/* Puts "file: " before the sentence, unless it names the file already. */
void dp_err_in(struct dp_err *err, const char *file);

/* Writes "where: message" (or the bare message) into buffer and returns it. */
const char *dp_err_text(const struct dp_err *err, char *buffer, unsigned long size);

/* The exit status of a command that ended with this status: 0 to 5. */
int dp_exit_status(int status);
