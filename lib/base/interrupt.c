#include "base/interrupt.h"

#include <signal.h>

static volatile sig_atomic_t pending;

static void note(int number)
{
    pending = number;
}

void dp_interrupt_catch_by(void (*handler)(int number))
{
    const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct sigaction action = {.sa_handler = handler}, old; /* without SA_RESTART */
    for (int i = 0; i < 4; i++)
        if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
}

void dp_interrupt_end_by(int number)
{
    if (number == 0)
        return;
    signal(number, SIG_DFL);
    raise(number);
}

void dp_interrupt_catch(void)
{
    dp_interrupt_catch_by(note);
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
    dp_interrupt_end_by(pending);
}
