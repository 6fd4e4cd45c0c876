#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "base/cli.h"
#include "base/interrupt.h"
#include "runtime/loop.h"

#define TWICE 0.5  /* a signal repeated within these seconds counts once: timeout(1) sends it twice */
#define PATIENCE 5 /* seconds that a lap under way may still take after a signal */

static struct dp_interrupt interrupt;

/* The first signal asks for an end after the lap under way; a second one, or time, for an end at once. Stages in this process
 * cannot be interrupted, so a second signal ends the whole process. The child has a process group of its own, so that ^C
 * reaches it through us. */
static void on_signal(int number)
{
    static struct timespec first;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (number != SIGALRM && interrupt.stop == 0) {
        interrupt.stop = number;
        first = now;
        alarm(PATIENCE);
    } else if (number != SIGALRM &&
               (double)(now.tv_sec - first.tv_sec) + 1e-9 * (double)(now.tv_nsec - first.tv_nsec) < TWICE) {
        return;
    } else if (!interrupt.deaf) {
        interrupt.hurry = 1;
        alarm(1); /* sent again, because it may have arrived just before a wait */
    } else if (number != SIGALRM) {
        dp_interrupt_end_by(number);
    }
}

static void catch_signals(void)
{
    const int numbers[] = {SIGINT, SIGTERM, SIGQUIT, SIGHUP, SIGALRM};
    struct sigaction action = {.sa_handler = on_signal}, old;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (numbers[i] != SIGHUP || (sigaction(SIGHUP, NULL, &old) == 0 && old.sa_handler != SIG_IGN)) /* nohup(1) */
            sigaction(numbers[i], &action, NULL);
    signal(SIGPIPE, SIG_IGN); /* a child that dies must not end this process; our own reader is checked below */
}

int main(int argc, char **argv)
{
    const struct dp_command command = {"dp-loop", "[--] 'STAGE | STAGE …'", "Hand a model to a pipeline, lap after lap",
                                       dp_loop_option_table, NULL};
    struct dp_loop loop = {.progress = STDERR_FILENO, .warn.say = dp_cli_warn_of, .interrupt = &interrupt};
    struct dp_err err = {0};
    int operand, status;
    if (!dp_cli_start(&command, &loop.options, NULL, argc, argv, &operand, &status))
        return status;
    if (argc - operand > 1) {
        dp_fail(&err, DP_E_USAGE, "the child pipeline is one argument: quote it");
        return dp_cli_finish("dp-loop", DP_E_USAGE, &err);
    }
    loop.pipeline = operand < argc ? argv[operand] : NULL;

    catch_signals();
    int rc = dp_loop_run(&loop, &err);
    if (loop.reader_gone)
        dp_interrupt_end_by(SIGPIPE);
    status = dp_cli_finish("dp-loop", rc, &err);
    if (loop.interrupted)
        dp_interrupt_end_by(interrupt.stop);
    return status;
}
