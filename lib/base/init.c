#include "base/init.h"

#include <gsl/gsl_errno.h>
#include <pthread.h>

static void once(void)
{
    gsl_set_error_handler_off();
}

void dp_init(void)
{
    static pthread_once_t done = PTHREAD_ONCE_INIT;
    pthread_once(&done, once);
}
