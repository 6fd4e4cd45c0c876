/* Ledgers as earlier versions wrote them: a run that was kept within what a paper claims says as_published. */
#pragma once

#include <sys/stat.h>

#include "books.h"

/* Rewrites the ledger, so that its run (from 0) says so. Marks of its lines are then other ones. */
static void make_claimed(const char *path, int run)
{
    char line[1 << 16], hash[DP_LEDGER_HASH + 1] = DP_LEDGER_ORIGIN, mark[DP_LEDGER_MARK + 64] = "";
    struct dp_err err = {0};
    FILE *from = fopen(path, "r"), *to = fopen("claimed", "w");
    for (size_t seq = 1; fgets(line, sizeof line, from) != NULL; seq++) {
        json_t *json = json_loads(line, 0, NULL);
        const char *kind = json_string_value(json_object_get(json, "kind"));
        const bool opens = strcmp(kind, "open") == 0, ends = opens || strcmp(kind, "close") == 0;
        char name[64] = "";
        if (opens && run-- == 0)
            json_object_set_new(json, "as_published", json_true());
        if (ends)
            snprintf(name, sizeof name, "%s", json_string_value(json_object_get(json, "run")));
        char *text = line_of(json, seq, hash);
        fputs(text, to);
        free(text);
        if (ends)
            snprintf(mark, sizeof mark, "%s:%zu:%s", name, seq, hash);
    }
    fclose(from);
    fclose(to);
    assert_true(run < 0);
    assert_int_equal(rename("claimed", path), 0);
    assert_int_equal(chmod(path, 0600), 0);
    assert_int_equal(dp_ledger_beside_write(path, mark, &err), 0);
}
