#include <signal.h>
#include <string.h>

#include "base/cli.h"
#include "stage/loop.h"

static volatile sig_atomic_t stop, group;

/* The child has a process group of its own, so that ^C ends it once, here. */
static void on_signal(int number)
{
    stop = number;
    if (group > 0)
        kill(-(pid_t)group, SIGTERM);
}

static void end_by(int number)
{
    signal(number, SIG_DFL);
    raise(number);
}

int main(int argc, char **argv)
{
    const struct dp_command command = {"dp-loop", "[--] 'STAGE | STAGE …'",
                                       "Hand a model to a pipeline, lap after lap", dp_loop_option_table, NULL};
    struct dp_loop loop = {.progress = stderr, .warn = dp_cli_warn, .stop = &stop, .group = &group};
    struct dp_err err = {0};
    int operand, status;
    if (!dp_cli_start(&command, &loop.options, NULL, argc, argv, &operand, &status))
        return status;
    if (argc - operand > 1) {
        dp_fail(&err, DP_E_USAGE, "the child pipeline is one argument: quote it");
        return dp_cli_finish("dp-loop", DP_E_USAGE, &err);
    }
    loop.pipeline = operand < argc ? argv[operand] : NULL;

    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN); /* a child that dies must not take us along; our own reader is looked after below */
    int rc = dp_loop_run(&loop, &err);
    if (loop.reader_gone)
        end_by(SIGPIPE);
    status = dp_cli_finish("dp-loop", rc, &err);
    if (stop)
        end_by(stop);
    return status;
}
