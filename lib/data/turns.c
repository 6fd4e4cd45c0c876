#include "data/turns.h"

#include <signal.h>

void dp_turns_open(struct dp_turns *t)
{
    pthread_mutex_init(&t->mutex, NULL);
    pthread_cond_init(&t->next, NULL);
    t->passed = 0;
}

void dp_turns_close(struct dp_turns *t)
{
    pthread_cond_destroy(&t->next);
    pthread_mutex_destroy(&t->mutex);
}

void dp_turns_wait(struct dp_turns *t, size_t turn)
{
    pthread_mutex_lock(&t->mutex);
    while (t->passed != turn)
        pthread_cond_wait(&t->next, &t->mutex);
    pthread_mutex_unlock(&t->mutex);
}

void dp_turns_pass(struct dp_turns *t)
{
    pthread_mutex_lock(&t->mutex);
    t->passed++;
    pthread_cond_broadcast(&t->next);
    pthread_mutex_unlock(&t->mutex);
}

struct start {
    void (*work)(void *);
    void *worker;
};

static void *begin(void *start)
{
    const struct start *s = start;
    s->work(s->worker);
    return NULL;
}

void dp_turns_run(void (*work)(void *), void *worker, size_t size, size_t count)
{
    pthread_t thread[count];
    struct start start[count];
    sigset_t all, before;
    size_t started = 1;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (bool more = true; started < count && more; started += more) {
        start[started] = (struct start){work, (char *)worker + started * size};
        more = pthread_create(&thread[started], NULL, begin, &start[started]) == 0;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    work(worker);
    for (size_t i = 1; i < started; i++)
        pthread_join(thread[i], NULL);
}
