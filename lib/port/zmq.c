#include "port/zmq.h"

#include <dlfcn.h>
#include <pthread.h>

#define FILE_OF_LIBRARY "libzmq.so.5"

struct dp_zmq dp_zmq;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool loaded;

/* The table of functions, out of that library; NULL, or the name of one that it does not have. */
static const char *find_all(void *library)
{
#define FIND(name)                                                                                                             \
    if ((*(void **)&dp_zmq.name = dlsym(library, "zmq_" #name)) == NULL)                                                       \
        return "zmq_" #name;
    DP_ZMQ(FIND)
#undef FIND
    return NULL;
}

int dp_zmq_load(struct dp_err *err)
{
    int rc = DP_OK;
    pthread_mutex_lock(&lock);
    if (!loaded) {
        void *library = dlopen(FILE_OF_LIBRARY, RTLD_NOW | RTLD_LOCAL);
        const char *missing = library != NULL ? find_all(library) : NULL;
        if (library == NULL)
            rc = dp_fail(err, DP_E_RUN, "cannot load libzmq: %s", dlerror());
        else if (missing != NULL)
            rc = dp_fail(err, DP_E_RUN, "%s has no %s", FILE_OF_LIBRARY, missing);
        loaded = rc == DP_OK;
    }
    pthread_mutex_unlock(&lock);
    return rc;
}
