/* Where peers meet: a directory with a socket and with the keys of two that trust each other and of a stranger. */
#pragma once

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "port/keys.h"

struct room {
    char directory[64];
    char ipc[96], tcp[64];
    char gate[96], site[96], stranger[96]; /* directories of keys */
};

/* A port number that is not in use. */
static inline int free_port(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &size), 0);
    close(fd);
    return ntohs(a.sin_port);
}

static int make_room(void **state)
{
    struct room *r = calloc(1, sizeof *r);
    struct dp_key_pair gate, site, stranger;
    assert_non_null(r);
    strcpy(r->directory, "/tmp/dpline-room-XXXXXX");
    assert_non_null(mkdtemp(r->directory));
    snprintf(r->ipc, sizeof r->ipc, "ipc://%s/socket", r->directory);
    snprintf(r->tcp, sizeof r->tcp, "tcp://127.0.0.1:%d", free_port());
    snprintf(r->gate, sizeof r->gate, "%s/gate", r->directory);
    snprintf(r->site, sizeof r->site, "%s/site", r->directory);
    snprintf(r->stranger, sizeof r->stranger, "%s/stranger", r->directory);
    assert_int_equal(dp_keys_make(r->gate, &gate, NULL), 0);
    assert_int_equal(dp_keys_make(r->site, &site, NULL), 0);
    assert_int_equal(dp_keys_make(r->stranger, &stranger, NULL), 0);
    assert_int_equal(dp_keys_trust(r->gate, "site-1", site.public, NULL), 0);
    assert_int_equal(dp_keys_trust(r->site, "gate", gate.public, NULL), 0);
    assert_int_equal(dp_keys_trust(r->stranger, "gate", gate.public, NULL), 0);
    *state = r;
    return 0;
}

static int clear_room(void **state)
{
    struct room *r = *state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", r->directory);
    int rc = system(command);
    free(r);
    return rc;
}

static void count_lines(void *self, const char *sentence)
{
    int *lines = self;
    (void)sentence;
    ++*lines;
}
