#include "base/cli.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/init.h"
#include "base/isa.h"
#include "base/mapped.h"
#include "base/progress.h"
#include "base/terminal.h"
#include "base/version.h"

/* The first file of this name in PATH. */
static bool in_path(const char *path, const char *name, struct stat *found)
{
    char file[2 * PATH_MAX];
    for (const char *at = path; at != NULL; at = *at == ':' ? at + 1 : NULL) {
        size_t length = strcspn(at, ":");
        snprintf(file, sizeof file, "%.*s/%s", (int)length, at, name);
        if (access(file, X_OK) == 0)
            return stat(file, found) == 0;
        at += length;
    }
    return false;
}

/* A shell that this program starts finds the programs of this version first. */
static void own_programs_first(void)
{
    char own[PATH_MAX], path[32768];
    const char *given = getenv("PATH");
    struct stat self, found;
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    if (length <= 0 || given == NULL || stat("/proc/self/exe", &self) != 0)
        return;
    own[length] = '\0';
    char *name = strrchr(own, '/');
    *name++ = '\0';
    if (in_path(given, name, &found) && found.st_dev == self.st_dev && found.st_ino == self.st_ino)
        return;
    int written = snprintf(path, sizeof path, "%s:%s", own, given);
    if (written > 0 && (size_t)written < sizeof path)
        setenv("PATH", path, 1);
}

void dp_cli_guard(void)
{
    const struct rlimit none = {0, 0};
    int fd;
    dp_init();
    setrlimit(RLIMIT_CORE, &none); /* rows and keys are in memory, and would be in the file */
    unsetenv("POSIXLY_CORRECT");   /* getopt would take the options after an operand for operands */
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
    own_programs_first();
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
        if (rc >= 0 || err->message[0] == '\0') {
            fprintf(stderr, "%s: cannot write standard output: %s\n", name, strerror(errno));
            return 1;
        }
    }
    return dp_exit_status(rc);
}
