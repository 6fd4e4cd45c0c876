#include "base/err.h"

#include <stdarg.h>

#include "base/text.h"

/* A message that was too long ends with a whole character. */
static void end_whole(struct dp_err *err, int length)
{
    size_t most = sizeof err->message - 1;
    if (length <= (int)most)
        return;
    size_t at = most;
    while (at > 0 && ((unsigned char)err->message[at - 1] & 0xc0) == 0x80)
        at--;
    if (at > 0 && (unsigned char)err->message[at - 1] >= 0xc0 && dp_text_valid(err->message + at - 1, most - at + 1) == 0)
        err->message[at - 1] = '\0';
}

/* A message may quote somebody else's text, so no message has control characters. */
static void escape(struct dp_err *err)
{
    char raw[DP_ERR_MESSAGE_SIZE];
    size_t length = strlen(err->message);
    memcpy(raw, err->message, length);
    dp_text_escape(raw, length, err->message, sizeof err->message);
}

static void fill(struct dp_err *err, enum dp_status status, const char *format, va_list args)
{
    err->status = status;
    err->where[0] = '\0';
    int length = vsnprintf(err->message, sizeof err->message, format, args);
    end_whole(err, length);
    escape(err);
}

int dp_fail(struct dp_err *err, enum dp_status status, const char *format, ...)
{
    if (err != NULL) {
        va_list args;
        va_start(args, format);
        fill(err, status, format, args);
        va_end(args);
    }
    return status;
}

int dp_fail_errno(struct dp_err *err, int errnum, const char *format, ...)
{
    if (err != NULL) {
        va_list args;
        va_start(args, format);
        fill(err, DP_E_RUN, format, args);
        va_end(args);
        size_t used = strlen(err->message);
        int more = snprintf(err->message + used, sizeof err->message - used, ": %s", strerror(errnum));
        end_whole(err, (int)used + more);
    }
    return DP_E_RUN;
}

void dp_err_at(struct dp_err *err, const char *where)
{
    if (err != NULL && err->where[0] == '\0')
        snprintf(err->where, sizeof err->where, "%s", where);
}

void dp_err_in(struct dp_err *err, const char *file)
{
    char message[DP_ERR_MESSAGE_SIZE];
    if (err == NULL)
        return;
    /* Look for the name as a word of its own: a quoted field may contain it. */
    const char *at = strstr(err->message, file);
    if (at != NULL && (at == err->message || at[-1] == ' '))
        return;
    memcpy(message, err->message, sizeof message);
    snprintf(err->message, sizeof err->message, "%.200s: %.300s", file, message);
}

const char *dp_err_text(const struct dp_err *err, char *buffer, unsigned long size)
{
    if (err->where[0] != '\0')
        snprintf(buffer, size, "%s: %s", err->where, err->message);
    else
        snprintf(buffer, size, "%s", err->message);
    return buffer;
}

int dp_exit_status(int status)
{
    return status >= 0 ? 0 : status < DP_E_UNSAFE ? 1 : -status;
}
