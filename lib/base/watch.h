/* A thread that sleeps until the reader of a pipe or a socket is gone. With it, another thread can wait in a plain read of its
 * input; otherwise it would need a poll before each read. */
#pragma once

#include "base/c.h"

struct dp_watch;

/* Watches descriptor fd, which has to outlive the watch, for the calling thread. NULL if no thread can be started: then the
 * caller has to poll. */
struct dp_watch *dp_watch_new(int fd);

/* Between dp_watch_begin and dp_watch_end, a system call in which that thread waits ends with EINTR once the reader is gone.
 * Returns false, and begins nothing, if the reader is gone already. */
bool dp_watch_begin(struct dp_watch *watch);
void dp_watch_end(struct dp_watch *watch);

/* watch may be NULL. */
void dp_watch_free(struct dp_watch *watch);
