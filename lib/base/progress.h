/* Progress on a stream: a bar on a terminal, plain lines elsewhere when asked for. */
#pragma once

#include "base/c.h"

enum dp_progress_mode { DP_PROGRESS_AUTO, DP_PROGRESS_BAR, DP_PROGRESS_PLAIN, DP_PROGRESS_NONE };
#define DP_PROGRESS_CHOICES "auto|bar|plain|none"

struct dp_progress {
    FILE *stream;
    enum dp_progress_mode mode;
    double started, shown;
    int64_t from, done, total; /* from: laps of an earlier run that this one continues */
    double epsilon;
};

/* auto: a bar when stream is a terminal, else nothing. Announces the first lap, which takes seconds when the gate plans very
 * many laps. */
void dp_progress_start(struct dp_progress *progress, FILE *stream, enum dp_progress_mode mode, int64_t from, int64_t total);

/* Shows "lap 120/1220  epsilon 0.31  4031 laps/s  0:01 left" at most ten times a second (a plain line every ten
   seconds), in the width of the terminal. epsilon < 0 is left out. */
void dp_progress_show(struct dp_progress *progress, int64_t done, double epsilon);

/* The last lap's line, with the time of all laps. */
void dp_progress_end(struct dp_progress *progress);

/* The text to print before a line on `stream`: it clears the terminal's line, so that the text does not follow the progress bar
 * of another command. "" if `stream` or stderr is not a terminal that can do so. */
const char *dp_progress_clear(FILE *stream);
