/* Threads that take turns: what each does is done at the same time, and what has an order, in turns. */
#pragma once

#include <pthread.h>

#include "base/c.h"

/* Turns 0, 1, … which are passed one after another. */
struct dp_turns {
    pthread_mutex_t mutex;
    pthread_cond_t next;
    size_t passed;
};

void dp_turns_open(struct dp_turns *turns);
void dp_turns_close(struct dp_turns *turns);
void dp_turns_wait(struct dp_turns *turns, size_t turn); /* until it is that turn; its owner passes it when it is done */
void dp_turns_pass(struct dp_turns *turns);

/* Calls work(worker[0]), … work(worker[count − 1]) at the same time, each with one of the workers of `size` bytes, and returns
 * when all have returned. The calling thread is one of them, and the one that gets signals. If the system has fewer threads,
 * the last workers are left out: the others must do all that there is. */
void dp_turns_run(void (*work)(void *worker), void *worker, size_t size, size_t count);
