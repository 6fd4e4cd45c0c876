/* The registry: lines that are complete or absent, tables known by bytes and by path, and the cost of runs whose ledger is
   gone. */
#include "unit.h"
#include "scratch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gate/where.h"
#include "ledger/people.h"

static const struct dp_registry_place here = {.directory = "registry", .named = true};

static int fresh(void **state)
{
    (void)state;
    return system("rm -rf *");
}

static struct dp_registry *opened(bool write)
{
    struct dp_registry *r;
    struct dp_err err = {0};
    assert_ok(dp_registry_open(&r, &here, write, &err));
    return r;
}

static void refused(enum dp_status status, const char *message)
{
    struct dp_registry *r;
    struct dp_err err = {0};
    assert_fails(dp_registry_open(&r, &here, true, &err), status, message);
}

static void add_import(struct dp_registry *r, const char *population, const char *table, const char *path)
{
    const struct dp_registry_line line = {
        .kind = DP_REGISTRY_IMPORT, .population = population, .table = table, .path = path, .directory = "/data"};
    assert_int_equal(dp_registry_add(r, &line, 1, NULL), 0);
}

static void add_run(struct dp_registry *r, const char *ledger, const char *run, double epsilon)
{
    const struct dp_registry_line line = {.kind = DP_REGISTRY_RUN,
                                          .population = "people",
                                          .ledger = ledger,
                                          .run = run,
                                          .adjacency = "null-record",
                                          .epsilon = epsilon,
                                          .delta = 1e-6};
    assert_int_equal(dp_registry_add(r, &line, 1, NULL), 0);
}

static const char *table_of(const struct dp_registry *r, const char *table, const char *path)
{
    const struct dp_registry_line *line = dp_registry_table(r, table, path);
    return line != NULL ? line->population : "none";
}

TEST_IN(a_table_is_known_by_its_bytes_then_by_its_path, fresh, NULL)
{
    struct dp_registry *r = opened(true);
    assert_string_equal(table_of(r, "aa", "/a"), "none");
    add_import(r, "first", "aa", "/a");
    add_import(r, "second", "bb", "/b");
    add_import(r, "stream", "", "");
    dp_registry_close(r);
    r = opened(false);
    assert_int_equal(r->lines, 3);
    assert_string_equal(table_of(r, "aa", "/elsewhere"), "first");
    assert_string_equal(table_of(r, "other", "/b"), "second");
    assert_string_equal(table_of(r, "aa", "/b"), "first"); /* bytes count before the path */
    assert_string_equal(table_of(r, "", "/b"), "second");  /* not known yet */
    assert_string_equal(table_of(r, "", ""), "none");      /* and an empty path matches nothing */
    assert_string_equal(table_of(r, "cc", "/c"), "none");
    assert_non_null(dp_registry_population(r, "second"));
    assert_null(dp_registry_population(r, "third"));
    dp_registry_close(r);
    r = opened(true);
    add_import(r, "the last word", "aa", "/a");
    assert_string_equal(table_of(r, "aa", "/a"), "the last word");
    dp_registry_close(r);
}

TEST_IN(a_digest_follows_key_purpose_and_bytes, fresh, NULL)
{
    char one[DP_REGISTRY_DIGEST], same[DP_REGISTRY_DIGEST], other[DP_REGISTRY_DIGEST];
    struct dp_registry *r = opened(true);
    dp_registry_digest(r, "table", "bytes", 5, one);
    dp_registry_close(r);
    r = opened(true);
    dp_registry_digest(r, "table", "bytes", 5, same);
    assert_string_equal(one, same);
    dp_registry_digest(r, "split", "bytes", 5, other);
    assert_string_not_equal(one, other);
    dp_registry_digest(r, "table", "bytez", 5, other);
    assert_string_not_equal(one, other);
    dp_registry_close(r);
    assert_int_equal(system("rm -r registry"), 0);
    r = opened(true);
    dp_registry_digest(r, "table", "bytes", 5, other);
    assert_string_not_equal(one, other);
    dp_registry_close(r);
}

static void put_in(const char *name, const char *text, const char *mode)
{
    FILE *file = fopen(name, mode);
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* Any part of an unfinished last line: it is not read, and the next line replaces it. */
TEST_IN(a_torn_line_is_cut_off, fresh, NULL)
{
    struct dp_registry *r = opened(true);
    add_import(r, "first", "aa", "/a");
    add_import(r, "second", "bb", "/b");
    size_t whole = r->end;
    dp_registry_close(r);
    for (size_t end = whole - 1; end > whole - 40; end--) {
        assert_int_equal(truncate("registry/lines", (off_t)end), 0);
        r = opened(false);
        assert_int_equal(r->lines, 1);
        dp_registry_close(r);
        r = opened(true);
        add_import(r, "second", "bb", "/b");
        assert_int_equal(r->end, whole);
        dp_registry_close(r);
    }
    r = opened(false);
    assert_int_equal(r->lines, 2);
    dp_registry_close(r);
}

TEST_IN(what_is_no_line_is_refused, fresh, NULL)
{
    static const struct {
        const char *line, *why;
    } cases[] = {
        {"{}\n", "line 2 of the registry registry cannot be used: it is not a line as they are written "
                 "(--no-registry goes without it)"},
        {"[1]\n", "line 2 of the registry registry cannot be used: it is not a line as they are written "
                  "(--no-registry goes without it)"},
        {"\n", "line 2 of the registry registry was edited or damaged (--no-registry goes without it)"},
        {"{\"format\":1,\"kind\":\"gift\",\"population\":\"p\"}\n",
         "line 2 of the registry registry cannot be used: it is not a line as they are written (--no-registry goes without it)"},
        {"{\"format\":1,\"kind\":\"run\",\"population\":\"p\",\"ledger\":\"/l\",\"run\":\"r\",\"adjacency\":\"null-record\","
         "\"delta\":1e-6,\"epsilon\":-1}\n",
         "line 2 of the registry registry cannot be used: it is not a line as they are written (--no-registry goes without it)"},
        {"{\"format\":2,\"kind\":\"import\",\"population\":\"p\"}\n",
         "line 2 of the registry registry cannot be used: it is of a newer format (--no-registry goes without it)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fresh(NULL);
        struct dp_registry *r = opened(true);
        add_import(r, "first", "aa", "/a");
        dp_registry_close(r);
        put_in("registry/lines", cases[i].line, "a");
        refused(DP_E_UNSAFE, cases[i].why);
    }
}

TEST_IN(paths_that_json_cannot_hold_are_refused, fresh, NULL)
{
    struct dp_registry *r = opened(true);
    const struct dp_registry_line line = {
        .kind = DP_REGISTRY_IMPORT, .population = "p", .table = "aa", .path = "/gr\xf6sse", .directory = ""};
    assert_fails(dp_registry_add(r, &line, 1, &err), DP_E_RUN,
                 "the path /gr\\xf6sse is not UTF-8, which the registry registry cannot hold "
                 "(--no-registry goes without it)");
    assert_int_equal(r->lines, 0);
    dp_registry_close(r);
}

TEST_IN(there_may_be_none, fresh, NULL)
{
    struct dp_registry *r;
    const struct dp_registry_place nowhere = {0}, none = {.none = true}, unmade = {.directory = "/proc/nobody/registry"};
    assert_int_equal(dp_registry_open(&r, &nowhere, true, &err), DP_REGISTRY_NONE);
    assert_string_equal(err.message, "neither DPLINE_REGISTRY nor HOME says where the registry of populations is");
    assert_int_equal(dp_registry_open(&r, &none, true, &err), DP_REGISTRY_NONE);
    assert_string_equal(err.message, "");
    assert_int_equal(dp_registry_open(&r, &unmade, true, &err), DP_REGISTRY_NONE);
    assert_int_equal(dp_registry_open(&r, &here, false, &err), DP_REGISTRY_NONE); /* a reader does not create it */
    assert_int_equal(access("registry", F_OK), -1);
    assert_int_equal(mkdir("registry", 0700), 0);
    assert_int_equal(dp_registry_open(&r, &here, false, &err), DP_REGISTRY_NONE);
    dp_registry_close(opened(true));
    dp_registry_close(opened(false));
}

/* A lookup and the line that follows from it are exclusive. */
TEST_IN(one_writer_at_a_time, fresh, NULL)
{
    enum { PROCESSES = 8, EACH = 20 };
    for (int p = 0; p < PROCESSES; p++)
        if (fork() == 0) {
            for (int i = 0; i < EACH; i++) {
                struct dp_registry *r;
                char name[32];
                if (dp_registry_open(&r, &here, true, NULL) != DP_OK)
                    _exit(1);
                snprintf(name, sizeof name, "%zu", r->lines);
                const struct dp_registry_line line = {
                    .kind = DP_REGISTRY_IMPORT, .population = name, .table = name, .path = "", .directory = ""};
                if (dp_registry_add(r, &line, 1, NULL) != DP_OK)
                    _exit(1);
                dp_registry_close(r);
            }
            _exit(0);
        }
    for (int p = 0; p < PROCESSES; p++) {
        int status;
        assert_true(wait(&status) > 0);
        assert_int_equal(status, 0);
    }
    struct dp_registry *r = opened(false);
    assert_int_equal(r->lines, PROCESSES * EACH);
    for (size_t i = 0; i < r->lines; i++)
        assert_int_equal(atoi(r->line[i].population), i);
    dp_registry_close(r);
}

TEST_IN(some_populations_are_nobodys, fresh, NULL)
{
    assert_true(dp_registry_concerns("people.csv", "0123"));
    assert_true(dp_registry_concerns("people.csv", NULL));
    assert_false(dp_registry_concerns("0123", "0123"));
    assert_false(dp_registry_concerns("dp-synth:classification:1", "0123"));
    assert_false(dp_registry_concerns("", NULL));
    assert_false(dp_registry_concerns(NULL, "0123"));
}

/* Lost runs count with their budget, under their adjacency; a run without a bound counts as infinite. */
TEST_IN(lost_runs_are_added_up, fresh, NULL)
{
    struct dp_people people;
    struct dp_ledger_before cost;
    const struct dp_people_query query = {.population = "people", .own = {"ledger"}};
    struct dp_registry *r = opened(true);
    add_run(r, "/gone/ledger", "11111111111111111111111111111111", 0.5);
    add_run(r, "/gone/too", "22222222222222222222222222222222", 0.25);
    assert_int_equal(dp_people_open(&people, r, &query, NULL), 0);
    assert_string_equal(dp_people_lost(&people, "null-record", DP_PEOPLE_ROWS, &cost), "/gone/too");
    assert_int_equal(cost.runs, 2);
    assert_near(cost.epsilon, 0.75, 1e-12);
    assert_true(cost.epsilon >= 0.75 && cost.delta >= 2e-6);
    assert_null(dp_people_lost(&people, "replace-one", DP_PEOPLE_ROWS, &cost));
    assert_string_equal(dp_people_default(&people)->name, "ledger");
    assert_int_equal(dp_people_admit(&people, dp_people_default(&people), NULL), 0);
    dp_people_close(&people);
    add_run(r, "/gone/too", "33333333333333333333333333333333", (double)INFINITY);
    dp_registry_close(r);
    r = opened(false);
    assert_int_equal(dp_people_open(&people, r, &query, NULL), 0);
    dp_people_lost(&people, "null-record", DP_PEOPLE_ROWS, &cost);
    assert_true(isinf(cost.epsilon) && cost.runs == 3);
    dp_people_close(&people);
    dp_registry_close(r);
}

TEST_IN(a_run_is_noted_with_the_cost_of_its_initial_model, fresh, NULL)
{
    struct dp_where where = {0};
    char warning[DP_ERR_MESSAGE_SIZE];
    struct dp_ledger_run run = {.data = "digest",
                                .population = "people",
                                .rows = 100,
                                .adjacency = "null-record",
                                .epsilon = 1,
                                .delta = 1e-6,
                                .init.epsilon = 0.5,
                                .init.delta = 1e-6};
    const struct dp_where_query query = {.ledger = "ledger", .registry = here};
    assert_int_equal(dp_where_open(&where, &query, &run, warning, NULL), 0);
    assert_string_equal(warning, "");
    assert_int_equal(dp_where_note(&where, &run, "11111111111111111111111111111111", NULL), 0);
    assert_near(where.registry->line[0].epsilon, 1.5, 1e-12);
    assert_near(where.registry->line[0].delta, 2e-6, 1e-12);
    dp_where_close(&where);
    /* rows of nobody, so no registry */
    run.population = "dp-synth:classification:1";
    assert_int_equal(dp_where_open(&where, &query, &run, warning, NULL), 0);
    assert_null(where.registry);
    assert_int_equal(dp_where_note(&where, &run, "33333333333333333333333333333333", NULL), 0);
    dp_where_close(&where);
}

TESTS(enter, leave)
