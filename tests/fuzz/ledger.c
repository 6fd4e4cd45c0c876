/* Lines of a ledger, read, reported and verified, and appended to. Each line of the input that is a JSON object gets the seq,
 * prev and hash that make it follow the line before, so that its content is examined; other lines are used unchanged. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "ledger/book.h"
#include "ledger/ledger.h"
#include "ledger/report.h"

struct chain {
    char *text, hash[DP_LEDGER_HASH + 1];
    size_t length, seq;
};

static void append(struct chain *c, const char *text, size_t length)
{
    c->text = realloc(c->text, c->length + length + 1);
    fuzz_assert(c->text != NULL);
    memcpy(c->text + c->length, text, length);
    c->length += length;
}

static void add_line(struct chain *c, const char *line, size_t length)
{
    json_t *members = json_loadb(line, length, 0, NULL);
    char *text = NULL;
    size_t made;
    if (!json_is_object(members)) {
        json_decref(members);
        append(c, line, length);
        append(c, "\n", 1);
        return;
    }
    json_object_del(members, "seq");
    json_object_del(members, "prev");
    json_object_del(members, "hash");
    if (dp_ledger_line(members, ++c->seq, c->hash, &text, &made, c->hash, NULL) == DP_OK)
        append(c, text, made);
    free(text);
}

static void write_to(const char *path)
{
    struct dp_ledger *ledger;
    struct dp_err err = {0};
    struct dp_event event = dp_event_gaussian(DP_SAMPLING_POISSON, 0.01, 10, 0);
    struct dp_ledger_run run = {
        .data = "0123456789abcdef0123456789abcdef", .rows = 100, .adjacency = "null-record", .epsilon = 1, .delta = 1e-5};
    int rc = dp_ledger_open(&ledger, path, &run, &err);
    fuzz_said(rc, &err);
    if (rc != DP_OK)
        return;
    fuzz_said(dp_ledger_reserve(ledger, &event, 3, &err), &err);
    dp_ledger_free(ledger);
}

static void report_on(const char *path)
{
    static FILE *nowhere;
    struct dp_err err = {0};
    json_t *json;
    if (nowhere == NULL)
        nowhere = fopen("/dev/null", "w");
    int rc = dp_ledger_report(path, NULL, (double)NAN, &json, &err);
    fuzz_said(rc, &err);
    if (rc == DP_OK) {
        dp_ledger_report_print(json, nowhere);
        json_decref(json);
    }
    rc = dp_ledger_verify(path, &json, &err);
    fuzz_said(rc, &err);
    if (rc == DP_OK) {
        dp_ledger_verify_print(json, nowhere);
        json_decref(json);
    }
}

static void read_from(const char *path)
{
    struct dp_ledger_book book = {0};
    struct dp_err err = {0};
    fuzz_said(dp_ledger_book_read(&book, path, &err), &err);
    dp_ledger_book_free(&book);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct chain chain = {0};
    char *text = fuzz_text(data, size);
    memset(chain.hash, '0', DP_LEDGER_HASH);
    for (char *line = text, *end; line < text + size; line = end + 1) {
        end = memchr(line, '\n', (size_t)(text + size - line));
        if (end == NULL)
            break;
        add_line(&chain, line, (size_t)(end - line));
    }
    const char *path = fuzz_file("ledger", chain.text != NULL ? chain.text : "", chain.length);
    if (size % 16 == 0) /* the accountants need time */
        report_on(path);
    else
        read_from(path);
    write_to(path);
    unlink(path);
    unlink(fuzz_path("ledger.mark"));
    free(chain.text);
    free(text);
    return 0;
}
