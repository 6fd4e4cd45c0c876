#include "base/interrupt.h"

#include <signal.h>

static volatile sig_atomic_t pending;

static void note(int number)
{
    pending = number;
}

void dp_interrupt_catch(void)
{
    struct sigaction action, old;
    const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    memset(&action, 0, sizeof action);
    action.sa_handler = note; /* SA_RESTART is not set: a signal also interrupts a read from a pipe */
    for (int i = 0; i < 4; i++)
        if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
}

bool dp_interrupt_pending(void)
{
    return pending != 0;
}

volatile sig_atomic_t *dp_interrupt_flag(void)
{
    return &pending;
}

void dp_interrupt_rethrow(void)
{
    if (pending == 0)
        return;
    signal(pending, SIG_DFL);
    raise(pending);
}
