/* A certificate, checked against a ledger. The input's members replace members of a true certificate, so that single members
 * are examined; the input is also checked by itself. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "ledger/certificate.h"
#include "ledger/ledger.h"

static json_t *genuine;
static char path[4096], mark[DP_LEDGER_MARK];
static const struct dp_certified what = {mark, 3, "00", NULL};
static bool bound;

static void start(void)
{
    struct dp_ledger *ledger;
    struct dp_err err = {0};
    struct dp_event event = dp_event_gaussian(DP_SAMPLING_POISSON, 0.01, 10, 0);
    struct dp_ledger_run run = {.data = "0123456789abcdef0123456789abcdef",
                                .rows = 100,
                                .adjacency = "null-record",
                                .epsilon = 1,
                                .delta = 1e-5,
                                .preprocessing = "max-abs"};
    strcpy(path, fuzz_path("ledger"));
    for (int i = 0; i < 2; i++) {
        fuzz_assert(dp_ledger_open(&ledger, path, &run, &err) == DP_OK);
        fuzz_assert(dp_ledger_reserve(ledger, &event, 3, &err) == DP_OK);
        strcpy(mark, dp_ledger_mark(ledger));
        run.init.mark = mark;
        dp_ledger_free(ledger);
    }
    fuzz_assert(dp_certificate_make(path, &what, &genuine, &err) == DP_OK);
    fuzz_assert(dp_certificate_verify(genuine, path, &what, &bound, &err) == DP_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dp_err err = {0};
    if (genuine == NULL)
        start();
    json_t *said = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
    if (said == NULL)
        return -1;
    fuzz_said(dp_certificate_verify(said, path, NULL, NULL, &err), &err);
    json_t *mixed = json_deep_copy(genuine);
    if (json_is_object(said))
        json_object_update_recursive(mixed, said);
    fuzz_said(dp_certificate_verify(mixed, path, &what, &bound, &err), &err);
    json_decref(mixed);
    json_decref(said);
    return 0;
}
