#include "port/zap.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

#include "base/mem.h"
#include "port/keys.h"
#include "port/zmq.h"

#define PARTS 7 /* parts of a request with a CURVE key; other mechanisms have fewer or more */
#define PART 256

struct request {
    char part[PARTS][PART];
    int size[PARTS], parts;
};

struct dp_zap {
    void *socket;
    char *directory;
    pthread_t thread;
    atomic_ulong denied;
    struct request request; /* used by the thread */
};

/* Reads version, request id, domain, address, routing id, mechanism, key; ignores further parts. */
static bool receive(void *socket, struct request *r)
{
    int more = 1;
    size_t size = sizeof more;
    char rest[1];
    for (r->parts = 0; more; r->parts++) {
        bool kept = r->parts < PARTS;
        int got = dp_zmq.recv(socket, kept ? r->part[r->parts] : rest, kept ? PART : sizeof rest, 0);
        if (got < 0)
            return false;
        if (kept)
            r->size[r->parts] = got;
        if (dp_zmq.getsockopt(socket, ZMQ_RCVMORE, &more, &size) != 0)
            return false;
    }
    return true;
}

static bool is(const struct request *r, int part, const char *text)
{
    return r->parts > part && r->size[part] == (int)strlen(text) && memcmp(r->part[part], text, strlen(text)) == 0;
}

/* Whether the key of the request is trusted, and under which name. If the list cannot be read, no key is trusted. */
static bool trusted(const struct dp_zap *zap, const struct request *r, char name[DP_KEY_NAME])
{
    struct dp_key_trusted *list;
    struct dp_err unused;
    size_t count;
    char key[DP_KEY_TEXT];
    bool found = false;
    if (!is(r, 5, "CURVE") || r->parts != PARTS || r->size[6] != 32 ||
        dp_zmq.z85_encode(key, (const unsigned char *)r->part[6], 32) == NULL)
        return false;
    if (dp_keys_trusted(zap->directory, &list, &count, &unused) != DP_OK)
        return false;
    for (size_t i = 0; i < count && !found; i++) {
        found = strcmp(list[i].key, key) == 0;
        if (found)
            strcpy(name, list[i].name);
    }
    free(list);
    return found;
}

static void answer(void *socket, const struct request *r, bool allowed, const char *name)
{
    const char *code = allowed ? "200" : "400", *text = allowed ? "" : "not trusted";
    dp_zmq.send(socket, "1.0", 3, ZMQ_SNDMORE);
    dp_zmq.send(socket, r->part[1], (size_t)r->size[1], ZMQ_SNDMORE);
    dp_zmq.send(socket, code, 3, ZMQ_SNDMORE);
    dp_zmq.send(socket, text, strlen(text), ZMQ_SNDMORE);
    dp_zmq.send(socket, name, strlen(name), ZMQ_SNDMORE);
    dp_zmq.send(socket, "", 0, 0);
}

static void *serve(void *self)
{
    struct dp_zap *zap = self;
    struct request *r = &zap->request;
    for (;;) {
        if (!receive(zap->socket, r)) {
            if (errno == ETERM)
                break;
            continue;
        }
        char name[DP_KEY_NAME] = "";
        bool form = r->parts >= 6 && is(r, 0, "1.0") && r->size[1] < PART;
        bool allowed = form && (zap->directory == NULL ? is(r, 5, "NULL") : trusted(zap, r, name));
        if (!allowed)
            atomic_fetch_add(&zap->denied, 1);
        answer(zap->socket, r, allowed, name);
    }
    dp_zmq.close(zap->socket);
    return NULL;
}

/* The thread blocks signals: other threads handle them. */
static int start_thread(struct dp_zap *zap)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&zap->thread, NULL, serve, zap);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}

int dp_zap_start(struct dp_zap **zap, void *context, const char *directory, struct dp_err *err)
{
    struct dp_zap *z = dp_new(1, sizeof *z);
    atomic_init(&z->denied, 0);
    z->directory = directory != NULL ? dp_got(strdup(directory)) : NULL;
    z->socket = dp_zmq.socket(context, ZMQ_REP);
    int why = errno;
    if (z->socket != NULL) {
        int started = dp_zmq.bind(z->socket, "inproc://zeromq.zap.01") == 0 ? 0 : errno;
        started = started != 0 ? started : start_thread(z);
        if (started == 0) {
            *zap = z;
            return DP_OK;
        }
        why = started;
    }
    if (z->socket != NULL)
        dp_zmq.close(z->socket);
    free(z->directory);
    free(z);
    return dp_fail(err, DP_E_RUN, "cannot guard a port: %s", dp_zmq.strerror(why));
}

unsigned long dp_zap_denied(struct dp_zap *zap)
{
    return atomic_exchange(&zap->denied, 0);
}

void dp_zap_end(struct dp_zap *zap)
{
    if (zap == NULL)
        return;
    pthread_join(zap->thread, NULL);
    free(zap->directory);
    free(zap);
}
