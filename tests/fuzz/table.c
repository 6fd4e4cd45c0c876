/* Tables of settings, and texts that name their columns. */
#include <stdlib.h>
#include <string.h>

#include "data/table.h"
#include "fuzz.h"

static const char *const files[] = {"table", "text", NULL};

/* No cell has a character that a shell interprets, and none is empty. */
static void check_cells(const struct dp_table *table)
{
    fuzz_assert(table->count >= 1 && table->count <= DP_TABLE_MOST && table->columns >= 1);
    for (size_t i = 0; i < (1 + table->count) * table->columns; i++)
        fuzz_assert(table->cell[i] != NULL && table->cell[i][0] != '\0' &&
                    strpbrk(table->cell[i], " \t\r\n|;&$<>(){}`'\"\\*?#~!") == NULL);
    for (size_t i = 0; i < table->columns; i++)
        fuzz_assert(dp_table_find(table, dp_table_name(table, i)) == i);
}

/* The filled text has no {name}, because cells have no braces. */
static void fill(const struct dp_table *table, const char *text)
{
    bool named[DP_TABLE_MOST_COLUMNS] = {0};
    struct dp_table_word words[] = {{"trial", "1", false}, {"seed", NULL, false}};
    struct dp_err err = {0};
    char *filled, *again;
    int rc = dp_table_fill(table, table->count - 1, text, words, 2, named, &filled, &err);
    fuzz_said(rc, &err);
    fuzz_assert((rc == DP_OK) == (filled != NULL));
    bool any = words[0].named || words[1].named;
    for (size_t i = 0; i < table->columns; i++)
        any = any || named[i];
    fuzz_assert(rc != DP_OK || any || strcmp(filled, text) == 0);
    if (rc == DP_OK && dp_table_fill(table, 0, filled, words, 2, named, &again, NULL) == DP_OK)
        free(again);
    free(filled);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dp_table table = {0};
    struct dp_err err = {0};
    fuzz_unpack(data, size, files);
    int rc = dp_table_open(&table, fuzz_path("table"), &err);
    fuzz_said(rc, &err);
    if (rc == DP_OK) {
        check_cells(&table);
        char *text = NULL;
        size_t from = 0;
        for (size_t i = 0; i + 8 <= size && from == 0; i++)
            from = memcmp(data + i, "%% text\n", 8) == 0 ? i + 8 : 0;
        text = fuzz_text(data + from, from > 0 ? size - from : 0);
        fill(&table, text);
        free(text);
    }
    dp_table_free(&table);
    return 0;
}
