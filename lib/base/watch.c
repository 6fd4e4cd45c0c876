#include "base/watch.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/mem.h"

#define STACK ((size_t)1 << 16) /* the thread calls poll and little else */
#define AGAIN_MS 5              /* a signal may arrive just before the wait that it should end, so it is sent again */

struct dp_watch {
    pthread_t thread, waiter;
    int fd, stop;
    atomic_bool waits, gone;
};

static void ignore(int number)
{
    (void)number;
}

/* Without requested events, poll waits only for the end of the reader. */
static void *look(void *self)
{
    struct dp_watch *w = self;
    struct pollfd items[2] = {{.fd = w->stop, .events = POLLIN}, {.fd = w->fd}};
    while (items[0].revents == 0) {
        bool gone = atomic_load(&w->gone);
        if (poll(items, gone ? 1 : 2, gone ? AGAIN_MS : -1) < 0 && errno != EINTR && errno != EAGAIN)
            break;
        if (items[1].revents != 0)
            atomic_store(&w->gone, true);
        if (atomic_load(&w->gone) && atomic_load(&w->waits))
            pthread_kill(w->waiter, SIGURG);
    }
    return NULL;
}

/* The new thread blocks all signals: they are for the existing threads. */
static int start(struct dp_watch *w)
{
    sigset_t all, before;
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return -1;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_setstacksize(&attributes, STACK); /* if the size is too small, the default stays */
    int rc = pthread_create(&w->thread, &attributes, look, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return rc;
}

struct dp_watch *dp_watch_new(int fd)
{
    struct sigaction action = {.sa_handler = ignore}; /* without SA_RESTART: a read gives up */
    struct dp_watch *w = dp_new(1, sizeof *w);
    w->fd = fd;
    w->waiter = pthread_self();
    w->stop = eventfd(0, EFD_CLOEXEC);
    if (w->stop >= 0 && sigaction(SIGURG, &action, NULL) == 0 && start(w) == 0)
        return w;
    if (w->stop >= 0)
        close(w->stop);
    free(w);
    return NULL;
}

bool dp_watch_begin(struct dp_watch *w)
{
    atomic_store(&w->waits, true);
    if (!atomic_load(&w->gone))
        return true;
    atomic_store(&w->waits, false);
    return false;
}

void dp_watch_end(struct dp_watch *w)
{
    atomic_store(&w->waits, false);
}

void dp_watch_free(struct dp_watch *w)
{
    const uint64_t one = 1;
    if (w == NULL)
        return;
    while (write(w->stop, &one, sizeof one) < 0 && errno == EINTR)
        ;
    pthread_join(w->thread, NULL);
    close(w->stop);
    free(w);
}
