#include "ledger/aliases.h"

#include "base/mem.h"

static bool is_among(const char *const *list, size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i], text) == 0)
            return true;
    return false;
}

bool dp_aliases_have(const struct dp_aliases *a, const char *population)
{
    return is_among(a->name, a->names, population);
}

static void add(const char ***list, size_t *count, size_t *capacity, const char *text)
{
    if (text[0] == '\0' || is_among(*list, *count, text))
        return;
    dp_extend(list, capacity, *count + 1, sizeof **list);
    (*list)[(*count)++] = text;
}

void dp_aliases_find(struct dp_aliases *a, const struct dp_registry *r, const char *population)
{
    add(&a->name, &a->names, &a->name_capacity, population);
    for (size_t before = 0; r != NULL && before < a->names + a->tables;) {
        before = a->names + a->tables;
        for (size_t i = 0; i < r->lines; i++) {
            const struct dp_registry_line *l = &r->line[i];
            if (l->kind != DP_REGISTRY_IMPORT)
                continue;
            if (dp_aliases_have(a, l->population))
                add(&a->table, &a->tables, &a->table_capacity, l->table);
            else if (is_among(a->table, a->tables, l->table))
                add(&a->name, &a->names, &a->name_capacity, l->population);
        }
    }
}

void dp_aliases_free(struct dp_aliases *a)
{
    free(a->name);
    free(a->table);
    *a = (struct dp_aliases){0};
}
