#include "base/init.h"

#include <gsl/gsl_errno.h>
#include <pthread.h>
#include <sodium.h>

#include "base/mem.h"

static void once(void)
{
    gsl_set_error_handler_off();
    const int ready = sodium_init(); /* code that draws keys calls it again, and checks */
    (void)ready;
    dp_mem_open();
}

void dp_init(void)
{
    static pthread_once_t done = PTHREAD_ONCE_INIT;
    pthread_once(&done, once);
}
