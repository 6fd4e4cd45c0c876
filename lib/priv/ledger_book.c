#include "priv/ledger_book.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "priv/rdp.h"

#define HASH_KEY ",\"hash\":\""
#define MOST_LAPS 1000000000000
enum { TAIL = sizeof HASH_KEY - 1 + DP_LEDGER_HASH + 2 }; /* ,"hash":"…"} */

static const char origin[] = "0000000000000000000000000000000000000000000000000000000000000000";
static const char no_memory[] = "out of memory";
static const char malformed[] = "it is not a line of a ledger";

static void hash_of(const char *bytes, size_t length, char *hash)
{
    unsigned char binary[DP_LEDGER_HASH / 2];
    crypto_generichash(binary, sizeof binary, (const unsigned char *)bytes, length, NULL, 0);
    sodium_bin2hex(hash, DP_LEDGER_HASH + 1, binary, sizeof binary);
}

const char *dp_ledger_book_hash(const struct dp_ledger_book *book)
{
    return book->lines > 0 ? book->hash[book->lines - 1] : origin;
}

int dp_ledger_line(json_t *members, size_t seq, const char *prev, char **text, size_t *length, char *hash,
                   struct dp_err *err)
{
    json_t *line = json_pack("{s:I, s:s}", "seq", (json_int_t)seq, "prev", prev);
    char *body = NULL;
    *text = NULL;
    if (line != NULL && members != NULL && json_object_update(line, members) == 0)
        body = json_dumps(line, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(line);
    json_decref(members);
    if (body == NULL)
        return dp_fail(err, DP_E_RUN, no_memory);
    size_t open = strlen(body) - 1; /* without the brace */
    hash_of(body, open, hash);
    int written = asprintf(text, "%.*s" HASH_KEY "%s\"}\n", (int)open, body, hash);
    free(body);
    if (written < 0) {
        *text = NULL;
        return dp_fail(err, DP_E_RUN, no_memory);
    }
    *length = (size_t)written;
    return DP_OK;
}

int64_t dp_ledger_laps_spent(const struct dp_ledger_laps *laps)
{
    return laps->reserved - laps->refunded;
}

int dp_ledger_add_spent(const struct dp_ledger_entry *entry, struct dp_charges *charges, struct dp_err *err)
{
    int rc = DP_OK;
    for (size_t i = 0; rc == DP_OK && i < entry->events; i++)
        if (dp_ledger_laps_spent(&entry->event[i]) > 0)
            rc = dp_charges_add(charges, &entry->event[i].event, dp_ledger_laps_spent(&entry->event[i]), err);
    return rc;
}

int dp_ledger_sum_add(struct dp_ledger_sum *sum, const struct dp_ledger_entry *entry, int64_t most, struct dp_err *err)
{
    bool filtered = entry->order > 0;
    struct dp_charges own = {0};
    int rc = dp_ledger_add_spent(entry, &own, err);
    if (own.count == 1 && !filtered && own.charge[0].laps > most)
        own.charge[0].laps = most;
    for (size_t i = 0; rc == DP_OK && i < own.count; i++) {
        rc = dp_charges_add(&sum->all, &own.charge[i].event, own.charge[i].laps, err);
        if (rc == DP_OK && !filtered)
            rc = dp_charges_add(&sum->fixed, &own.charge[i].event, own.charge[i].laps, err);
    }
    if (filtered && own.count > 0) {
        sum->order = sum->order > 0 ? fmin(sum->order, entry->order) : entry->order;
        sum->rho += entry->epsilon - dp_rdp_penalty(entry->order, entry->delta);
    }
    dp_charges_free(&own);
    return rc;
}

void dp_ledger_sum_free(struct dp_ledger_sum *sum)
{
    dp_charges_free(&sum->all);
    dp_charges_free(&sum->fixed);
}

int dp_ledger_rdp(const struct dp_ledger_hooks *hooks, const struct dp_charges *charges, double order, double *rho,
                  struct dp_err *err)
{
    double r;
    *rho = 0;
    for (size_t i = 0; i < charges->count; i++) {
        const struct dp_charge *charge = &charges->charge[i];
        int rc = hooks->rdp(&charge->event, order, &r, err);
        if (rc != DP_OK)
            return rc;
        *rho += (double)dp_event_times(&charge->event, charge->laps) * r;
    }
    *rho *= 1 + (double)(charges->count + 4) * 0x1p-52;
    return DP_OK;
}

int dp_ledger_sum_epsilon(const struct dp_ledger_sum *sum, const struct dp_ledger_hooks *hooks, double delta,
                          double *upper, double *lower, const char **accountant, struct dp_err *err)
{
    double fixed;
    *upper = *lower = 0;
    *accountant = "none";
    if (sum->all.count == 0)
        return DP_OK;
    if (sum->order == 0)
        return hooks->epsilon(&sum->fixed, delta, upper, lower, accountant, err);
    int rc = dp_ledger_rdp(hooks, &sum->fixed, sum->order, &fixed, err);
    *upper = fmax(0, (sum->rho + fixed + dp_rdp_penalty(sum->order, delta)) * (1 + 0x1p-50));
    *accountant = "filter";
    return rc;
}

json_t *dp_ledger_charges_json(const struct dp_charges *charges)
{
    json_t *list = json_array();
    for (size_t i = 0; list != NULL && i < charges->count; i++)
        if (json_array_append_new(list, dp_charge_to_json(&charges->charge[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

json_t *dp_ledger_real_json(double value)
{
    return isfinite(value) ? json_real(value) : json_string(isnan(value) ? "NaN" : "Infinity");
}

struct dp_ledger_entry *dp_ledger_book_find(const struct dp_ledger_book *book, const char *run)
{
    /* Runs that are writing are mostly recent ones. */
    for (size_t i = book->entries; i-- > 0;)
        if (strcmp(book->entry[i].run, run) == 0)
            return &book->entry[i];
    return NULL;
}

struct dp_ledger_limit *dp_ledger_book_limit(const struct dp_ledger_book *book, const char *data)
{
    for (size_t i = 0; i < book->limits; i++)
        if (strcmp(book->limit[i].data, data) == 0)
            return &book->limit[i];
    return NULL;
}

static bool is_hex(const char *text, size_t length)
{
    return strlen(text) == length && strspn(text, "0123456789abcdef") == length;
}

static bool is_adjacency(const char *text)
{
    return strcmp(text, "null-record") == 0 || strcmp(text, "replace-one") == 0;
}

static bool is_budget(double epsilon, double delta)
{
    return epsilon > 0 && isfinite(epsilon) && delta > 0 && delta < 1;
}

/* The functions below take one kind of line each and return why it cannot stand where it stands, or NULL. */

static const char *take_budget(struct dp_ledger_book *book, json_t *line)
{
    struct dp_ledger_limit limit = {.line = line};
    if (json_unpack_ex(line, NULL, JSON_STRICT, "{s:s, s:s, s:F, s:F, s:F}", "data", &limit.data, "adjacency",
                       &limit.adjacency, "epsilon", &limit.epsilon, "delta", &limit.delta, "order", &limit.order) != 0)
        return malformed;
    if (limit.data[0] == '\0' || !is_adjacency(limit.adjacency) || !is_budget(limit.epsilon, limit.delta) ||
        !(limit.order > 1 && isfinite(limit.order)))
        return "its budget makes no sense";
    if (dp_ledger_book_limit(book, limit.data) != NULL)
        return "it is a second budget for the same data set";
    for (size_t i = 0; i < book->entries; i++)
        if (strcmp(book->entry[i].data, limit.data) == 0)
            return "it is a budget that comes after a run";
    if (dp_grow(&book->limit, &book->limits_capacity, book->limits + 1, sizeof limit, NULL) != DP_OK)
        return no_memory;
    book->limit[book->limits++] = limit;
    json_incref(line);
    return NULL;
}

static const char *take_open(struct dp_ledger_book *book, json_t *line)
{
    struct dp_ledger_entry entry = {.open = line, .first = book->lines + 1, .last = book->lines + 1};
    json_int_t rows, time = 0;
    if (json_unpack_ex(
            line, NULL, JSON_STRICT, "{s:s, s:s, s:I, s:s, s:F, s:F, s:b, s:b, s:s, s:s, s?I, s?s, s?F, s?F, s?F}", "run",
            &entry.run, "data", &entry.data, "rows", &rows, "adjacency", &entry.adjacency, "epsilon", &entry.epsilon,
            "delta", &entry.delta, "seeded", &entry.seeded, "as_published", &entry.as_published,
            "private_preprocessing", &entry.preprocessing, "software", &entry.software, "time", &time, "init",
            &entry.init, "prior_epsilon", &entry.prior_epsilon, "prior_delta", &entry.prior_delta, "order", &entry.order) != 0)
        return malformed;
    entry.rows = rows;
    entry.time = time;
    if (!is_hex(entry.run, DP_LEDGER_RUN) || entry.data[0] == '\0' || !is_adjacency(entry.adjacency) || rows < 1 ||
        !is_budget(entry.epsilon, entry.delta) || !(entry.prior_epsilon >= 0) || !(entry.prior_delta >= 0) ||
        (entry.order != 0 && !(entry.order > 1 && entry.epsilon > dp_rdp_penalty(entry.order, entry.delta))))
        return "its run makes no sense";
    if (dp_ledger_book_find(book, entry.run) != NULL)
        return "it opens a run that was opened before";
    const struct dp_ledger_limit *limit = dp_ledger_book_limit(book, entry.data);
    if (limit != NULL && strcmp(limit->adjacency, entry.adjacency) != 0)
        return "its run has another adjacency than the budget of the data set";
    struct dp_ledger_entry *from;
    if (entry.init != NULL && dp_ledger_book_mark(book, entry.init, &from, NULL) != DP_OK)
        return "its run starts from a model of no run before it";
    if (dp_grow(&book->entry, &book->entries_capacity, book->entries + 1, sizeof entry, NULL) != DP_OK)
        return no_memory;
    book->entry[book->entries++] = entry;
    json_incref(line);
    return NULL;
}

static struct dp_ledger_laps *laps_of(const struct dp_ledger_entry *entry, const struct dp_event *event)
{
    for (size_t i = 0; i < entry->events; i++)
        if (dp_event_same(&entry->event[i].event, event))
            return &entry->event[i];
    return NULL;
}

static const char *take_charge(struct dp_ledger_book *book, json_t *line, const char *kind)
{
    struct dp_charge charge;
    const char *run;
    json_t *json;
    if (json_unpack_ex(line, NULL, JSON_STRICT, "{s:s, s:o}", "run", &run, "charge", &json) != 0 ||
        dp_charge_from_json(json, NULL, &charge, NULL) != DP_OK)
        return malformed;
    struct dp_ledger_entry *entry = dp_ledger_book_find(book, run);
    if (entry == NULL || entry->close != NULL)
        return "its run is not open";
    struct dp_ledger_laps *laps = laps_of(entry, &charge.event);
    for (size_t i = 0; strcmp(kind, "reserve") == 0 && i < entry->events; i++)
        if (!dp_event_may_follow(&charge.event, &entry->event[i].event, entry->event[i].reserved))
            return "its run has two events in one shuffled epoch";
    if (strcmp(kind, "reserve") != 0) {
        bool used = strcmp(kind, "charge") == 0;
        if (laps == NULL || (used ? laps->used : laps->refunded) != 0 ||
            charge.laps > laps->reserved - laps->used - laps->refunded)
            return "its run did not reserve these laps";
        *(used ? &laps->used : &laps->refunded) = charge.laps;
    } else if (laps != NULL && charge.laps <= MOST_LAPS - laps->reserved && laps->used + laps->refunded == 0) {
        laps->reserved += charge.laps;
    } else if (laps != NULL) {
        return "its run cannot reserve more laps";
    } else {
        if (dp_grow(&entry->event, &entry->capacity, entry->events + 1, sizeof *laps, NULL) != DP_OK)
            return no_memory;
        entry->event[entry->events++] = (struct dp_ledger_laps){.event = charge.event, .reserved = charge.laps};
    }
    entry->last = book->lines + 1;
    return NULL;
}

static const char *take_close(struct dp_ledger_book *book, json_t *line)
{
    const char *run, *accountant, *status;
    double epsilon, delta;
    json_int_t laps;
    int64_t used = 0;
    if (json_unpack_ex(line, NULL, JSON_STRICT, "{s:s, s:I, s:F, s:F, s:s, s:s}", "run", &run, "laps", &laps, "epsilon",
                       &epsilon, "delta", &delta, "accountant", &accountant, "status", &status) != 0)
        return malformed;
    struct dp_ledger_entry *entry = dp_ledger_book_find(book, run);
    if (entry == NULL || entry->close != NULL)
        return "its run is not open";
    for (size_t i = 0; i < entry->events; i++) {
        const struct dp_ledger_laps *l = &entry->event[i];
        if (l->used + l->refunded != l->reserved)
            return "its run did not say what became of all its laps";
        used += l->used;
    }
    if (used != laps)
        return "its laps are not those that its run used";
    entry->close = json_incref(line);
    entry->last = book->lines + 1;
    entry->accountant = accountant;
    entry->status = status;
    entry->laps = laps;
    entry->closed_epsilon = epsilon;
    entry->closed_delta = delta;
    return NULL;
}

static const char *take_members(struct dp_ledger_book *book, json_t *line)
{
    json_t *seq = json_object_get(line, "seq");
    const char *prev = json_string_value(json_object_get(line, "prev"));
    const char *kind = json_string_value(json_object_get(line, "kind"));
    if (!json_is_integer(seq) || prev == NULL || kind == NULL)
        return malformed;
    if (json_integer_value(seq) != (json_int_t)book->lines + 1 || strcmp(prev, dp_ledger_book_hash(book)) != 0)
        return "it does not follow the line before it";
    if (book->most > 0 && book->lines >= book->most)
        return NULL;
    static const char *const kinds[] = {"budget", "open", "reserve", "charge", "refund", "close"};
    size_t k = 0;
    while (k < sizeof kinds / sizeof *kinds && strcmp(kind, kinds[k]) != 0)
        k++;
    json_object_del(line, "seq");
    json_object_del(line, "prev");
    json_object_del(line, "hash");
    json_object_del(line, "kind"); /* kind is not to be used from here on */
    switch (k) {
    case 0:
        return take_budget(book, line);
    case 1:
        return take_open(book, line);
    case 2:
    case 3:
    case 4:
        return take_charge(book, line, kinds[k]);
    case 5:
        return take_close(book, line);
    default:
        return "it is of no kind that this version knows";
    }
}

static const char *take_line(struct dp_ledger_book *book, const char *bytes, size_t length)
{
    char hash[DP_LEDGER_HASH + 1];
    if (length <= TAIL || memcmp(bytes + length - TAIL, HASH_KEY, sizeof HASH_KEY - 1) != 0 ||
        memcmp(bytes + length - 2, "\"}", 2) != 0)
        return malformed;
    hash_of(bytes, length - TAIL, hash);
    if (memcmp(bytes + length - 2 - DP_LEDGER_HASH, hash, DP_LEDGER_HASH) != 0)
        return "its hash does not fit";
    json_t *line = json_loadb(bytes, length, JSON_REJECT_DUPLICATES, NULL);
    const char *why = json_is_object(line) ? take_members(book, line) : malformed;
    json_decref(line);
    if (why == NULL && dp_grow(&book->hash, &book->lines_capacity, book->lines + 1, sizeof *book->hash, NULL) != DP_OK)
        why = no_memory;
    if (why == NULL) {
        memcpy(book->hash[book->lines++], hash, sizeof hash);
        book->end += length + 1;
        book->last_length = length + 1;
    }
    return why;
}

/* Whether the bytes can be the beginning of the next line, whose write was cut short; storage that lost power may hold
   zeros where a write was on its way. Anything else at the end is not ours to cut off. */
static bool is_torn(const struct dp_ledger_book *book, const char *bytes, size_t length)
{
    char start[64 + DP_LEDGER_HASH];
    int known =
        snprintf(start, sizeof start, "{\"seq\":%zu,\"prev\":\"%s\"", book->lines + 1, dp_ledger_book_hash(book));
    for (size_t i = 0; i < length && i < (size_t)known; i++) {
        if (bytes[i] == start[i])
            continue;
        while (i < length && bytes[i] == '\0')
            i++;
        return i == length;
    }
    return true;
}

int dp_ledger_book_take(struct dp_ledger_book *book, const char *bytes, size_t length, struct dp_err *err)
{
    const char *end;
    for (; length > 0 && (end = memchr(bytes, '\n', length)) != NULL; bytes = end + 1) {
        const char *why = take_line(book, bytes, (size_t)(end - bytes));
        if (why == no_memory)
            return dp_fail(err, DP_E_RUN, no_memory);
        if (why != NULL)
            return dp_fail(err, DP_E_UNSAFE, "line %zu of the ledger %s was edited or damaged: %s", book->lines + 1,
                           book->path, why);
        length -= (size_t)(end - bytes) + 1;
    }
    book->torn = length > 0;
    if (length > 0 && !is_torn(book, bytes, length))
        return dp_fail(err, DP_E_UNSAFE, "line %zu of the ledger %s was edited or damaged: %s", book->lines + 1,
                       book->path, malformed);
    return DP_OK;
}

int dp_ledger_open_file(const char *path, int flags, struct dp_err *err)
{
    struct stat st;
    /* Without O_NONBLOCK a FIFO would wait for its other end. */
    int fd = open(path, flags | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (fd < 0 && errno == ELOOP)
        return dp_fail(err, DP_E_RUN, "the ledger %s is a symbolic link: name the file itself", path);
    if (fd < 0 && (errno == EISDIR || errno == ENXIO))
        return dp_fail(err, DP_E_RUN, "the ledger %s is not a regular file", path);
    if (fd < 0)
        return dp_fail_errno(err, errno, "cannot open the ledger %s", path);
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return dp_fail(err, DP_E_RUN, "the ledger %s is not a regular file", path);
    }
    return fd;
}

int dp_ledger_book_fill(struct dp_ledger_book *book, int fd, struct dp_err *err)
{
    struct stat st;
    char *bytes;
    size_t got = 0;
    if (fstat(fd, &st) != 0)
        return dp_fail_errno(err, errno, "cannot read the ledger %s", book->path);
    if ((size_t)st.st_size <= book->end) {
        book->torn = false;
        return DP_OK;
    }
    size_t size = (size_t)st.st_size - book->end;
    int rc = dp_alloc(&bytes, size, 1, err);
    if (rc != DP_OK)
        return rc;
    while (got < size) {
        ssize_t n = pread(fd, bytes + got, size - got, (off_t)(book->end + got));
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            free(bytes);
            return n < 0 ? dp_fail_errno(err, errno, "cannot read the ledger %s", book->path)
                         : dp_fail(err, DP_E_RUN, "the ledger %s became shorter while it was read", book->path);
        }
        got += (size_t)n;
    }
    rc = dp_ledger_book_take(book, bytes, size, err);
    free(bytes);
    return rc;
}

int dp_ledger_lock(int fd, int operation, const char *path, struct dp_err *err)
{
    while (flock(fd, operation) != 0)
        if (errno != EINTR)
            return dp_fail_errno(err, errno, "cannot lock the ledger %s", path);
    return DP_OK;
}

int dp_ledger_book_read(struct dp_ledger_book *book, const char *path, struct dp_err *err)
{
    book->path = path;
    int fd = dp_ledger_open_file(path, O_RDONLY, err);
    if (fd < 0)
        return fd;
    int rc = dp_ledger_lock(fd, LOCK_SH, path, err);
    if (rc == DP_OK)
        rc = dp_ledger_book_fill(book, fd, err);
    close(fd); /* and unlocks */
    return rc;
}

int dp_ledger_book_mark(const struct dp_ledger_book *book, const char *mark, struct dp_ledger_entry **entry,
                        struct dp_err *err)
{
    char run[DP_LEDGER_RUN + 1], hash[DP_LEDGER_HASH + 1], again[DP_LEDGER_MARK];
    unsigned long long seq;
    /* What is not written as dp_ledger_mark writes it is no mark. */
    if (sscanf(mark, "%32[0-9a-f]:%18llu:%64[0-9a-f]", run, &seq, hash) != 3 ||
        snprintf(again, sizeof again, "%s:%llu:%s", run, seq, hash) < 0 || strcmp(again, mark) != 0 ||
        !is_hex(run, DP_LEDGER_RUN) || !is_hex(hash, DP_LEDGER_HASH) || seq == 0)
        return dp_fail(err, DP_E_RUN, "'%.130s' is not a mark of a ledger", mark);
    *entry = seq <= book->lines && strcmp(book->hash[seq - 1], hash) == 0 ? dp_ledger_book_find(book, run) : NULL;
    if (*entry == NULL || seq < (*entry)->first || seq > (*entry)->last)
        return dp_fail(
            err, DP_E_UNSAFE,
            "the ledger %s does not hold line %llu as the model has it: rolled back to an older state, or not "
            "the model's ledger",
            book->path, seq);
    return DP_OK;
}

void dp_ledger_book_free(struct dp_ledger_book *book)
{
    for (size_t i = 0; i < book->entries; i++) {
        json_decref(book->entry[i].open);
        json_decref(book->entry[i].close);
        free(book->entry[i].event);
    }
    for (size_t i = 0; i < book->limits; i++)
        json_decref(book->limit[i].line);
    free(book->entry);
    free(book->limit);
    free(book->hash);
    *book = (struct dp_ledger_book){0};
}
