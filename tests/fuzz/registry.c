/* Lines of a registry of populations, read, looked up and appended to. A line that a writer adds to a readable registry is
 * found by the next reader. */
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "ledger/people.h"

static const char table[] = "0123456789abcdef0123456789abcdef";

static void ask(const struct dp_registry *registry, const char *population)
{
    const struct dp_people_query query = {.population = population, .own = {fuzz_path("ledger")}};
    struct dp_people people = {0};
    struct dp_ledger_before cost = {0};
    struct dp_err err = {0};
    int rc = dp_people_open(&people, registry, &query, &err);
    fuzz_said(rc, &err);
    if (rc == DP_OK) {
        const struct dp_people_ledger *ledger = dp_people_default(&people);
        fuzz_said(dp_people_admit(&people, ledger, &err), &err);
        fuzz_said(dp_people_admit_budget(&people, ledger, &err), &err);
        rc = dp_people_elsewhere(&people, ledger, "null-record", false, &cost, &err);
        fuzz_said(rc, &err);
        fuzz_assert(rc != DP_OK || (cost.epsilon >= 0 && cost.delta >= 0));
    }
    dp_people_close(&people);
}

static void write_one(const struct dp_registry_place *place)
{
    const struct dp_registry_line line = {
        .kind = DP_REGISTRY_IMPORT, .population = "added", .table = table, .path = "/a", .directory = "/b"};
    const struct dp_registry_line *found;
    struct dp_registry *registry;
    struct dp_err err = {0};
    int rc = dp_registry_open(&registry, place, true, &err);
    fuzz_said(rc, &err);
    if (rc == DP_OK)
        fuzz_assert(dp_registry_add(registry, &line, 1, &err) == DP_OK);
    dp_registry_close(registry);
    if (rc != DP_OK)
        return;
    fuzz_assert(dp_registry_open(&registry, place, false, &err) == DP_OK);
    found = dp_registry_table(registry, table, "");
    fuzz_assert(found != NULL && strcmp(found->population, "added") == 0);
    dp_registry_close(registry);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char key[32] = "key";
    const char *directory = fuzz_path("registry");
    const struct dp_registry_place place = {.directory = directory, .named = true};
    struct dp_registry *registry;
    struct dp_err err = {0};
    fuzz_remove(directory);
    fuzz_assert(mkdir(directory, 0700) == 0);
    fuzz_assert(chmod(fuzz_file("registry/lines", data, size), 0600) == 0);
    fuzz_assert(chmod(fuzz_file("registry/key", key, sizeof key), 0600) == 0);
    int rc = dp_registry_open(&registry, &place, false, &err);
    fuzz_said(rc, &err);
    if (rc == DP_OK && registry->lines > 0)
        ask(registry, registry->line[registry->lines - 1].population);
    dp_registry_close(registry);
    write_one(&place);
    return 0;
}
