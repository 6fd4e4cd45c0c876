#include "port/endpoint.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <libgen.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/mem.h"
#include "port/link.h"

#define TCP "tcp://"
#define IPC "ipc://"

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

bool dp_link_is(const char *spec)
{
    spec += *spec == '@' || *spec == '>';
    return starts(spec, TCP) || starts(spec, IPC);
}

/* Only the numbers 127.0.0.0/8 and ::1: what a name means is decided elsewhere. */
static bool is_loopback(const char *host)
{
    struct in_addr four;
    struct in6_addr six;
    if (inet_pton(AF_INET, host, &four) == 1)
        return ntohl(four.s_addr) >> 24 == 127;
    return inet_pton(AF_INET6, host, &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six);
}

/* Digits that are a port number, and nothing else. */
static bool is_port(const char *text)
{
    size_t length = strlen(text);
    return length >= 1 && length <= 5 && strspn(text, "0123456789") == length && atoi(text) >= 1 && atoi(text) <= 65535;
}

/* rest: HOST:PORT. localhost is replaced by 127.0.0.1, since libzmq does not bind to names. */
static int parse_tcp(struct dp_endpoint *e, const char *spec, const char *rest, struct dp_err *err)
{
    char host[256];
    struct in6_addr six;
    const char *colon = strrchr(rest, ':');
    bool brackets = rest[0] == '[' && colon != NULL && colon > rest + 1 && colon[-1] == ']';
    if (colon == NULL || !is_port(colon + 1))
        return dp_fail(err, DP_E_USAGE, "%s: no port number after a colon", spec);
    int length = (int)(colon - rest) - 2 * brackets;
    if (length <= 0 || (size_t)length >= sizeof host)
        return dp_fail(err, DP_E_USAGE, "%s: no host", spec);
    snprintf(host, sizeof host, "%.*s", length, rest + brackets);
    if (strcmp(host, "localhost") == 0)
        strcpy(host, "127.0.0.1");
    e->ipv6 = inet_pton(AF_INET6, host, &six) == 1;
    bool all = strcmp(host, "*") == 0;
    if (e->ipv6 != brackets ||
        (!e->ipv6 && !all && strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_") != strlen(host)))
        return dp_fail(err, DP_E_USAGE, "%s: the host is a name, a number, or an IPv6 number in brackets", spec);
    if (all && !e->bind)
        return dp_fail(err, DP_E_USAGE, "%s: nobody can connect to all hosts", spec);
    e->here = is_loopback(host);
    e->address = dp_format(brackets ? TCP "[%s]%s" : TCP "%s%s", host, colon);
    return DP_OK;
}

/* libzmq gives @ and * a special meaning: sockets without a file, which everybody can reach. */
static int parse_ipc(struct dp_endpoint *e, const char *spec, const char *path, struct dp_err *err)
{
    struct sockaddr_un address;
    if (path[0] == '\0' || path[0] == '@' || strcmp(path, "*") == 0 || path[strlen(path) - 1] == '/')
        return dp_fail(err, DP_E_USAGE, "%s: no path of a socket", spec);
    if (strlen(path) >= sizeof address.sun_path)
        return dp_fail(err, DP_E_USAGE, "%s: a path of more than %zu bytes", spec, sizeof address.sun_path - 1);
    e->here = true;
    e->address = dp_new(strlen(IPC) + strlen(path) + 1, 1);
    strcpy(e->address, IPC);
    e->path = strcpy(e->address + strlen(IPC), path);
    return DP_OK;
}

int dp_endpoint_parse(struct dp_endpoint *endpoint, const char *spec, bool binds_by_default, struct dp_err *err)
{
    *endpoint = (struct dp_endpoint){.bind = *spec == '@' || (binds_by_default && *spec != '>')};
    const char *rest = spec + (*spec == '@' || *spec == '>');
    if (starts(rest, TCP))
        return parse_tcp(endpoint, spec, rest + strlen(TCP), err);
    if (starts(rest, IPC))
        return parse_ipc(endpoint, spec, rest + strlen(IPC), err);
    return dp_fail(err, DP_E_USAGE, "%s: neither tcp://HOST:PORT nor ipc://PATH", spec);
}

void dp_endpoint_free(struct dp_endpoint *endpoint)
{
    free(endpoint->address);
    *endpoint = (struct dp_endpoint){0};
}

static int open_directory(const struct dp_endpoint *e, struct dp_err *err)
{
    char copy[sizeof((struct sockaddr_un *)0)->sun_path];
    snprintf(copy, sizeof copy, "%s", e->path);
    const char *directory = dirname(copy);
    int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return dp_fail(err, DP_E_RUN, "%s: there is no such directory (mkdir -m 700 %s)", e->address, directory);
    return fd >= 0 ? fd : dp_fail_errno(err, errno, "%s: cannot open the directory", e->address);
}

int dp_endpoint_check(const struct dp_endpoint *endpoint, struct dp_err *err)
{
    struct stat st;
    int fd = open_directory(endpoint, err);
    if (fd < 0)
        return fd;
    bool private = fstat(fd, &st) == 0 && st.st_uid == geteuid() && (st.st_mode & 077) == 0;
    close(fd);
    return private
               ? DP_OK
               : dp_fail(err, DP_E_UNSAFE,
                         "%s: others may reach a socket there: put it into a directory of your own of mode 0700 (mkdir -m 700)",
                         endpoint->address);
}

/* Whether a process listens there. If the connection is refused, a process that died has left the file. */
static bool answers(const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    bool nobody =
        fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) != 0 && (errno == ENOENT || errno == ECONNREFUSED);
    if (fd >= 0)
        close(fd);
    return !nobody;
}

/* Serialises processes that want the same path. *hold is -1, or a descriptor to close. */
static int lock_directory(const struct dp_endpoint *e, int *hold, struct dp_err *err)
{
    *hold = open_directory(e, err);
    if (*hold < 0)
        return *hold;
    while (flock(*hold, LOCK_EX) != 0)
        if (errno != EINTR)
            return dp_fail_errno(err, errno, "%s: cannot lock the directory", e->address);
    return DP_OK;
}

int dp_endpoint_claim(const struct dp_endpoint *endpoint, int *hold, struct dp_err *err)
{
    struct stat st;
    int rc = lock_directory(endpoint, hold, err);
    if (rc == DP_OK && lstat(endpoint->path, &st) == 0 && !S_ISSOCK(st.st_mode))
        rc = dp_fail(err, DP_E_RUN, "%s: there is a file of that name, which is not a socket", endpoint->address);
    if (rc == DP_OK && answers(endpoint->path))
        rc = dp_fail(err, DP_E_RUN, "%s: the address is in use", endpoint->address);
    return rc;
}

void dp_endpoint_release(const struct dp_endpoint *endpoint)
{
    struct dp_err unused;
    struct stat st;
    int hold;
    if (lock_directory(endpoint, &hold, &unused) == DP_OK && lstat(endpoint->path, &st) == 0 && S_ISSOCK(st.st_mode) &&
        !answers(endpoint->path))
        unlink(endpoint->path);
    if (hold >= 0)
        close(hold);
}
