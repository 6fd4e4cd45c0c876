#include <signal.h>

#include "base/cli.h"
#include "base/interrupt.h"
#include "shards/worker.h"

static struct dp_worker worker = {.warn.say = dp_cli_warn_of};

/* The first signal ends the wait, or the work of processes; a second one ends everything. The finished work is in the
   checkpoint. */
static void on_signal(int number)
{
    worker.interrupt = number;
    signal(number, SIG_DFL);
}

int main(int argc, char **argv)
{
    const struct dp_command command = {"dp-worker", "[--] 'STAGE | STAGE …'",
                                       "Contribute the rows of this site to a run at another place", dp_worker_option_table,
                                       NULL};
    struct dp_err err = {0};
    int operand, status;
    if (!dp_cli_start(&command, &worker.options, NULL, argc, argv, &operand, &status))
        return status;
    if (argc - operand != 1)
        return dp_cli_finish(
            "dp-worker",
            dp_fail(&err, DP_E_USAGE, argc == operand ? "no pipeline (try --help)" : "the pipeline is one argument: quote it"),
            &err);
    worker.pipeline = argv[operand];
    dp_interrupt_catch_by(on_signal);
    signal(SIGPIPE, SIG_IGN); /* a pipeline that dies must not end this process: the gather must be told */
    status = dp_cli_finish("dp-worker", dp_worker_run(&worker, &err), &err);
    dp_interrupt_end_by(worker.interrupt);
    return status;
}
