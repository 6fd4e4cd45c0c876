/* Progress on a descriptor: a bar on a terminal, plain lines elsewhere when asked for. It is of the laps of a run, or of the
 * rows that a command works through. */
#pragma once

#include "base/c.h"

enum dp_progress_mode { DP_PROGRESS_AUTO, DP_PROGRESS_BAR, DP_PROGRESS_PLAIN, DP_PROGRESS_NONE };
#define DP_PROGRESS_CHOICES "auto|bar|plain|none"

struct dp_progress {
    int fd;
    enum dp_progress_mode mode;
    double started, shown;
    int64_t from, done, total; /* from: laps of an earlier run that this one continues */
    double epsilon;
};

/* auto: a bar when fd is a terminal, else nothing. Announces the first lap, which takes seconds when the gate plans very
 * many laps. */
void dp_progress_start(struct dp_progress *progress, int fd, enum dp_progress_mode mode, int64_t from, int64_t total);

/* Shows "lap 120/1220  epsilon 0.31  4031 laps/s  0:01 left" at most ten times a second (a plain line every ten
   seconds), in the width of the terminal. epsilon < 0 is left out. */
void dp_progress_show(struct dp_progress *progress, int64_t done, double epsilon);

/* The last lap's line, with the time of all laps. */
void dp_progress_end(struct dp_progress *progress);

/* From now on this process shows on standard error how far it is with its input, if that is a terminal: "dp-import: 1200000
 * rows, 45 of 137 MB, 0:12 left", from the second second on. A process has one such line, so that readers need nothing to tell
 * it. prefix: "dp-import: ". */
void dp_progress_watch(const char *prefix, bool quiet);

/* How far the current part is; total 0: not known. They do nothing without dp_progress_watch. One thread calls them at a
 * time. */
void dp_progress_rows(uint64_t done, uint64_t total);
void dp_progress_bytes(uint64_t done, uint64_t total);

/* The end of the part: its line goes. */
void dp_progress_over(void);

/* Before a line is written to fd: clears the terminal's line, so that the line does not follow the progress bar of another
 * command. Nothing if fd or stderr is not a terminal that can do so. */
void dp_progress_clear(int fd);
