#include <dpline/error.h>

#include <stdarg.h>

#include "base/version.h"
#include "convert.h"

_Static_assert((int)DPLINE_E_RUN == (int)DP_E_RUN && (int)DPLINE_E_USAGE == (int)DP_E_USAGE &&
                   (int)DPLINE_E_BUDGET == (int)DP_E_BUDGET && (int)DPLINE_E_UPSTREAM == (int)DP_E_UPSTREAM &&
                   (int)DPLINE_E_UNSAFE == (int)DP_E_UNSAFE,
               "statuses pass as they are");
_Static_assert(sizeof((struct dpline_error *)0)->message >= DP_ERR_MESSAGE_SIZE + 40, "room for a sentence and its place");

int dpline_fail(struct dpline_error *error, int status, const char *format, ...)
{
    va_list arguments;
    if (error == NULL)
        return status;
    error->status = status;
    va_start(arguments, format);
    vsnprintf(error->message, sizeof error->message, format, arguments);
    va_end(arguments);
    return status;
}

int dpline_api(void)
{
    return DPLINE_API;
}

const char *dpline_version(void)
{
    return DP_VERSION;
}

int dp_public_result(struct dpline_error *error, int rc, const struct dp_err *inside)
{
    if (rc >= 0 || error == NULL)
        return rc;
    error->status = rc;
    dp_err_text(inside, error->message, sizeof error->message);
    return rc;
}

int dp_public_taken(struct dp_err *inside, int rc, const struct dpline_error *error)
{
    if (rc == 0)
        return DP_OK;
    if (rc > 0 || rc < DP_E_UNSAFE)
        return dp_fail(inside, DP_E_RUN, "a function of the stage returned %d, which is not a status", rc);
    return dp_fail(inside, (enum dp_status)rc, "%s",
                   error->message[0] != '\0' ? error->message : "a function of the stage failed and did not say why");
}
