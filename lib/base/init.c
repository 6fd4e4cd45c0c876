#include "base/init.h"

#include <gsl/gsl_errno.h>
#include <pthread.h>

#include "base/json.h"
#include "base/spare.h"

static void once(void)
{
    gsl_set_error_handler_off();
    dp_json_watch();
    dp_spare_open();
}

void dp_init(void)
{
    static pthread_once_t done = PTHREAD_ONCE_INIT;
    pthread_once(&done, once);
}
