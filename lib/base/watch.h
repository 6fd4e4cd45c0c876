/* A thread that sleeps until nobody reads a pipe or a socket any more. With it whoever reads other input waits in one read,
   where a poll would have to come before each. */
#ifndef DP_BASE_WATCH_H
#define DP_BASE_WATCH_H

#include <stdbool.h>

struct dp_watch;

/* Watches descriptor fd, which has to outlive the watch, for the thread that calls this. NULL where there is no thread to be
   had: then one polls. */
struct dp_watch *dp_watch_new(int fd);

/* Between the two a system call of that thread ends with EINTR once the reader is gone, if it waits. false, and nothing has
   begun: it is gone already. */
bool dp_watch_begin(struct dp_watch *watch);
void dp_watch_end(struct dp_watch *watch);

/* watch may be NULL. */
void dp_watch_free(struct dp_watch *watch);

#endif
