/* One stage as a process, which reads frames from one port and writes frames to another. */
#pragma once

#include "stages/stage.h"

/* main() of a stage executable. After a failure, prints the message on stderr and passes an error frame downstream, so that
 * only the stage that failed prints a message. Returns the exit status. */
int dp_stage_main(const struct dp_stage_class *class, int argc, char **argv);
