#include "base/cli.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/init.h"
#include "base/isa.h"
#include "base/mapped.h"
#include "base/progress.h"
#include "base/terminal.h"
#include "base/version.h"

void dp_cli_guard(void)
{
    const struct rlimit none = {0, 0};
    int fd;
    dp_init();
    setrlimit(RLIMIT_CORE, &none); /* rows and keys are in memory, and would be in the file */
    signal(SIGXFSZ, SIG_IGN);      /* if a file may not grow, write(2) fails and the error is reported */
    do
        fd = open("/dev/null", O_RDONLY);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd > STDERR_FILENO)
        close(fd);
    dp_mapped_guard();
    dp_terminal_guard();
}

bool dp_cli_start(const struct dp_command *command, void *values, void *common, int argc, char **argv, int *first_operand,
                  int *status)
{
    struct dp_err err = {0};
    dp_cli_guard();
    int rc = dp_option_parse(command, values, common, argc, argv, first_operand, &err);
    if (rc == DP_PARSE_RUN)
        rc = dp_isa_check(&err);
    if (rc == DP_PARSE_RUN)
        return true;
    *status = rc > 0 ? dp_cli_answer(command, rc) : dp_cli_finish(command->name, rc, &err);
    return false;
}

int dp_cli_answer(const struct dp_command *command, int code)
{
    struct dp_err err = {0};
    if (code == DP_PARSE_HELP)
        dp_option_help(command, stdout);
    else
        printf("%s (dpline) %s\n", command->name, DP_VERSION);
    return dp_cli_finish(command->name, DP_OK, &err);
}

void dp_cli_warn(const char *name, const char *sentence)
{
    dp_progress_clear(STDERR_FILENO);
    fprintf(stderr, "%s: warning: %s\n", name, sentence);
}

void dp_cli_warn_of(void *self, const char *name, const char *sentence)
{
    (void)self;
    dp_cli_warn(name, sentence);
}

void dp_cli_hear(void *name, const char *sentence)
{
    dp_cli_warn(name, sentence);
}

int dp_cli_finish(const char *name, int rc, struct dp_err *err)
{
    if (rc >= 0 && dp_mapped_check(false, err) != DP_OK)
        rc = DP_E_RUN;
    if (rc < 0 && err->message[0] != '\0') {
        char text[DP_ERR_MESSAGE_SIZE + 40];
        dp_err_at(err, name);
        fprintf(stderr, "%s\n", dp_err_text(err, text, sizeof text));
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        if (rc >= 0) {
            fprintf(stderr, "%s: cannot write standard output: %s\n", name, strerror(errno));
            return 1;
        }
    }
    return dp_exit_status(rc);
}
