/* Messages between peers: headers, addresses, keys, and peers that connect, leave and return. */
#include "unit.h"
#include "room.h"

#include <errno.h>
#include <fcntl.h>
#include <msgpack.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <zmq.h>

#include "base/clock.h"
#include "port/endpoint.h"
#include "port/header.h"
#include "port/link.h"

static const struct dp_security plain = {.plaintext = true};

static struct dp_link *open_link(const char *spec, bool bind, const struct dp_security *security)
{
    struct dp_link *link = NULL;
    struct dp_err err = {0};
    int rc = dp_link_open(&link, spec, bind, security, NULL, NULL, &err);
    if (rc != DP_OK)
        fail_msg("%s", err.message);
    return link;
}

/* Waits for an event of that kind, and skips others. */
static struct dp_link_event expect(struct dp_link *link, enum dp_link_event_kind kind)
{
    struct dp_link_event event;
    for (int i = 0; i < 100; i++) {
        assert_int_equal(dp_link_next(link, &event, 10, NULL, NULL), 0);
        if (event.kind == kind)
            return event;
        if (event.kind == DP_LINK_TIME)
            break;
    }
    fail_msg("no event %d in time", (int)kind);
    return event;
}

static void expect_silence(struct dp_link *link, double seconds)
{
    struct dp_link_event event;
    assert_int_equal(dp_link_next(link, &event, seconds, NULL, NULL), 0);
    assert_int_equal(event.kind, DP_LINK_TIME);
}

static void say(struct dp_link *link, int peer, uint8_t type, uint64_t sequence, const char *text)
{
    struct dp_link_header header = {.type = type, .sequence = sequence};
    assert_int_equal(dp_link_send(link, peer, &header, text, text != NULL ? strlen(text) : 0, NULL), 0);
}

TEST(headers_keep_what_they_hold)
{
    unsigned char bytes[DP_HEADER_SIZE + 1];
    struct dp_link_header h = {.type = 255,
                               .sequence = UINT64_MAX - 5,
                               .lap = 1LL << 40,
                               .shard = 7,
                               .shards = 2147483647,
                               .credit = 1LL << 62},
                          back;
    for (int i = 0; i < DP_LINK_ID; i++) {
        h.run[i] = (unsigned char)(200 + i);
        h.session[i] = (unsigned char)(i + 1);
    }
    dp_header_encode(bytes, &h);
    assert_memory_equal(bytes, "dpl\x01\xff\0\0\0", 8);
    assert_int_equal(bytes[40], 0xfa); /* little endian */
    assert_true(dp_header_decode(&back, bytes, DP_HEADER_SIZE));
    assert_int_equal(back.type, 255);
    assert_memory_equal(back.run, h.run, DP_LINK_ID);
    assert_memory_equal(back.session, h.session, DP_LINK_ID);
    assert_true(back.sequence == h.sequence && back.lap == h.lap && back.shard == 7 && back.shards == h.shards &&
                back.credit == h.credit);
    assert_false(dp_header_decode(&back, bytes, DP_HEADER_SIZE - 1));
    assert_false(dp_header_decode(&back, bytes, DP_HEADER_SIZE + 1));
    for (int i = 0; i < 8; i++) { /* each byte before the type */
        bytes[i] ^= 1;
        assert_int_equal(dp_header_decode(&back, bytes, DP_HEADER_SIZE), i == 4);
        bytes[i] ^= 1;
    }
    struct dp_link_header any = {.lap = -1};
    dp_header_encode(bytes, &any);
    assert_true(dp_header_decode(&back, bytes, DP_HEADER_SIZE) && back.lap == -1);
    struct dp_link_header wrong[] = {h, h, h, h, h};
    wrong[0].lap = -2;
    wrong[1].lap = (1LL << 40) + 1;
    wrong[2].shard = -1;
    wrong[3].shards = 6;
    wrong[4].credit = -1;
    for (size_t i = 0; i < 5; i++) {
        dp_header_encode(bytes, &wrong[i]);
        assert_false(dp_header_decode(&back, bytes, DP_HEADER_SIZE));
    }
}

TEST(addresses_say_where_and_how)
{
    const struct {
        const char *spec, *address;
        bool bind_in, bind_out, here;
    } good[] = {
        {"tcp://127.0.0.1:5555", "tcp://127.0.0.1:5555", true, false, true},
        {"@tcp://*:1", "tcp://*:1", true, true, false},
        {">tcp://gate.example.org:65535", "tcp://gate.example.org:65535", false, false, false},
        {"tcp://localhost:80", "tcp://127.0.0.1:80", true, false, true},
        {"tcp://127.0.0.1.example.org:80", "tcp://127.0.0.1.example.org:80", true, false, false},
        {"tcp://127.255.0.9:80", "tcp://127.255.0.9:80", true, false, true},
        {"tcp://[::1]:80", "tcp://[::1]:80", true, false, true},
        {"@tcp://[fe80::1]:80", "tcp://[fe80::1]:80", true, true, false},
        {"tcp://192.0.2.1:80", "tcp://192.0.2.1:80", true, false, false},
        {"ipc://a", "ipc://a", true, false, true},
        {">ipc:///run/user/1/a b", "ipc:///run/user/1/a b", false, false, true},
    };
    const char *bad[] = {
        "udp://1.2.3.4:5",  "tcp://",        "tcp://:5",       "tcp://host",       "tcp://host:",   "tcp://host:0",
        "tcp://host:65536", "tcp://host:+5", "tcp://host:5 ",  "tcp://ho st:5",    "tcp://::1:5",   "tcp://[1.2.3.4]:5",
        "tcp://[::1:5",     ">tcp://*:5",    "tcp://a;b:5",    "ipc://",           "ipc://@hidden", "ipc://*",
        "ipc://a/",         "@@ipc://a",     "tcp://host:5/x", "tcp://host:555555"};
    struct dp_endpoint e;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(dp_link_is(good[i].spec));
        for (int in = 0; in < 2; in++) {
            if (in && good[i].spec[0] == 't' && strchr(good[i].spec, '*') != NULL)
                continue;
            assert_int_equal(dp_endpoint_parse(&e, good[i].spec, in, &err), 0);
            assert_string_equal(e.address, good[i].address);
            assert_int_equal(e.bind, in ? good[i].bind_in : good[i].bind_out);
            assert_int_equal(e.here, good[i].here);
            dp_endpoint_free(&e);
        }
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (dp_endpoint_parse(&e, bad[i], false, &err) != DP_E_USAGE)
            fail_msg("%s is taken for an address", bad[i]);
        dp_endpoint_free(&e);
    }
    char path[200] = "ipc://";
    memset(path + 6, 'x', 108);
    assert_int_equal(dp_endpoint_parse(&e, path, false, &err), DP_E_USAGE);
    dp_endpoint_free(&e);
    assert_false(dp_link_is("a/file") || dp_link_is("-") || dp_link_is("@file") || dp_link_is("udp://a:1"));
}

TEST_IN(keys_are_for_their_user_alone, make_room, clear_room)
{
    struct room *r = *state;
    struct dp_key_pair pair, again;
    struct dp_key_trusted *list;
    size_t count;
    char path[128], key[DP_KEY_TEXT];
    assert_int_equal(dp_keys_make(r->gate, &pair, &err), DP_E_USAGE); /* the pair is never replaced */
    assert_int_equal(dp_keys_own(r->gate, &pair, &err), 0);
    assert_int_equal(dp_keys_own(r->gate, &again, &err), 0);
    assert_string_equal(pair.secret, again.secret);
    assert_int_equal(zmq_curve_public(key, pair.secret), 0);
    assert_string_equal(key, pair.public);
    assert_int_equal(dp_keys_trust(r->gate, "site-1", pair.public, &err), DP_E_USAGE);
    assert_int_equal(dp_keys_own(r->site, &again, &err), 0);
    assert_int_equal(dp_keys_trust(r->gate, "again", again.public, &err), DP_E_USAGE); /* one key, one name */
    assert_int_equal(dp_keys_trust(r->gate, "a b", pair.public, &err), DP_E_USAGE);
    assert_int_equal(dp_keys_trust(r->gate, "", pair.public, &err), DP_E_USAGE);
    assert_int_equal(dp_keys_trust(r->gate, "short", "abc", &err), DP_E_USAGE);
    assert_int_equal(dp_keys_trust(r->gate, "other", pair.public, &err), 0);
    assert_int_equal(dp_keys_trusted(r->gate, &list, &count, &err), 0);
    assert_int_equal(count, 2);
    assert_string_equal(list[1].name, "other");
    assert_string_equal(list[1].key, pair.public);
    free(list);
    assert_int_equal(dp_keys_forget(r->gate, "nobody", &err), DP_E_USAGE);
    assert_int_equal(dp_keys_forget(r->gate, "site-1", &err), 0);
    assert_int_equal(dp_keys_trusted(r->gate, &list, &count, &err), 0);
    assert_int_equal(count, 1);
    free(list);
    struct stat st;
    const char *files[] = {"own", "trusted"};
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", r->gate, files[i]);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 0777, 0600);
        const mode_t open[] = {0640, 0604, 0620, 0602};
        for (int k = 0; k < 4; k++) {
            chmod(path, open[k]);
            assert_int_equal(i == 0 ? dp_keys_own(r->gate, &pair, &err) : dp_keys_trusted(r->gate, &list, &count, &err),
                             DP_E_UNSAFE);
            assert_non_null(strstr(err.message, "chmod 600"));
        }
        chmod(path, 0600);
    }
    chmod(r->gate, 0710);
    assert_int_equal(dp_keys_own(r->gate, &pair, &err), DP_E_UNSAFE);
    assert_int_equal(dp_keys_trusted(r->gate, &list, &count, &err), DP_E_UNSAFE);
    assert_int_equal(dp_keys_trust(r->gate, "more", again.public, &err), DP_E_UNSAFE);
    chmod(r->gate, 0700);
    snprintf(path, sizeof path, "%s/trusted", r->gate);
    FILE *f = fopen(path, "a");
    fprintf(f, "# a comment\n\nname-without-key\n");
    fclose(f);
    assert_int_equal(dp_keys_trusted(r->gate, &list, &count, &err), DP_E_RUN);
    assert_non_null(strstr(err.message, "trusted:4:"));
    snprintf(path, sizeof path, "%s/nowhere", r->directory);
    assert_int_equal(dp_keys_own(path, &pair, &err), DP_E_USAGE);
}

/* Sends in both directions, with a shared body, over a link that binds and a link that connects. */
static void talk(const char *spec, const struct dp_security *binds, const struct dp_security *connects, const char *name,
                 const char *server)
{
    struct dp_link *a = open_link(spec, true, binds), *b = open_link(spec, false, connects);
    assert_true(dp_link_binds(a) && !dp_link_binds(b) && dp_link_here(a) && dp_link_private(b));
    struct dp_link_event e = expect(b, DP_LINK_CAME);
    assert_string_equal(e.name, server);
    say(b, 0, 40, 1, "there");
    e = expect(a, DP_LINK_MESSAGE);
    assert_int_equal(e.peer, 1);
    assert_string_equal(e.name, name);
    assert_int_equal(e.header.type, 40);
    assert_memory_equal(e.header.session, dp_link_session(b), DP_LINK_ID);
    assert_int_equal(e.size, 5);
    assert_memory_equal(e.body, "there", 5);
    say(a, 1, 41, 2, NULL);
    e = expect(b, DP_LINK_MESSAGE);
    assert_true(e.body == NULL && e.size == 0 && e.header.sequence == 2 && e.peer == 0);
    assert_memory_equal(e.header.session, dp_link_session(a), DP_LINK_ID);
    assert_string_equal(e.name, server);
    struct dp_link_body *body;
    struct dp_link_header header = {.type = 42};
    body = dp_link_body_new();
    char *bytes = calloc(1, 3000000);
    msgpack_sbuffer_write(dp_link_body_buffer(body), bytes, 3000000);
    free(bytes);
    for (int i = 0; i < 2; i++)
        assert_int_equal(dp_link_send_shared(a, 1, &header, body, NULL), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(expect(b, DP_LINK_MESSAGE).size, 3000000);
    for (int i = 0; i < 1000 && !dp_link_body_idle(body); i++)
        usleep(1000);
    assert_true(dp_link_body_idle(body));
    dp_link_body_free(body);
    say(a, 9, 41, 2, NULL); /* no such peer */
    say(b, 0, 43, 3, "last words");
    dp_link_close(b, 1000);
    e = expect(a, DP_LINK_MESSAGE); /* first the message, then the news that the sender has gone */
    assert_int_equal(e.header.type, 43);
    e = expect(a, DP_LINK_GONE);
    assert_int_equal(e.peer, 1);
    assert_string_equal(e.name, name);
    say(a, 1, 41, 2, NULL);
    assert_int_equal(dp_link_dropped(a), 0);
    dp_link_close(a, 0);
}

TEST_IN(messages_go_there_and_back, make_room, clear_room)
{
    struct room *r = *state;
    struct dp_security gate = {.keys = r->gate}, site = {.keys = r->site}, named = {.keys = r->site, .server = "gate"};
    talk(r->ipc, &gate, &site, "", "");
    talk(r->tcp, &plain, &plain, "", "");
    talk(r->tcp, &gate, &site, "site-1", "gate");
    talk(r->tcp, &gate, &named, "site-1", "gate");
}

/* The end that connects notices that the other end has gone, and reconnects. */
TEST_IN(one_that_binds_may_go_and_come, make_room, clear_room)
{
    struct room *r = *state;
    struct dp_security gate = {.keys = r->gate}, site = {.keys = r->site};
    struct dp_link *b = open_link(r->tcp, false, &site), *a = open_link(r->tcp, true, &gate);
    expect(b, DP_LINK_CAME);
    dp_link_close(a, 0);
    expect(b, DP_LINK_GONE);
    a = open_link(r->tcp, true, &gate);
    expect(b, DP_LINK_CAME);
    say(b, 0, 20, 1, "again");
    assert_int_equal(expect(a, DP_LINK_MESSAGE).size, 5);
    dp_link_close(a, 0);
    dp_link_close(b, 0);
}

TEST_IN(only_keys_that_are_trusted_get_in, make_room, clear_room)
{
    struct room *r = *state;
    struct dp_security gate = {.keys = r->gate}, site = {.keys = r->site}, stranger = {.keys = r->stranger};
    int lines = 0, said = 0;
    struct dp_link *a, *b;
    struct dp_key_pair pair;
    assert_int_equal(dp_link_open(&a, r->tcp, true, &gate, count_lines, &lines, &err), 0);
    assert_int_equal(dp_link_open(&b, r->tcp, false, &stranger, count_lines, &said, &err), 0);
    say(b, 0, 20, 1, "let me in");
    expect_silence(a, 0.7);
    expect_silence(b, 0.1);
    assert_true(dp_link_dropped(a) > 0 && lines == 1 && dp_link_dropped(b) > 0 && said == 1);
    /* The list is read again, and a peer that was refused tries again. */
    assert_int_equal(dp_keys_own(r->stranger, &pair, &err), 0);
    assert_int_equal(dp_keys_trust(r->gate, "late", pair.public, &err), 0);
    expect(b, DP_LINK_CAME);
    say(b, 0, 20, 1, "let me in");
    assert_string_equal(expect(a, DP_LINK_MESSAGE).name, "late");
    dp_link_close(b, 0);
    /* The key counts, not its name: another peer has the name gate. */
    assert_int_equal(dp_keys_forget(r->site, "gate", &err), 0);
    assert_int_equal(dp_keys_trust(r->site, "gate", pair.public, &err), 0);
    b = open_link(r->tcp, false, &site);
    say(b, 0, 20, 1, "rows");
    expect_silence(b, 0.7);
    expect(a, DP_LINK_GONE);
    expect_silence(a, 0.1);
    dp_link_close(b, 0);
    /* An end with keys does not accept one without, in either direction. */
    b = open_link(r->tcp, false, &plain);
    say(b, 0, 20, 1, "rows");
    expect_silence(b, 0.5);
    expect_silence(a, 0.1);
    dp_link_close(a, 0);
    a = open_link(r->tcp, true, &plain);
    dp_link_close(b, 0);
    b = open_link(r->tcp, false, &site);
    say(b, 0, 20, 1, "rows");
    expect_silence(b, 0.5);
    expect_silence(a, 0.1);
    dp_link_close(a, 0);
    dp_link_close(b, 0);
}

TEST_IN(without_keys_nothing_opens, make_room, clear_room)
{
    struct room *r = *state;
    struct dp_link *link;
    char path[128];
    snprintf(path, sizeof path, "%s/none", r->directory);
    struct dp_security none = {.keys = path}, gate = {.keys = r->gate}, other = {.keys = r->gate, .server = "else"};
    assert_int_equal(dp_link_open(&link, r->tcp, true, &none, NULL, NULL, &err), DP_E_USAGE);
    assert_int_equal(dp_link_open(&link, r->tcp, false, &other, NULL, NULL, &err), DP_E_USAGE);
    assert_non_null(strstr(err.message, "trusts nobody as 'else'"));
    struct dp_key_pair pair;
    assert_int_equal(dp_keys_own(r->stranger, &pair, &err), 0);
    assert_int_equal(dp_keys_trust(r->gate, "two", pair.public, &err), 0);
    assert_int_equal(dp_link_open(&link, r->tcp, false, &gate, NULL, NULL, &err), DP_E_USAGE);
    assert_non_null(strstr(err.message, "say with --server"));
    assert_int_equal(dp_keys_forget(r->gate, "two", &err), 0);
    assert_int_equal(dp_keys_forget(r->gate, "site-1", &err), 0);
    assert_int_equal(dp_link_open(&link, r->tcp, true, &gate, NULL, NULL, &err), DP_E_USAGE);
    assert_non_null(strstr(err.message, "trusts nobody"));
    chmod(r->site, 0755);
    struct dp_security site = {.keys = r->site};
    assert_int_equal(dp_link_open(&link, r->tcp, false, &site, NULL, NULL, &err), DP_E_UNSAFE);
}

TEST_IN(an_address_is_for_one, make_room, clear_room)
{
    struct room *r = *state;
    struct dp_link *link, *first = open_link(r->ipc, true, &plain);
    struct stat st;
    for (int i = 0; i < 3; i++) {
        assert_int_equal(dp_link_open(&link, r->ipc, true, &plain, NULL, NULL, &err), DP_E_RUN);
        assert_non_null(strstr(err.message, "in use"));
    }
    struct dp_link *b = open_link(r->ipc, false, &plain);
    say(b, 0, 20, 1, NULL);
    expect(b, DP_LINK_CAME);
    say(b, 0, 20, 1, NULL);
    expect(first, DP_LINK_MESSAGE); /* An end with keys does not accept an end without keys, in either direction. */
    dp_link_close(b, 0);
    dp_link_close(first, 0);
    first = open_link(r->tcp, true, &plain);
    assert_int_equal(dp_link_open(&link, r->tcp, true, &plain, NULL, NULL, &err), DP_E_RUN);
    assert_non_null(strstr(err.message, "in use"));
    dp_link_close(first, 0);
    /* The socket file of a dead process may be replaced. */
    pid_t pid = fork();
    if (pid == 0) {
        _exit(-dp_link_open(&link, r->ipc, true, &plain, NULL, NULL, &err));
    }
    int status;
    waitpid(pid, &status, 0);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(stat(r->ipc + 6, &st), 0);
    first = open_link(r->ipc, true, &plain);
    dp_link_close(first, 0);
    assert_int_equal(stat(r->ipc + 6, &st), -1);
    /* A regular file must not be replaced. */
    close(open(r->ipc + 6, O_CREAT | O_WRONLY, 0600));
    assert_int_equal(dp_link_open(&link, r->ipc, true, &plain, NULL, NULL, &err), DP_E_RUN);
    assert_int_equal(stat(r->ipc + 6, &st), 0);
    unlink(r->ipc + 6);
    chmod(r->directory, 0755);
    assert_int_equal(dp_link_open(&link, r->ipc, true, &plain, NULL, NULL, &err), DP_E_UNSAFE);
    assert_int_equal(dp_link_open(&link, r->ipc, false, &plain, NULL, NULL, &err), DP_E_UNSAFE);
    assert_non_null(strstr(err.message, "mkdir -m 700"));
    chmod(r->directory, 0700);
}

/* If many processes want one path at the same time, one gets it. */
TEST_IN(of_those_that_race_one_wins, make_room, clear_room)
{
    struct room *r = *state;
    for (int round = 0; round < 10; round++) {
        int go[2], done[2], won = 0, status;
        pid_t pid[6];
        assert_int_equal(pipe(go), 0);
        assert_int_equal(pipe(done), 0);
        for (int i = 0; i < 6; i++) {
            pid[i] = fork();
            if (pid[i] == 0) {
                struct dp_link *link;
                char byte;
                close(go[1]);
                close(done[1]);
                if (read(go[0], &byte, 1) != 0)
                    _exit(3);
                int rc = dp_link_open(&link, r->ipc, true, &plain, NULL, NULL, &err);
                if (rc == DP_OK && read(done[0], &byte, 1) == 0)
                    _exit(0);
                _exit(rc == DP_E_RUN ? 1 : 2);
            }
        }
        close(go[0]);
        close(done[0]);
        close(go[1]);
        int lost = 0;
        while (lost < 5) { /* the winner keeps it until all others have ended */
            waitpid(-1, &status, 0);
            assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
            lost++;
        }
        close(done[1]);
        waitpid(-1, &status, 0);
        won += WIFEXITED(status) && WEXITSTATUS(status) == 0;
        assert_int_equal(won, 1);
    }
}

/* A socket of libzmq that sends arbitrary bytes. */
struct stranger {
    void *context, *socket;
};

static struct stranger open_stranger(const char *address, const void *id, size_t size)
{
    struct stranger s = {zmq_ctx_new(), NULL};
    int none = 0;
    s.socket = zmq_socket(s.context, ZMQ_DEALER);
    zmq_setsockopt(s.socket, ZMQ_LINGER, &none, sizeof none);
    if (size > 0)
        zmq_setsockopt(s.socket, ZMQ_ROUTING_ID, id, size);
    assert_int_equal(zmq_connect(s.socket, address), 0);
    return s;
}

static void close_stranger(struct stranger *s)
{
    zmq_close(s->socket);
    zmq_ctx_term(s->context);
}

/* A session belongs to a process and to the key with which it came: a peer with another trusted key cannot continue it. */
TEST_IN(a_session_stays_with_its_key, make_room, clear_room)
{
    struct room *r = *state;
    struct dp_security gate = {.keys = r->gate}, site = {.keys = r->site};
    struct dp_key_pair own, server;
    struct dp_link_header h = {.type = 31};
    unsigned char head[DP_HEADER_SIZE];
    assert_int_equal(dp_keys_own(r->stranger, &own, &err), 0);
    assert_int_equal(dp_keys_own(r->gate, &server, &err), 0);
    assert_int_equal(dp_keys_trust(r->gate, "site-2", own.public, &err), 0);
    struct dp_link *a = open_link(r->tcp, true, &gate), *b = open_link(r->tcp, false, &site);
    expect(b, DP_LINK_CAME);
    say(b, 0, 30, 1, NULL);
    assert_string_equal(expect(a, DP_LINK_MESSAGE).name, "site-1");
    memcpy(h.session, dp_link_session(b), DP_LINK_ID);
    dp_header_encode(head, &h);
    struct stranger s = {zmq_ctx_new(), NULL};
    s.socket = zmq_socket(s.context, ZMQ_DEALER);
    zmq_setsockopt(s.socket, ZMQ_LINGER, &(int){0}, sizeof(int));
    zmq_setsockopt(s.socket, ZMQ_ROUTING_ID, h.session, DP_LINK_ID);
    zmq_setsockopt(s.socket, ZMQ_CURVE_SERVERKEY, server.public, strlen(server.public));
    zmq_setsockopt(s.socket, ZMQ_CURVE_PUBLICKEY, own.public, strlen(own.public));
    zmq_setsockopt(s.socket, ZMQ_CURVE_SECRETKEY, own.secret, strlen(own.secret));
    assert_int_equal(zmq_connect(s.socket, r->tcp), 0);
    zmq_send(s.socket, head, sizeof head, 0);
    expect_silence(a, 0.7);
    assert_int_equal(dp_link_dropped(a), 1);
    close_stranger(&s);
    dp_link_close(b, 0);
    dp_link_close(a, 0);
}

TEST_IN(what_is_no_message_is_dropped, make_room, clear_room)
{
    struct room *r = *state;
    const unsigned char id[DP_LINK_ID] = "sixteen bytes!!", other[DP_LINK_ID] = "another sixteen";
    unsigned char head[DP_HEADER_SIZE];
    struct dp_link_header h = {.type = 30};
    int lines = 0;
    struct dp_link *a;
    assert_int_equal(dp_link_open(&a, r->ipc, true, &plain, count_lines, &lines, &err), 0);
    struct stranger nameless = open_stranger(r->ipc, NULL, 0), s = open_stranger(r->ipc, id, sizeof id);
    memcpy(h.session, id, sizeof id);
    dp_header_encode(head, &h);
    zmq_send(nameless.socket, head, sizeof head, 0);
    zmq_send(s.socket, "garbage", 7, 0);
    zmq_send(s.socket, head, sizeof head - 1, 0);
    zmq_send(s.socket, "", 0, 0);
    for (int i = 0; i < 4; i++) /* more than one body */
        zmq_send(s.socket, head, sizeof head, i < 3 ? ZMQ_SNDMORE : 0);
    memcpy(h.session, other, sizeof other);
    dp_header_encode(head, &h);
    zmq_send(s.socket, head, sizeof head, 0);
    h.type = 0;
    memcpy(h.session, id, sizeof id);
    dp_header_encode(head, &h);
    zmq_send(s.socket, head, sizeof head, 0); /* no event, and no error */
    h.type = 31;
    dp_header_encode(head, &h);
    zmq_send(s.socket, head, sizeof head, 0);
    struct dp_link_event e = expect(a, DP_LINK_MESSAGE);
    assert_int_equal(e.header.type, 31);
    assert_int_equal(e.peer, 1);
    expect_silence(a, 0.2);
    assert_int_equal(dp_link_dropped(a), 6);
    assert_int_equal(lines, 1);
    dp_link_refuse(a, &e, "of another run");
    assert_int_equal(dp_link_dropped(a), 7);
    close_stranger(&s);
    close_stranger(&nameless);
    assert_int_equal(expect(a, DP_LINK_GONE).peer, 1);
    dp_link_close(a, 0);
}

/* Bytes from a peer that does not speak ZeroMQ, or an older version, which libzmq would take for messages. */
TEST_IN(who_does_not_greet_is_not_heard, make_room, clear_room)
{
    struct room *r = *state;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct dp_link *a = open_link(r->tcp, true, &plain);
    to.sin_port = htons((uint16_t)atoi(strrchr(r->tcp, ':') + 1));
    const char *noise[] = {"GET / HTTP/1.0\r\n\r\n", "\x01\x00\x05\x00hello", "\xff\0\0\0\0\0\0\0\x01\x7f\x01\x00\x00\x05\x00"};
    const size_t size[] = {18, 8, 15};
    for (int i = 0; i < 3; i++) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
        assert_true(write(fd, noise[i], size[i]) == (ssize_t)size[i]);
        usleep(20000);
        close(fd);
    }
    expect_silence(a, 0.2);
    assert_int_equal(dp_link_dropped(a), 0); /* libzmq has dropped it */
    dp_link_close(a, 0);
}

#define BODY 65536

/* Alternates between a copied and a shared body. */
static void send_numbered(struct dp_link *link, int peer, uint64_t number, char *copied, struct dp_link_body *shared)
{
    struct dp_link_header header = {.type = 21, .sequence = number};
    memset(copied, (int)number, BODY);
    if (number % 2 == 0)
        assert_int_equal(dp_link_send(link, peer, &header, copied, BODY, NULL), 0);
    else
        assert_int_equal(dp_link_send_shared(link, peer, &header, shared, NULL), 0);
}

/* Reads all messages; returns the number of the next one. */
static uint64_t read_numbered(struct dp_link *link, uint64_t number)
{
    struct dp_link_event e;
    for (;; number++) {
        assert_int_equal(dp_link_next(link, &e, 0.05, NULL, NULL), 0);
        if (e.kind != DP_LINK_MESSAGE)
            return number;
        assert_int_equal(e.header.sequence, number);
        assert_int_equal(e.size, BODY);
        assert_int_equal(((const unsigned char *)e.body)[BODY - 1], number % 2 == 0 ? (int)number : 0);
    }
}

/* Sends more than the queues of both ends and the kernel hold, to a peer that reads late. */
TEST_IN(what_finds_no_room_waits, make_room, clear_room)
{
    struct room *r = *state;
    struct dp_link *a = open_link(r->ipc, true, &plain), *b = open_link(r->ipc, false, &plain);
    struct dp_link_body *shared;
    char *copied = calloc(1, BODY);
    uint64_t sent = 0, come = 0;
    expect(b, DP_LINK_CAME);
    say(b, 0, 20, 0, "here");
    int peer = expect(a, DP_LINK_MESSAGE).peer;
    shared = dp_link_body_new();
    assert_int_equal(msgpack_sbuffer_write(dp_link_body_buffer(shared), copied, BODY), 0);
    for (; sent < 140; sent++) {
        send_numbered(a, peer, sent, copied, shared);
        usleep(500); /* libzmq has a separate thread that writes to the kernel */
    }
    assert_false(dp_link_body_idle(shared));
    come = read_numbered(b, 0);
    assert_in_range(come, 1, sent - 1); /* the others wait, and messages sent now wait after them, although there is room */
    for (; sent < 144; sent++)
        send_numbered(a, peer, sent, copied, shared);
    for (int i = 0; i < 100 && come < sent; i++) {
        expect_silence(a, 0.02);
        come = read_numbered(b, come);
    }
    assert_int_equal(come, sent);
    /* No sender waits for a peer that does not read at all. */
    for (; sent < 1000; sent++)
        say(a, peer, 22, sent, NULL);
    dp_link_close(b, 0);
    assert_int_equal(expect(a, DP_LINK_GONE).peer, peer);
    say(a, peer, 22, sent, NULL);
    dp_link_close(a, 10000);
    dp_link_body_free(shared);
    free(copied);
}

struct late_reader {
    struct dp_link *link;
    uint64_t come;
};

static void *read_late(void *reader)
{
    struct late_reader *r = reader;
    struct dp_link_event e;
    usleep(200000);
    while (dp_link_next(r->link, &e, 5, NULL, NULL) == DP_OK && e.kind == DP_LINK_MESSAGE && e.header.sequence == r->come)
        r->come++;
    return NULL;
}

/* Waiting messages are not lost when the link is closed. */
TEST_IN(what_waits_goes_before_the_end, make_room, clear_room)
{
    struct room *r = *state;
    struct dp_link *a = open_link(r->ipc, true, &plain), *b = open_link(r->ipc, false, &plain);
    struct late_reader reader = {b, 0};
    pthread_t thread;
    char *body = calloc(1, BODY);
    expect(b, DP_LINK_CAME);
    say(b, 0, 20, 0, "here");
    int peer = expect(a, DP_LINK_MESSAGE).peer;
    for (uint64_t sent = 0; sent < 140; sent++) {
        struct dp_link_header header = {.type = 21, .sequence = sent};
        assert_int_equal(dp_link_send(a, peer, &header, body, BODY, &err), 0);
        usleep(500);
    }
    assert_int_equal(pthread_create(&thread, NULL, read_late, &reader), 0);
    dp_link_close(a, 10000);
    pthread_join(thread, NULL);
    assert_int_equal(reader.come, 140);
    dp_link_close(b, 0);
    free(body);
}

/* libzmq does not connect again to an end that sent nonsense, here a message of 2^62 bytes: the link does. */
TEST_IN(an_end_that_sends_nonsense_is_gone, make_room, clear_room)
{
    static const char greeting[64] = "\xff\0\0\0\0\0\0\0\0\x7f\x03\x01NULL";
    static const char ready[] = "\x04\x1c\5READY\xbSocket-Type\0\0\0\6ROUTER", nonsense[] = "\2\x40\0\0\0\0\0\0\0nonsense";
    struct room *r = *state;
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int listener = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    at.sin_port = htons((uint16_t)atoi(strrchr(r->tcp, ':') + 1));
    const struct timeval limit = {.tv_sec = 30}; /* of accept */
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    setsockopt(listener, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    assert_int_equal(bind(listener, (struct sockaddr *)&at, sizeof at) | listen(listener, 8), 0);
    struct dp_link *link = open_link(r->tcp, false, &plain);
    const int fd = accept(listener, NULL, NULL);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, greeting, sizeof greeting), sizeof greeting);
    assert_int_equal(write(fd, ready, sizeof ready - 1), sizeof ready - 1);
    expect(link, DP_LINK_CAME);
    assert_int_equal(write(fd, nonsense, sizeof nonsense), sizeof nonsense);
    expect(link, DP_LINK_GONE);
    const int again = accept(listener, NULL, NULL);
    assert_true(again >= 0);
    dp_link_close(link, 0);
    close(again);
    close(fd);
    close(listener);
}

/* Strangers that connect and disconnect do not cause a check of all peers each time. */
TEST_IN(peers_are_not_asked_for_each_stranger, make_room, clear_room)
{
    struct room *r = *state;
    const unsigned char id[DP_LINK_ID] = "sixteen bytes!!";
    unsigned char head[DP_HEADER_SIZE];
    struct dp_link_header h = {.type = 30};
    struct dp_link_event e;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct dp_link *a = open_link(r->tcp, true, &plain);
    struct stranger s = open_stranger(r->tcp, id, sizeof id);
    to.sin_port = htons((uint16_t)atoi(strrchr(r->tcp, ':') + 1));
    memcpy(h.session, id, sizeof id);
    dp_header_encode(head, &h);
    zmq_send(s.socket, head, sizeof head, 0);
    expect(a, DP_LINK_MESSAGE);
    double begin = dp_clock_now(), end;
    int asked = 0;
    for (int i = 0; i < 300; i++) {
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
        close(fd);
        assert_int_equal(dp_link_next(a, &e, 0, NULL, &err), 0);
    }
    end = dp_clock_now();
    usleep(100000);
    while (zmq_recv(s.socket, head, sizeof head, ZMQ_DONTWAIT) >= 0)
        asked++;
    assert_in_range(asked, 1, 20 * (end - begin) + 2);
    close_stranger(&s);
    dp_link_close(a, 0);
}

TEST_IN(waiting_ends_in_time, make_room, clear_room)
{
    struct room *r = *state;
    struct dp_link *a = open_link(r->ipc, true, &plain);
    struct dp_link_event e;
    volatile sig_atomic_t cancel = 1;
    assert_fails(dp_link_next(a, &e, -1, &cancel, &err), DP_E_RUN, "interrupted");
    expect_silence(a, 0);
    expect_silence(a, 0.05);
    dp_link_close(a, 10000); /* nothing was sent, so close does not wait */
    dp_link_close(NULL, 0);
}

TESTS(NULL, NULL)
