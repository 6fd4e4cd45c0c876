/* Which implementation opens a port. */
#include <fcntl.h>
#include <unistd.h>

#include "port/port.h"

int dp_port_open_with(struct dp_port **port, const char *spec, enum dp_direction direction,
                      const struct dp_port_setting *setting, struct dp_err *err)
{
    if (direction == DP_IN && strcmp(spec, "-") == 0 && isatty(STDIN_FILENO))
        return dp_fail(err, DP_E_USAGE,
                       "no input: standard input is a terminal, and frames come from a pipe or a file (try --help)");
    if (strcmp(spec, "-") == 0) {
        int fd = fcntl(direction == DP_IN ? STDIN_FILENO : STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
        const char *name = direction == DP_IN ? "standard input" : "standard output";
        if (fd < 0)
            return dp_fail_errno(err, errno, "cannot use %s", name);
        dp_port_open_fd(port, fd, name, direction);
        return DP_OK;
    }
    if (strstr(spec, "://") != NULL)
        return dp_port_open_stream(port, spec, direction, setting, err);
    return dp_port_open_file(port, spec, direction, err);
}

int dp_port_open(struct dp_port **port, const char *spec, enum dp_direction direction, struct dp_err *err)
{
    return dp_port_open_with(port, spec, direction, NULL, err);
}
