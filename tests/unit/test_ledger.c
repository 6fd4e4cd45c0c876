/* The ledger: the hash chain, damage and torn lines, several writers, payments and refunds; and no crash or full disk leaves a
   released lap unpaid. */
#include "books.h"
#include "scratch.h"
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sodium.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ledger/charge_json.h"
#include "ledger/orders.h"
#include "ledger/sum.h"
#include "priv/gdp.h"
#include "priv/rdp.h"

#define OTHER "other.ledger"

/* --- faults: replacements of functions of libc ------------------------------------------------------------------------- */

static struct {
    int countdown; /* steps until the process dies; 0: never */
    int syncs_fail, syncs;
} fault;

static bool dies_now(void)
{
    return fault.countdown > 0 && --fault.countdown == 0;
}

/* Each write can be interrupted before, half way and after; fsync and ftruncate before and after. */
ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at)
{
    if (dies_now())
        _exit(9);
    if (dies_now()) {
        syscall(SYS_pwrite64, fd, bytes, length / 2, at);
        _exit(9);
    }
    ssize_t n = syscall(SYS_pwrite64, fd, bytes, length, at);
    if (dies_now())
        _exit(9);
    return n;
}

int fsync(int fd)
{
    fault.syncs++;
    if (dies_now())
        _exit(9);
    if (fault.syncs_fail > 0 && --fault.syncs_fail == 0) {
        errno = EIO;
        return -1;
    }
    if (dies_now())
        _exit(9);
    return fd < 0 ? -1 : 0; /* nothing here depends on the disk, and hundreds of syncs take time */
}

int ftruncate(int fd, off_t length)
{
    if (dies_now())
        _exit(9);
    int rc = (int)syscall(SYS_ftruncate, fd, length);
    if (dies_now())
        _exit(9);
    return rc;
}

/* --- helpers ------------------------------------------------------------------------------------------------------- */

static int enter_with_sodium(void **state)
{
    return sodium_init() >= 0 ? enter(state) : -1;
}

static const struct dp_ledger_run run = {.data = "0123456789abcdef0123456789abcdef",
                                         .rows = 1000,
                                         .adjacency = "null-record",
                                         .epsilon = 1,
                                         .delta = 1e-5,
                                         .time = 1700000000};

static struct dp_event poisson(double rate, double multiplier)
{
    return dp_event_gaussian(DP_SAMPLING_POISSON, rate, multiplier, 0);
}

/* r(α) = α / 2z² */
static struct dp_event gaussian(double multiplier)
{
    return dp_event_gaussian(DP_SAMPLING_NONE, 1, multiplier, 0);
}

/* A run whose plan is known, or the run of most tests, as the gate ends it */
static int close_run(struct dp_ledger *ledger, const struct dp_event *event, int64_t laps, struct dp_err *err)
{
    int rc = close_with(ledger, laps > 0 ? LAPS_OF(*event, laps) : &(struct dp_charges){0}, run.delta, "done", err);
    dp_ledger_free(ledger);
    return rc;
}

/* A run that reserves these laps and is killed */
static void killed_run(const struct dp_ledger_run *r, const struct dp_event *event, int64_t laps)
{
    struct dp_ledger *ledger = opened(r);
    reserve(ledger, event, laps);
    dp_ledger_free(ledger);
}

/* `run` with `laps` laps of the plan, which is `event` for any number of laps. The plan is for the caller to free. */
static struct dp_ledger_run planned_run(struct dp_plan *plan, const struct dp_event *event, int64_t laps)
{
    struct dp_ledger_run planned = run;
    struct dp_err err = {0};
    *plan = (struct dp_plan){0};
    assert_ok(dp_plan_add(plan, event, DP_PLAN_OPEN, &err));
    planned.plan = plan;
    planned.laps = laps;
    return planned;
}

static size_t get_file(const char *path, char *bytes, size_t size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t length = fread(bytes, 1, size, file);
    assert_true(length < size);
    fclose(file);
    return length;
}

static void put_file(const char *path, const char *bytes, size_t length)
{
    char name[80];
    gone(path);
    snprintf(name, sizeof name, "%s.mark", path); /* the mark of the beginning, because these tests are about the lines */
    FILE *mark = fopen(name, "w");
    assert_non_null(mark);
    fprintf(mark, "%032d:0:" DP_LEDGER_ORIGIN "\n", 0);
    fclose(mark);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    fclose(file);
}

static size_t lines_of(const char *path)
{
    struct dp_ledger_book book;
    read_book(&book, path);
    size_t lines = book.lines;
    assert_false(book.torn);
    dp_ledger_book_free(&book);
    return lines;
}

/* open, reserve, reserve; the run is then lost. Returns the file's length. */
static size_t three_lines(char *bytes, size_t size)
{
    struct dp_ledger *ledger = opened(&run);
    struct dp_event event = poisson(0.01, 1.1), other = poisson(0.02, 2.2);
    reserve(ledger, &event, 64);
    reserve(ledger, &other, 128);
    dp_ledger_free(ledger);
    return get_file(PATH, bytes, size);
}

static void assert_run_refused(const char *path, const struct dp_ledger_run *r, enum dp_status status, const char *sentence)
{
    struct dp_ledger *ledger;
    struct dp_err err = {0};
    assert_fails(dp_ledger_open(&ledger, path, r, &err), status, sentence);
    assert_null(ledger);
}

static void assert_refused(const char *path, enum dp_status status, const char *sentence)
{
    assert_run_refused(path, &run, status, sentence);
}

/* The book after another line with these members */
static int take_line(struct dp_ledger_book *book, const char *members, struct dp_err *err)
{
    char hash[DP_LEDGER_HASH + 1];
    memcpy(hash, dp_ledger_book_hash(book), sizeof hash);
    char *text = line_of(json_loads(json_of(members), 0, NULL), book->lines + 1, hash);
    int rc = dp_ledger_book_take(book, text, strlen(text), err);
    free(text);
    return rc;
}

/* Makes a ledger of lines with these members, up to the first that is NULL, and returns its length. */
static size_t put_lines(const char *const *members, size_t most)
{
    char bytes[8192] = "", hash[DP_LEDGER_HASH + 1] = DP_LEDGER_ORIGIN;
    for (size_t i = 0; i < most && members[i] != NULL; i++) {
        char *text = line_of(json_loads(json_of(members[i]), 0, NULL), i + 1, hash);
        strcat(bytes, text);
        free(text);
    }
    put_file(PATH, bytes, strlen(bytes));
    return strlen(bytes);
}

/* Members of lines, with a ' for each " */
#define FIRST "00112233445566778899aabbccddeeff"
#define SECOND "11112233445566778899aabbccddeeff"
#define OPENS(id, more)                                                                                                        \
    "{'kind':'open','run':'" id "','data':'d','rows':9,'adjacency':'null-record','epsilon':1,'delta':1e-5,'seeded':false,"     \
    "'private_preprocessing':'','software':'x'" more "}"
#define OPEN OPENS(FIRST, "")
#define OPEN3 OPENS(FIRST, ",'format':3") /* in which a run is charged once */
#define OF(kind, members) "{'kind':'" kind "','run':'" FIRST "'," members "}"
#define CHARGE(laps) "{'laps':" laps ",'sampling':'none','queries':[{'noise':'gaussian','multiplier':2}]}"
#define CHARGES(laps) "[" CHARGE(laps) "]"
#define LAPS(kind, laps) OF(kind, "'charge':" CHARGE(laps))
#define PLAN(laps) OF("plan", "'charges':" CHARGES(laps))
#define CHECKPOINT(laps) OF("checkpoint", "'laps':" laps ",'charges':" CHARGES(laps))
#define UNTIL(laps, until) OF("checkpoint", "'laps':" laps ",'charges':" CHARGES(laps) ",'until':" CHARGES(until))
#define ENDS(laps) "'laps':" laps ",'epsilon':1,'delta':0.1,'accountant':'a','status':'s'"
#define CLOSE(laps) OF("close", ENDS(laps))
#define CLOSE3(laps, charges) OF("close", ENDS(laps) ",'charges':" charges)
#define LIMIT(whose, epsilon, orders)                                                                                          \
    "{'kind':'budget'," whose ",'adjacency':'null-record','epsilon':" epsilon ",'delta':1e-5," orders "}"
#define BUDGET(orders) LIMIT("'data':'d'", "3", orders)
#define LOWER(orders) LIMIT("'data':'d'", "2", orders)
#define OF_PEOPLE(orders) LIMIT("'population':'p'", "3", orders)

/* --- the chain ----------------------------------------------------------------------------------------------------- */

/* The hash as documented in dp-ledger(5), computed from the bytes. */
TEST_IN(the_chain_is_as_documented, fresh, NULL)
{
    char bytes[8192], prev[65], hash[65];
    unsigned char binary[32];
    struct dp_event event = poisson(0.01, 1.1);
    struct dp_ledger *ledger = opened(&run);
    reserve(ledger, &event, 100);
    assert_int_equal(close_run(ledger, &event, 60, &err), 0);
    size_t length = get_file(PATH, bytes, sizeof bytes);
    bytes[length] = '\0';
    static const char *const kinds[] = {"open", "reserve", "close"};
    memset(prev, '0', 64);
    prev[64] = '\0';
    char *line = bytes;
    for (int i = 0; i < 3; i++) {
        char *feed = strchr(line, '\n');
        assert_non_null(feed);
        *feed = '\0';
        char *tail = strstr(line, ",\"hash\":\"");
        assert_non_null(tail);
        crypto_generichash(binary, 32, (unsigned char *)line, (unsigned long long)(tail - line), NULL, 0);
        sodium_bin2hex(hash, 65, binary, 32);
        json_t *json = json_loads(line, 0, NULL);
        assert_non_null(json);
        assert_int_equal(json_integer_value(json_object_get(json, "seq")), i + 1);
        assert_string_equal(json_string_value(json_object_get(json, "prev")), prev);
        assert_string_equal(json_string_value(json_object_get(json, "hash")), hash);
        assert_string_equal(json_string_value(json_object_get(json, "kind")), kinds[i]);
        assert_int_equal(strlen(json_string_value(json_object_get(json, "run"))), 32);
        json_decref(json);
        memcpy(prev, hash, 65);
        line = feed + 1;
    }
    assert_int_equal(line - bytes, length);
    struct stat st;
    assert_int_equal(stat(PATH, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

TEST_IN(every_flipped_bit_is_found, fresh, NULL)
{
    char bytes[8192];
    size_t length = three_lines(bytes, sizeof bytes);
    for (size_t at = 0; at < length; at++)
        for (int bit = 0; bit < 8; bit++) {
            struct dp_ledger_book book = {.path = PATH};
            err = (struct dp_err){0};
            bytes[at] = (char)(bytes[at] ^ (1 << bit));
            int rc = dp_ledger_book_take(&book, bytes, length, &err);
            if (at == length - 1) {
                assert_int_equal(rc, 0); /* the last line has lost its line feed */
                assert_true(book.torn);
                assert_int_equal(book.lines, 2);
            } else {
                if (rc != DP_E_UNSAFE)
                    fail_msg("byte %zu, bit %d: %d", at, bit, rc);
                assert_non_null(strstr(err.message, "of the ledger test.ledger was edited or damaged: "));
            }
            dp_ledger_book_free(&book);
            bytes[at] = (char)(bytes[at] ^ (1 << bit));
        }
    bytes[length / 2] ^= 1;
    put_file(PATH, bytes, length);
    struct dp_ledger *ledger;
    assert_int_equal(dp_ledger_open(&ledger, PATH, &run, &err), DP_E_UNSAFE);
    char again[8192];
    assert_int_equal(get_file(PATH, again, sizeof again), length);
    assert_memory_equal(again, bytes, length);
}

TEST_IN(lines_cannot_be_moved, fresh, NULL)
{
    static const struct {
        int line[4], bad; /* 1 to 3: of the ledger; 4 to 6: of another ledger */
    } cases[] = {{{2, 3}, 1}, {{1, 3}, 2}, {{1, 2, 6}, 3}, {{1, 2, 2, 3}, 3}};
    char bytes[2][8192], moved[8192], sentence[200];
    const char *line[7];
    for (int ledger = 0; ledger < 2; ledger++) {
        gone(PATH);
        size_t length = three_lines(bytes[ledger], sizeof bytes[ledger]);
        const char *from = bytes[ledger];
        for (int i = 1; i <= 3; i++) {
            line[3 * ledger + i] = from;
            from = (const char *)memchr(from, '\n', length) + 1;
        }
    }
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        size_t length = 0;
        for (int i = 0; i < 4 && cases[c].line[i] > 0; i++) {
            const char *from = line[cases[c].line[i]];
            const size_t bytes_of_line = strcspn(from, "\n") + 1;
            memcpy(moved + length, from, bytes_of_line);
            length += bytes_of_line;
        }
        put_file(PATH, moved, length);
        snprintf(sentence, sizeof sentence,
                 "line %d of the ledger test.ledger was edited or damaged: it does not follow the line before it",
                 cases[c].bad);
        assert_refused(PATH, DP_E_UNSAFE, sentence);
    }
}

/* A run that chooses addition */
#define CHOOSES(id) OPENS(id, ",'addition':true")

/* Lines with correct hashes and impossible content. */
TEST_IN(a_line_must_add_up, fresh, NULL)
{
    static const struct {
        const char *line[6], *why; /* the last one is at fault, or none if why is NULL */
    } cases[] = {
        /* a budget in the form of former versions: one order, and a digest */
        {{BUDGET("'order':8"), OPEN, LAPS("reserve", "5")}, NULL},
        {{OF_PEOPLE("'orders':[{'order':8,'delta':5e-6},{'order':16,'delta':5e-6}]"), OPEN}, NULL},
        {{OF_PEOPLE("'orders':[{'order':8,'delta':6e-6},{'order':16,'delta':5e-6}]")}, "its budget makes no sense"},
        {{OF_PEOPLE("'orders':{}")}, "it is not a line of a ledger"},
        /* addition has all of delta, and the filter has nothing */
        {{OF_PEOPLE("'orders':[]"), OPEN}, NULL},
        {{OF_PEOPLE("'orders':[{'order':8,'delta':5e-6}],'order':8")}, "it is not a line of a ledger"},
        {{OF_PEOPLE("'order':8,'before':{'epsilon':0.5,'delta':1e-6}")}, NULL}, /* with runs in other ledgers */
        /* an unused budget may be replaced; a used one only lowered */
        {{BUDGET("'order':8"), LIMIT("'data':'d','population':'p'", "3", "'order':9"), OPEN, OF_PEOPLE("'order':7")}, NULL},
        {{BUDGET("'order':8"), OPEN, LAPS("reserve", "5"), BUDGET("'order':8")}, "it raises a budget that runs have used"},
        {{BUDGET("'order':8"), OPEN, LAPS("reserve", "5"), LOWER("'order':8")}, NULL},
        {{BUDGET("'order':8"), OPEN, LAPS("reserve", "5"), LOWER("'order':9")}, "it changes a budget that runs have used"},
        {{BUDGET("'order':8"), OPEN, LAPS("reserve", "5"), LOWER("'orders':[]")}, "it changes a budget that runs have used"},
        {{BUDGET("'order':8"), LOWER("'order':8,'before':{'epsilon':1,'delta':1e-6}")},
         "it begins with something else than the budget that it replaces"},
        {{BUDGET("'order':8"), CHOOSES(FIRST), CHOOSES(SECOND)}, NULL},
        {{BUDGET("'order':8"), OPEN, CHOOSES(SECOND)}, NULL},
        {{BUDGET("'order':8"), OPEN, LAPS("reserve", "5"), CHOOSES(SECOND)},
         "it chooses how to count a budget that runs have used"},
        {{CHOOSES(FIRST)}, "it chooses how to count a budget that runs have used"},
        {{OPEN, BUDGET("'order':8")}, "it is a budget that comes after a run"},
        {{OPEN, LAPS("reserve", "5"), LAPS("refund", "2"), CHECKPOINT("3"), LAPS("reserve", "2")}, NULL},
        {{OPEN, LAPS("reserve", "5"), CHECKPOINT("3")}, "its run did not say what became of all its laps"},
        {{OPEN, LAPS("reserve", "5"), LAPS("refund", "2"), LAPS("reserve", "2")}, "its run cannot reserve more laps"},
        {{OPEN, LAPS("reserve", "5"), LAPS("charge", "3"), LAPS("refund", "2"), CLOSE("3")}, NULL},
        {{OPEN, OPEN}, "it opens a run that was opened before"},
        {{LAPS("reserve", "5")}, "its run is not open"},
        {{OPEN, LAPS("refund", "1")}, "its run did not reserve these laps"},
        {{OPEN, LAPS("reserve", "5"), LAPS("refund", "6")}, "its run did not reserve these laps"},
        {{OPEN, LAPS("reserve", "5"), LAPS("charge", "3"), LAPS("refund", "3")}, "its run did not reserve these laps"},
        {{OPEN, LAPS("reserve", "5"), LAPS("refund", "2"), LAPS("refund", "2")}, "its run did not reserve these laps"},
        {{OPEN, LAPS("reserve", "5"), LAPS("charge", "3"), CLOSE("3")}, "its run did not say what became of all its laps"},
        {{OPEN, LAPS("reserve", "5"), LAPS("charge", "5"), CLOSE("4")}, "its laps are not those that its run used"},
        {{OPEN, LAPS("reserve", "5"), LAPS("charge", "5"), LAPS("reserve", "5")}, "its run cannot reserve more laps"},
        {{OPEN, CLOSE("0"), LAPS("reserve", "5")}, "its run is not open"},
        {{OPEN, CLOSE("0"), CLOSE("0")}, "its run is not open"},
        {{OPEN, LAPS("reserve", "0")}, "it is not a line of a ledger"},
        {{OPEN, LAPS("reserve", "-5")}, "it is not a line of a ledger"},
        {{OPEN3, PLAN("5"), UNTIL("2", "4"), CLOSE3("3", CHARGES("3"))}, NULL},
        {{OPEN3, CLOSE3("0", "[]")}, NULL},
        {{OPEN3, LAPS("reserve", "5"), LAPS("reserve", "5"), CLOSE3("7", CHARGES("7"))}, NULL},
        {{OPEN3, PLAN("5"), CLOSE3("6", CHARGES("6"))}, "its run did not reserve these laps"},
        {{OPEN3, CLOSE3("1", CHARGES("1"))}, "its run did not reserve these laps"},
        {{OPEN3, PLAN("5"), CLOSE3("4", CHARGES("3"))}, "its laps are not those that its run used"},
        {{OPEN3, PLAN("5"), CLOSE("3")}, "it is not a line of a ledger"},
        {{OPEN, LAPS("reserve", "5"), CLOSE3("5", CHARGES("5"))}, "it is not a line of a ledger"},
        {{OPEN3, PLAN("5"), PLAN("6")}, "its run has reserved laps before it said what it would do"},
        {{OPEN3, LAPS("reserve", "5"), PLAN("6")}, "its run has reserved laps before it said what it would do"},
        {{OPEN3, PLAN("5"), LAPS("reserve", "1")}, "its run has reserved its whole plan or budget"},
        {{OPEN3, LAPS("reserve", "5"), LAPS("refund", "1")}, "its run did not reserve these laps"},
        {{OPEN3, PLAN("5"), UNTIL("2", "6")}, "its run did not reserve these laps"},
        {{OPEN3, PLAN("5"), UNTIL("3", "2")}, "its run did not reserve these laps"},
        {{"{'kind':'spend','run':'" FIRST "'}"}, "it is of no kind that this version knows"},
        {{"{'kind':'reserve','run':'" FIRST "'}"}, "it is not a line of a ledger"},
    };
    for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
        struct dp_ledger_book book = {.path = PATH};
        char sentence[300];
        err = (struct dp_err){0};
        size_t lines = 0;
        while (lines < 6 && cases[c].line[lines] != NULL)
            lines++;
        for (size_t i = 0; i + 1 < lines; i++)
            assert_ok(take_line(&book, cases[c].line[i], &err));
        snprintf(sentence, sizeof sentence, "line %zu of the ledger test.ledger was edited or damaged: %s", lines,
                 cases[c].why);
        if (cases[c].why == NULL)
            assert_ok(take_line(&book, cases[c].line[lines - 1], &err));
        else
            assert_fails(take_line(&book, cases[c].line[lines - 1], &err), DP_E_UNSAFE, sentence);
        dp_ledger_book_free(&book);
    }
}

/* A run is killed when 7 of its laps are paid for, 3 of them before its checkpoint. After it is resumed, those 7 stay spent. No
   writer refunds one of them, and a ledger with such a refund and correct hashes is refused. */
TEST_IN(what_may_be_out_is_not_given_back, fresh, NULL)
{
    static const char *const lines[] = {OPEN, LAPS("reserve", "5"), LAPS("refund", "2"), CHECKPOINT("3"), LAPS("reserve", "4")};
    for (int refund = 3; refund <= 4; refund++) {
        struct dp_ledger_book book = {.path = PATH};
        char resumed[600], reserved[600], given[600], mark[DP_LEDGER_MARK];
        err = (struct dp_err){0};
        for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
            assert_ok(take_line(&book, lines[i], &err));
            if (i == 3)
                snprintf(mark, sizeof mark, FIRST ":4:%s", dp_ledger_book_hash(&book));
        }
        snprintf(resumed, sizeof resumed, OPENS("%s", ",'resumes':'%s'"), SECOND, mark);
        snprintf(reserved, sizeof reserved, "{'kind':'reserve','run':'%s','charge':" CHARGE("3") "}", SECOND);
        snprintf(given, sizeof given, "{'kind':'refund','run':'%s','charge':" CHARGE("%d") "}", SECOND, refund);
        assert_ok(take_line(&book, resumed, &err));
        assert_ok(take_line(&book, reserved, &err));
        if (refund == 3)
            assert_ok(take_line(&book, given, &err));
        else
            assert_fails(take_line(&book, given, &err), DP_E_UNSAFE,
                         "line 8 of the ledger test.ledger was edited or damaged: its run did not reserve these laps");
        dp_ledger_book_free(&book);
    }
}

/* --- formats ------------------------------------------------------------------------------------------------------- */

/* The format that line seq of the file states, 0 for none. */
static int64_t stated_format(const char *path, int seq)
{
    char bytes[8192];
    bytes[get_file(path, bytes, sizeof bytes - 1)] = '\0';
    const char *line = bytes;
    for (int i = 1; i < seq; i++)
        line = strchr(line, '\n') + 1;
    json_t *json = json_loads(line, JSON_DISABLE_EOF_CHECK, NULL);
    assert_non_null(json);
    int64_t format = json_integer_value(json_object_get(json, "format"));
    json_decref(json);
    return format;
}

TEST_IN(a_new_ledger_states_its_format_once, fresh, NULL)
{
    char bytes[8192];
    three_lines(bytes, sizeof bytes);
    assert_int_equal(stated_format(PATH, 1), DP_LEDGER_FORMAT);
    assert_int_equal(stated_format(PATH, 2), 0);
    assert_int_equal(stated_format(PATH, 3), 0);
}

/* Lines of 0.1 state no format. */
TEST_IN(an_older_ledger_goes_on_in_the_newer_format, fresh, NULL)
{
    put_lines((const char *[]){OPEN}, 1);
    assert_int_equal(lines_of(PATH), 1);
    dp_ledger_free(opened(&run));
    dp_ledger_free(opened(&run));
    assert_int_equal(stated_format(PATH, 1), 0);
    assert_int_equal(stated_format(PATH, 2), DP_LEDGER_FORMAT);
    assert_int_equal(stated_format(PATH, 3), 0);
}

/* In format 2 a run reserved its laps in pieces, and had been admitted with its plan. Forty laps of 1/4 fit at order 2. */
TEST_IN(an_older_run_that_is_going_keeps_its_plan, fresh, NULL)
{
    static const char *const lines[] = {"{'kind':'budget','population':'d','adjacency':'null-record','epsilon':9.40685,"
                                        "'delta':0.5,'orders':[{'order':2,'delta':0.5}],'format':2}",
                                        OPEN, PLAN("30"), LAPS("reserve", "5")};
    put_lines(lines, sizeof lines / sizeof *lines);
    assert_int_equal(spent(), 5);
    struct dp_event event = gaussian(2);
    struct dp_ledger_run second = run;
    second.data = "d";
    second.epsilon = 20;
    struct dp_ledger *ledger = opened(&second);
    assert_int_equal(dp_ledger_reserve(ledger, &event, 11, &err), DP_E_BUDGET);
    reserve(ledger, &event, 10);
    dp_ledger_free(ledger);
}

TEST_IN(a_newer_format_is_refused, fresh, NULL)
{
    static const struct {
        const char *line[2], *sentence; /* the last line is at fault */
    } cases[] = {
        {{OPENS(FIRST, ",'format':4")},
         "line 1 of the ledger test.ledger is of a newer format than 3, the newest that this version knows"},
        {{OPENS(FIRST, ",'format':2"), "{'kind':'unheard of','format':4,'new':1}"},
         "line 2 of the ledger test.ledger is of a newer format than 3, the newest that this version knows"},
        {{OPENS(FIRST, ",'format':2"), OPENS(SECOND, ",'format':2")},
         "line 2 of the ledger test.ledger was edited or damaged: its format is not above the format of the lines before it"},
        {{OPENS(FIRST, ",'format':1")},
         "line 1 of the ledger test.ledger was edited or damaged: its format is not above the format of the lines before it"},
        {{OPENS(FIRST, ",'format':'2'")},
         "line 1 of the ledger test.ledger was edited or damaged: its format is not above the format of the lines before it"},
    };
    assert_int_equal(DP_LEDGER_FORMAT, 3);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char again[8192];
        size_t length = put_lines(cases[c].line, 2);
        assert_refused(PATH, DP_E_UNSAFE, cases[c].sentence);
        assert_int_equal(get_file(PATH, again, sizeof again), length);
    }
}

/* --- torn lines ---------------------------------------------------------------------------------------------------- */

TEST_IN(a_torn_line_is_cut_off_wherever_it_tore, fresh, NULL)
{
    char bytes[8192];
    size_t length = three_lines(bytes, sizeof bytes), from = length - 1;
    while (bytes[from - 1] != '\n')
        from--;
    for (size_t cut = from; cut < length; cut++) {
        struct dp_ledger_book book;
        put_file(PATH, bytes, cut);
        read_book(&book, PATH);
        assert_int_equal(book.lines, 2);
        assert_int_equal(book.torn, cut > from);
        dp_ledger_book_free(&book);
        assert_int_equal(spent(), 64);
        dp_ledger_free(opened(&run));
        assert_int_equal(lines_of(PATH), 3);
    }
    /* storage that lost power */
    memset(bytes + from + 10, 0, length - from - 10);
    put_file(PATH, bytes, length);
    dp_ledger_free(opened(&run));
    assert_int_equal(lines_of(PATH), 3);
}

TEST_IN(what_is_no_ledger_is_not_cut_off, fresh, NULL)
{
    char again[100];
    static const char sentence[] =
        "line 1 of the ledger test.ledger was edited or damaged: it is not a line of a ledger (is this file a ledger?)";
    put_file(PATH, "a model, say", 12);
    assert_refused(PATH, DP_E_UNSAFE, sentence);
    assert_int_equal(get_file(PATH, again, sizeof again), 12);
    put_file(PATH, "a,b\n1,2\n", 8);
    assert_refused(PATH, DP_E_UNSAFE, sentence);
    assert_int_equal(get_file(PATH, again, sizeof again), 8);
}

/* --- older states -------------------------------------------------------------------------------------------------- */

TEST_IN(a_running_writer_sees_what_was_done_to_the_file, fresh, NULL)
{
    char bytes[8192];
    struct dp_event event = poisson(0.01, 1.1);
    static const char *const sentences[] = {
        "the ledger test.ledger was rolled back while a run was writing to it",
        "line 2 of the ledger test.ledger was changed while a run was writing to it",
        "the ledger test.ledger was moved or replaced while a run was writing to it",
        "the ledger test.ledger was moved or replaced while a run was writing to it",
    };
    for (int what = 0; what < 4; what++) {
        err = (struct dp_err){0};
        fresh(NULL);
        struct dp_ledger *ledger = opened(&run);
        size_t one = get_file(PATH, bytes, sizeof bytes);
        reserve(ledger, &event, 10);
        size_t two = get_file(PATH, bytes, sizeof bytes);
        if (what == 0) {
            assert_int_equal(truncate(PATH, (off_t)one), 0);
        } else if (what == 1) {
            bytes[one + 12] ^= 1;
            FILE *file = fopen(PATH, "r+b");
            fwrite(bytes, 1, two, file);
            fclose(file);
        } else {
            assert_int_equal(rename(PATH, OTHER), 0);
            if (what == 3)
                put_file(PATH, bytes, two);
        }
        assert_fails(dp_ledger_reserve(ledger, &event, 10, &err), DP_E_UNSAFE, sentences[what]);
        /* it cannot continue later, either */
        assert_int_equal(dp_ledger_reserve(ledger, &event, 10, &err), DP_E_RUN);
        assert_int_equal(close_run(ledger, &event, 10, &err), DP_E_RUN);
    }
}

TEST_IN(a_mark_finds_an_older_state, fresh, NULL)
{
    char bytes[8192], mark[DP_LEDGER_MARK], first[DP_LEDGER_MARK];
    struct dp_event event = poisson(0.01, 1.1);
    struct dp_ledger *ledger = opened(&run);
    size_t one = get_file(PATH, bytes, sizeof bytes);
    snprintf(first, sizeof first, "%s", dp_ledger_mark(ledger));
    assert_memory_equal(first, dp_ledger_run_id(ledger), 32);
    assert_memory_equal(first + 32, ":1:", 3);
    reserve(ledger, &event, 10);
    snprintf(mark, sizeof mark, "%s", dp_ledger_mark(ledger));
    assert_memory_equal(mark + 32, ":2:", 3);
    dp_ledger_free(ledger);
    assert_int_equal(dp_ledger_check_mark(PATH, mark, &err), 0);
    assert_int_equal(dp_ledger_check_mark(PATH, first, &err), 0);

    struct dp_ledger_run resumed = run;
    resumed.init.mark = mark;
    ledger = opened(&resumed);
    assert_int_equal(close_run(ledger, &event, 0, &err), 0);
    size_t length = get_file(PATH, bytes, sizeof bytes);

    put_file(PATH, bytes, one);
    static const char older[] = "the ledger test.ledger does not hold line 2 of the model: rolled back to an older "
                                "state, or not the model's ledger";
    assert_fails(dp_ledger_check_mark(PATH, mark, &err), DP_E_UNSAFE, older);
    assert_int_equal(dp_ledger_check_mark(PATH, first, &err), 0);
    assert_fails(dp_ledger_open(&ledger, PATH, &resumed, &err), DP_E_UNSAFE, older);
    /* line 2 of the file is now another line */
    ledger = opened(&run);
    dp_ledger_free(ledger);
    assert_int_equal(dp_ledger_check_mark(PATH, mark, &err), DP_E_UNSAFE);

    put_file(PATH, bytes, length);
    size_t last = strlen(mark) - 1; /* the run exists, but that line has other content */
    char digit = mark[last];
    mark[last] = digit == '0' ? '1' : '0';
    assert_int_equal(dp_ledger_check_mark(PATH, mark, &err), DP_E_UNSAFE);
    mark[last] = digit;
    assert_int_equal(dp_ledger_check_mark(PATH, mark, &err), 0);
    mark[0] = mark[0] == '0' ? '1' : '0'; /* the line exists, but belongs to another run */
    assert_int_equal(dp_ledger_check_mark(PATH, mark, &err), DP_E_UNSAFE);
    static const char *const no_marks[] = {"", ":", "abc:1:def", "x", "00112233445566778899aabbccddeeff:1"};
    for (size_t i = 0; i < sizeof no_marks / sizeof no_marks[0]; i++)
        assert_int_equal(dp_ledger_check_mark(PATH, no_marks[i], &err), DP_E_RUN);
    assert_fails(dp_ledger_open(&ledger, "absent", &resumed, &err), DP_E_RUN,
                 "cannot open the ledger absent: No such file or directory");
}

#define LOST                                                                                                                   \
    "the ledger %s has lines and no %s, so nothing says that none is missing at its end: put back the mark that belongs to "   \
    "it, or write into it what dp-info --get ledger prints for the newest model"

/* An old copy is restored between two runs: no run sees this happen, but the mark file shows it. */
TEST_IN(a_copy_put_back_between_runs_is_found, fresh, NULL)
{
    char bytes[8192], sentence[400];
    struct dp_event event = poisson(0.01, 1.1);
    struct dp_ledger *ledger = opened(&run);
    reserve(ledger, &event, 10);
    assert_int_equal(close_run(ledger, &event, 10, &err), 0);
    size_t length = get_file(PATH, bytes, sizeof bytes);
    ledger = opened(&run);
    reserve(ledger, &event, 30);
    assert_int_equal(close_run(ledger, &event, 30, &err), 0);
    FILE *file = fopen(PATH, "wb");
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    fclose(file);
    snprintf(sentence, sizeof sentence,
             "the ledger test.ledger does not hold line 6, whose mark is in test.ledger.mark: it is an older copy, or another "
             "ledger");
    assert_refused(PATH, DP_E_UNSAFE, sentence);
    struct dp_ledger_book book = {0};
    assert_fails(dp_ledger_book_read(&book, PATH, &err), DP_E_UNSAFE, sentence);
    dp_ledger_book_free(&book);
    struct dp_ledger_budget budget = budget_of("p", 3, 1e-5, 16);
    assert_int_equal(dp_ledger_set_budget(PATH, &budget, &err), DP_E_UNSAFE);

    unlink(PATH); /* it is not created again, either */
    assert_refused(PATH, DP_E_UNSAFE, "the ledger test.ledger is gone, and test.ledger.mark says that there was one");
    assert_int_equal(access(PATH, F_OK), -1);

    /* no mark, where the format has one; a ledger without a line needs no mark */
    put_file(PATH, bytes, length);
    unlink(PATH ".mark");
    snprintf(sentence, sizeof sentence, LOST, PATH, PATH ".mark");
    assert_refused(PATH, DP_E_UNSAFE, sentence);
    assert_fails(dp_ledger_book_read(&book, PATH, &err), DP_E_UNSAFE, sentence);
    dp_ledger_book_free(&book);
    assert_int_equal(dp_ledger_set_budget(PATH, &budget, &err), DP_E_UNSAFE);
    assert_int_equal(access(PATH ".mark", F_OK), -1);
    put_file(PATH, "", 0);
    unlink(PATH ".mark");
    dp_ledger_free(opened(&run));

    /* an invalid mark; a mark from the middle of the file, as a killed run leaves it */
    put_file(PATH, bytes, length);
    file = fopen(PATH ".mark", "w");
    fputs("nothing\n", file);
    fclose(file);
    assert_refused(PATH, DP_E_UNSAFE, "test.ledger.mark does not hold a mark: it was edited or damaged");
    gone(PATH);
    killed_run(&run, &event, 10);
    dp_ledger_free(opened(&run));
    struct stat st;
    assert_int_equal(stat(PATH ".mark", &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

/* --- several writers ------------------------------------------------------------------------------------------------ */

TEST_IN(writers_take_turns, fresh, NULL)
{
    enum { WRITERS = 4, LINES = 50 };
    pid_t child[WRITERS];
    for (int w = 0; w < WRITERS; w++)
        if ((child[w] = fork()) == 0) {
            struct dp_ledger *ledger;
            struct dp_event event = poisson(0.01, 1 + w);
            err = (struct dp_err){0};
            int rc = dp_ledger_open(&ledger, PATH, &run, &err);
            for (int i = 1; rc == 0 && i < LINES; i++)
                rc = dp_ledger_reserve(ledger, &event, w + 1, &err);
            _exit(rc == 0 ? 0 : 1);
        }
    for (int w = 0; w < WRITERS; w++) {
        int status;
        waitpid(child[w], &status, 0);
        assert_int_equal(status, 0);
    }
    struct dp_ledger_book book;
    read_book(&book, PATH);
    assert_int_equal(book.lines, WRITERS * LINES);
    assert_int_equal(book.entries, WRITERS);
    for (int w = 0; w < WRITERS; w++) {
        const struct dp_ledger_entry *entry = &book.entry[w];
        assert_int_equal(entry->paid.count, 1);
        assert_int_equal(entry->paid.charge[0].laps, (LINES - 1) * (int64_t)entry->paid.charge[0].event.query[0].multiplier);
    }
    dp_ledger_book_free(&book);
}

/* --- payments -------------------------------------------------------------------------------------------------------- */

TEST_IN(only_a_clean_end_gives_back, fresh, NULL)
{
    struct dp_event event = poisson(0.01, 1.1), other = poisson(0.02, 1.1), shuffled;
    shuffled = dp_event_gaussian(DP_SAMPLING_SHUFFLED, 1, 1, 10);

    struct dp_ledger *ledger = opened(&run);
    reserve(ledger, &event, 100);
    reserve(ledger, &event, 50);
    dp_ledger_free(ledger); /* killed */
    assert_int_equal(spent(), 150);

    ledger = opened(&run);
    reserve(ledger, &event, 100);
    reserve(ledger, &other, 30);
    reserve(ledger, &event, 100);
    assert_int_equal(spent(), 230);
    reserve(ledger, &shuffled, 3); /* laps of another event only at the end of an epoch of ten */
    assert_int_equal(dp_ledger_reserve(ledger, &event, 1, &err), DP_E_UNSAFE);
    dp_ledger_free(ledger);

    ledger = opened(&run);
    reserve(ledger, &event, 100);
    reserve(ledger, &other, 30);
    struct dp_charge both[] = {{event, 70}, {other, 30}};
    assert_ok(close_with(ledger, &(struct dp_charges){.count = 2, .charge = both}, run.delta, "done", &err));
    assert_int_equal(spent(), 100);
    assert_int_equal(dp_ledger_reserve(ledger, &event, 1, &err), DP_E_RUN);
    dp_ledger_free(ledger);

    for (size_t count = 1; count <= 2; count++) { /* more than was reserved, or another event */
        ledger = opened(&run);
        reserve(ledger, &event, 100);
        size_t lines = lines_of(PATH);
        both[0].laps = count == 1 ? 101 : 70;
        const struct dp_charges used = {.count = count, .charge = both};
        const struct dp_ledger_end end = {&used, 1, run.delta, "pld", "done", NULL, 0};
        assert_int_equal(dp_ledger_close(ledger, &end, &err), DP_E_UNSAFE);
        assert_int_equal(lines_of(PATH), lines);
        assert_int_equal(spent(), 100);
        dp_ledger_free(ledger);
    }

    ledger = opened(&run); /* nothing at all */
    assert_int_equal(close_run(ledger, &event, 0, &err), 0);
    assert_int_equal(spent(), 0);
}

/* Order 2 and z = 2: each lap costs exactly 1/4. The penalty at delta = 1/2 is ln(1/2) − ln(1/2) − ln 2 = −ln 2, so that
   epsilon = 10.1 − ln 2 has room for 10.1: forty laps, and not for forty-one. */
TEST_IN(a_budget_holds_for_all_runs_together, fresh, NULL)
{
    struct dp_ledger_budget budget = budget_of(run.data, 10.1 - M_LN2, 0.5, 2);
    struct dp_event event = gaussian(2), twice = gaussian(M_SQRT2);
    set_budget(&budget);

    struct dp_ledger *lost = opened(&run), *ledger = opened(&run);
    reserve(lost, &event, 10);
    reserve(ledger, &event, 29);
    assert_int_equal(dp_ledger_reserve(ledger, &twice, 1, &err), DP_E_BUDGET); /* costs 1/2, 1/4 is left */
    assert_int_equal(dp_ledger_reserve(ledger, &event, 2, &err), DP_E_BUDGET);
    reserve(ledger, &event, 1);
    assert_fails(dp_ledger_reserve(ledger, &event, 1, &err), DP_E_BUDGET,
                 "the budget of epsilon = 9.40685 for 0123456789abcdef0123456789abcdef, over all its runs in the ledger "
                 "test.ledger, affords fewer than 1 laps more");
    dp_ledger_free(lost);
    assert_int_equal(close_run(ledger, &event, 20, &err), 0); /* ten were not used */

    ledger = opened(&run);
    assert_int_equal(dp_ledger_reserve(ledger, &twice, 6, &err), DP_E_BUDGET);
    reserve(ledger, &twice, 5);
    dp_ledger_free(ledger);

    struct dp_ledger_run elsewhere = run; /* another data set has no budget */
    elsewhere.data = "ffff";
    killed_run(&elsewhere, &event, 1000000);

    struct dp_ledger_run replace = run;
    replace.adjacency = "replace-one";
    assert_int_equal(dp_ledger_open(&ledger, PATH, &replace, &err), DP_E_UNSAFE);
    budget.population = "ffff"; /* too late */
    assert_int_equal(dp_ledger_set_budget(PATH, &budget, &err), DP_E_UNSAFE);
    budget.population = "eeee";
    budget.delta = 1e-9; /* penalty ln(1/2) + ln(1e9) − ln 2 = 19.3 */
    assert_int_equal(dp_ledger_set_budget(PATH, &budget, &err), DP_E_RUN);
}

/* Epochs of 10 laps cost 1/4 each, for any chunks of reservations. */
TEST_IN(shuffled_epochs_are_paid_once, fresh, NULL)
{
    struct dp_ledger_budget budget = budget_of(run.data, 1.1 - M_LN2, 0.5, 2);
    struct dp_event event = dp_event_gaussian(DP_SAMPLING_SHUFFLED, 1, 2, 10);
    set_budget(&budget);
    struct dp_ledger *ledger = opened(&run);
    for (int i = 0; i < 5; i++)
        reserve(ledger, &event, 7);
    assert_int_equal(dp_ledger_reserve(ledger, &event, 6, &err), DP_E_BUDGET);
    reserve(ledger, &event, 5); /* 35 + 5 = 4 epochs */
    assert_int_equal(dp_ledger_reserve(ledger, &event, 7, &err), DP_E_BUDGET);
    dp_ledger_free(ledger);
}

/* The budget belongs to the people: another import of their table, or another name for it, has spent it as well. */
TEST_IN(a_budget_is_of_a_population, fresh, NULL)
{
    struct dp_ledger_budget budget = budget_of("adult", 10.1 - M_LN2, 0.5, 2);
    struct dp_event event = gaussian(2);
    struct dp_ledger_run old = run, first = run, again = run, renamed = run, other = run;
    budget.data = "aaaa";
    old.data = "oooo"; /* a budget in the form of former versions: the digest is the population */
    first.population = again.population = "adult";
    first.data = "aaaa";
    again.data = "bbbb"; /* imported again */
    renamed.population = "grown-ups";
    renamed.data = "bbbb";
    other.population = "bank";
    other.data = "cccc";
    killed_run(&old, &event, 15);
    set_budget(&budget);
    const struct dp_ledger_run *const runs[] = {&first, &again, &renamed};
    for (size_t i = 0; i < 3; i++) {
        killed_run(runs[i], &event, 10);
    }
    again.population = NULL; /* and only by the digest */
    struct dp_ledger *ledger = opened(&again);
    assert_int_equal(dp_ledger_reserve(ledger, &event, 11, &err), DP_E_BUDGET);
    reserve(ledger, &event, 10);
    dp_ledger_free(ledger);
    renamed.data = "dddd"; /* known by its other name only */
    ledger = opened(&renamed);
    assert_int_equal(dp_ledger_reserve(ledger, &event, 1, &err), DP_E_BUDGET);
    dp_ledger_free(ledger);
    killed_run(&other, &event, 1000);
    /* runs without a budget stay separate until they turn out to be on the same people */
    old.population = "adult";
    ledger = opened(&old);
    assert_int_equal(dp_ledger_reserve(ledger, &event, 1, &err), DP_E_BUDGET);
    dp_ledger_free(ledger);
    budget.population = "grown-ups";
    budget.data = NULL;
    assert_fails(dp_ledger_set_budget(PATH, &budget, &err), DP_E_UNSAFE,
                 "the budget of grown-ups in the ledger test.ledger is epsilon = 9.40685 already");
}

/* A population has a budget for 40 laps, and a data set one for 4 laps. Then the first run shows that both are about the same
   people: the tighter budget binds too, in any order and with any lines between them. */
TEST_IN(two_budgets_of_the_same_people_bind_both, fresh, NULL)
{
    for (int first = 0; first < 2; first++) {
        fresh(state);
        struct dp_ledger_budget budget[] = {budget_of("adult", 10.1 - M_LN2, 0.5, 2), budget_of("aaaa", 1.1 - M_LN2, 0.5, 2)};
        struct dp_event event = gaussian(2);
        struct dp_ledger_run both = run; /* without a plan: the laps become known later */
        err = (struct dp_err){0};
        for (int i = 0; i < 2; i++)
            set_budget(&budget[first ^ i]);
        both.population = "adult";
        both.data = "aaaa";
        struct dp_ledger *ledger = opened(&both);
        assert_int_equal(dp_ledger_reserve(ledger, &event, 5, &err), DP_E_BUDGET);
        reserve(ledger, &event, 4);
        assert_int_equal(dp_ledger_reserve(ledger, &event, 1, &err), DP_E_BUDGET);
        dp_ledger_free(ledger);
    }
}

/* Orders 2 and 8 with z = 2: a lap costs 1/4 and 1. Half of delta = 1/2 each: penalties ln(1/2) + ln(4/2) = 0 and ln(7/8) +
   ln(4/8)/7 = -0.23255. A lap may run while one of them has room. */
TEST_IN(one_order_with_room_is_enough, fresh, NULL)
{
    struct dp_ledger_budget budget = budget_of("p", 10.1, 0.5, 8);
    struct dp_event event = gaussian(2);
    struct dp_ledger *ledger;
    struct dp_plan plan;
    struct dp_ledger_run known = planned_run(&plan, &event, 41);
    known.population = "p";
    known.epsilon = 20; /* too much for addition */
    budget.order[0].delta = 0.6;
    budget.order[1] = (struct dp_ledger_order){2, 0.5};
    budget.orders = 2;
    assert_fails(dp_ledger_set_budget(PATH, &budget, &err), DP_E_RUN, "the shares of delta add up to 1.1000000000000001");
    budget.order[0].delta = 0.5;
    set_budget(&budget);
    size_t lines = lines_of(PATH);
    assert_fails(dp_ledger_open(&ledger, PATH, &known, &err), DP_E_UNSAFE,
                 "the budget of epsilon = 10.1 for p in the ledger test.ledger affords 40 of the run's 41 "
                 "laps (--partial lets it run that far); epsilon 0 of it is spent, and with as many laps a run "
                 "of --epsilon 17.9 fits");
    assert_int_equal(lines_of(PATH), lines); /* and nothing was written */
    known.partial = true;
    ledger = opened(&known);
    assert_int_equal(dp_ledger_affords(ledger), 40);
    assert_int_equal(spent(), 40);
    dp_ledger_free(ledger);
    known.partial = false;
    known.laps = 1;
    assert_int_equal(dp_ledger_open(&ledger, PATH, &known, &err), DP_E_UNSAFE);
    known.laps = 0; /* unknown: the laps become known later */
    ledger = opened(&known);
    assert_int_equal(dp_ledger_reserve(ledger, &event, 1, &err), DP_E_BUDGET);
    assert_int_equal(dp_ledger_affords(ledger), INT64_MAX);
    dp_ledger_free(ledger);
    dp_plan_free(&plan);
}

/* The budget affords 40 laps. Another run has reserved 10 when a partial run begins: the partial run gets 30, even if the other
   run does not use its laps. Otherwise the other run, which may have seen its releases, would decide when it ends. */
TEST_IN(a_partial_run_gets_no_more_than_it_was_opened_with, fresh, NULL)
{
    struct dp_ledger_budget budget = budget_of("p", 10.1, 0.25, 2);
    struct dp_event event = gaussian(2);
    struct dp_plan plan;
    struct dp_ledger_run partial = planned_run(&plan, &event, 100), second = run;
    partial.population = second.population = "p";
    partial.epsilon = second.epsilon = 20; /* too much for addition */
    partial.partial = true;
    set_budget(&budget);
    struct dp_ledger *other = opened(&second);
    reserve(other, &event, 10);
    struct dp_ledger *ledger = opened(&partial);
    int64_t affords = dp_ledger_affords(ledger);
    assert_true(affords > 20 && affords < 40);
    assert_int_equal(spent(), affords);
    assert_int_equal(dp_ledger_spent(ledger, &err), DP_E_BUDGET);
    assert_int_equal(close_run(other, &event, 0, &err), 0);
    /* with a plan there are no further laps, and no use of them either */
    assert_int_equal(dp_ledger_reserve(ledger, &event, 1, &err), DP_E_UNSAFE);
    dp_ledger_free(ledger);
    ledger = opened(&partial);
    const struct dp_ledger_end end = {LAPS_OF(event, dp_ledger_affords(ledger) + 1), 1, 1e-5, "pld", "budget", NULL, 0};
    assert_int_equal(dp_ledger_close(ledger, &end, &err), DP_E_UNSAFE);
    dp_ledger_free(ledger);
    dp_plan_free(&plan);
}

/* One run's plan is not taken by another one, whichever of them ends first, and a run that was killed keeps it. The budget
   affords 40 laps at its only order. */
TEST_IN(what_a_run_was_admitted_with_is_its_own, fresh, NULL)
{
    struct dp_ledger_budget budget = budget_of("p", 10.1 - M_LN2, 0.5, 2);
    struct dp_event event = gaussian(2);
    struct dp_plan plan;
    struct dp_ledger_run planned = planned_run(&plan, &event, 25);
    struct dp_ledger *first, *second;
    planned.population = "p";
    planned.epsilon = 20; /* too much for addition */
    set_budget(&budget);
    first = opened(&planned);
    assert_int_equal(lines_of(PATH), 3); /* the budget, and one append that opened the run and reserved its plan */
    planned.laps = 16;
    assert_int_equal(dp_ledger_open(&second, PATH, &planned, &err), DP_E_UNSAFE);
    planned.laps = 15;
    second = opened(&planned);
    assert_int_equal(close_run(second, &event, 5, &err), 0); /* ten laps are free again */
    planned.laps = 11;
    assert_int_equal(dp_ledger_open(&second, PATH, &planned, &err), DP_E_UNSAFE);
    planned.laps = 10;
    dp_ledger_free(opened(&planned)); /* killed */
    assert_int_equal(close_run(first, &event, 25, &err), 0);
    planned.laps = 1;
    assert_int_equal(dp_ledger_open(&second, PATH, &planned, &err), DP_E_UNSAFE);
    dp_plan_free(&plan);
}

/* A run under a filter has its whole budget: at the order of its filter, or by addition. At other orders it has no bound until
   it ends, and then what it has used is one. */
TEST_IN(a_filter_is_reserved_whole, fresh, NULL)
{
    struct dp_ledger_budget budget = budget_of("p", 10.1 - M_LN2, 0.5, 2);
    struct dp_event event = gaussian(2);
    struct dp_plan plan;
    struct dp_ledger_run filtered = run, planned = planned_run(&plan, &event, 21);
    struct dp_ledger *ledger, *other;
    filtered.population = planned.population = "p";
    planned.epsilon = 20;
    filtered.delta = 0.5;
    filtered.order = 2;
    filtered.epsilon = 5 - M_LN2; /* with the conversion 5: twenty laps */
    set_budget(&budget);
    ledger = opened(&filtered);
    assert_int_equal(lines_of(PATH), 2);
    assert_int_equal(dp_ledger_open(&other, PATH, &planned, &err), DP_E_UNSAFE);
    planned.laps = 20;
    other = opened(&planned);
    assert_int_equal(close_run(other, &event, 0, &err), 0);
    /* it may use what it likes */
    struct dp_ledger_end end = {LAPS_OF(event, 3), filtered.epsilon, 0.5, "filter", "done", NULL, 0};
    assert_int_equal(dp_ledger_close(ledger, &end, &err), 0);
    dp_ledger_free(ledger);
    filtered.order = 3; /* at which the budget has no order */
    filtered.epsilon = 5;
    assert_int_equal(dp_ledger_open(&ledger, PATH, &filtered, &err), DP_E_UNSAFE);
    assert_non_null(strstr(err.message, "has no room for the whole budget of a run whose noise is chosen as it goes"));
    planned.laps = 37;
    dp_ledger_free(opened(&planned));
    dp_plan_free(&plan);
}

/* A budget after runs begins with the sum of their costs; a run that may continue counts with its whole budget. */
TEST_IN(a_budget_after_runs_begins_with_their_cost, fresh, NULL)
{
    struct dp_ledger_budget budget = budget_of("p", 4, 1e-4, 16);
    struct dp_event event = gaussian(2);
    struct dp_ledger_run ended = run, lost = run;
    ended.population = lost.population = "p";
    lost.epsilon = 2.5;
    double spent = 2.5 + dp_gaussian_epsilon(sqrt(10 / 4.), run.delta);
    char expected[200];
    struct dp_ledger *ledger = opened(&ended), *going;
    reserve(ledger, &event, 10);
    assert_int_equal(close_run(ledger, &event, 10, &err), 0);
    going = opened(&lost);
    reserve(going, &event, 10);
    assert_fails(dp_ledger_set_budget(PATH, &budget, &err), DP_E_UNSAFE,
                 "p has runs in the ledger test.ledger already: a budget comes before them, or begins with "
                 "what they have cost (--after-runs)");
    budget.after_runs = true;
    budget.epsilon = spent;
    assert_int_equal(dp_ledger_set_budget(PATH, &budget, &err), DP_E_RUN);
    snprintf(expected, sizeof expected, "the runs in the ledger test.ledger have cost epsilon = %g and delta = 2e-05 already",
             spent);
    assert_string_equal(err.message, expected);
    budget.epsilon = spent + 0.3; /* penalty(16, 8e-5) = 0.3796 */
    assert_int_equal(dp_ledger_set_budget(PATH, &budget, &err), DP_E_RUN);
    budget.epsilon = spent + 0.38 + 16.0 / 8 * 3; /* three laps at order 16 */
    set_budget(&budget);
    struct dp_ledger_book book;
    read_book(&book, PATH);
    assert_near(book.limit[0].before_epsilon, spent, 1e-9);
    assert_near(book.limit[0].before_delta, 2e-5, 1e-12);
    assert_near(book.limit[0].order[0].delta, 8e-5, 1e-12);
    dp_ledger_book_free(&book);
    reserve(going, &event, 1000); /* part of that sum already */
    dp_ledger_free(going);
    ledger = opened(&ended);
    assert_int_equal(dp_ledger_reserve(ledger, &event, 4, &err), DP_E_BUDGET);
    reserve(ledger, &event, 3);
    dp_ledger_free(ledger);
}

/* Nearly as many runs fit as at the best single order, or more. */
TEST_IN(orders_are_picked_for_what_is_planned, fresh, NULL)
{
    const struct dp_ledger_before none = {0};
    const struct dp_charges *planned = LAPS_OF(poisson(1, 4), 1);
    for (int i = 0; i < 6; i++) {
        static const double epsilons[] = {1.25, 1.5, 2, 4, 8, 50};
        struct dp_ledger_budget budget = {.epsilon = epsilons[i], .delta = 1e-5}, one = budget;
        int64_t fit, best = 0, alone;
        double shares = 0;
        assert_int_equal(dp_ledger_orders_pick(&budget, &none, planned, &fit, &err), 0);
        for (int k = 0; k < DP_RDP_ORDER_COUNT; k++) {
            one.order[0] = (struct dp_ledger_order){dp_rdp_orders[k], 1};
            one.orders = 1;
            assert_int_equal(dp_ledger_orders_fit(&one, &none, planned, &alone, &err), 0);
            best = alone > best ? alone : best;
        }
        if (!(fit >= 1 && (double)fit >= (best >= 20 ? 0.94 : 1) * (double)best && fit <= best))
            fail_msg("epsilon %g: %lld of %lld runs fit", budget.epsilon, (long long)fit, (long long)best);
        assert_true(budget.orders >= 3 && budget.orders <= 5);
        for (size_t k = 0; k < budget.orders; k++)
            shares += budget.order[k].delta;
        assert_near(shares, (1 + budget.order[0].delta) / 2, 1e-12); /* the rest is for addition */
    }
    struct dp_ledger_budget little = {.epsilon = 1e-6, .delta = 1e-12};
    int64_t fit;
    assert_fails(dp_ledger_orders_pick(&little, &none, planned, &fit, &err), DP_E_RUN,
                 "no Rényi order has any room for epsilon 1e-06 at delta 1e-12");
}

/* --- checkpoints --------------------------------------------------------------------------------------------------- */

static void checkpoint(struct dp_ledger *ledger, const struct dp_event *event, int64_t laps, int64_t until,
                       char mark[DP_LEDGER_MARK])
{
    struct dp_err err = {0};
    assert_ok(dp_ledger_checkpoint(ledger, LAPS_OF(*event, laps), until > 0 ? LAPS_OF(*event, until) : NULL, &err));
    snprintf(mark, DP_LEDGER_MARK, "%s", dp_ledger_mark(ledger));
}

/* A run of 100 laps is interrupted, and resumed with a plan of 40. It counts as all 100: what it had released may have decided
   the second plan. */
TEST_IN(a_shorter_plan_does_not_take_the_place_of_the_first, fresh, NULL)
{
    struct dp_event event = gaussian(8);
    struct dp_plan plan;
    struct dp_ledger_run planned = planned_run(&plan, &event, 100);
    struct dp_answer first, whole;
    char mark[DP_LEDGER_MARK];
    struct dp_ledger *ledger = opened(&planned);
    checkpoint(ledger, &event, 20, 30, mark);
    assert_int_equal(dp_ledger_cost(ledger, LAPS_OF(event, 20), "interrupted", &first, &err), 0);
    assert_ok(close_with(ledger, LAPS_OF(event, 20), 1e-5, "interrupted", &err));
    dp_ledger_free(ledger);
    planned.resumes = mark;
    planned.done = 20;
    planned.laps = 40;
    ledger = opened(&planned);
    assert_int_equal(dp_ledger_cost(ledger, LAPS_OF(event, 40), "done", &whole, &err), 0);
    assert_float_equal(whole.upper, first.upper, 0);
    assert_ok(close_with(ledger, LAPS_OF(event, 40), 1e-5, "done", &err));
    dp_ledger_free(ledger);
    struct dp_ledger_book book;
    read_book(&book, PATH);
    assert_int_equal(dp_ledger_basis(&book.entry[0]), DP_LEDGER_BY_PLAN);
    dp_ledger_book_free(&book);
    dp_plan_free(&plan);
}

static void assert_resumed(const char *mark, int64_t laps, int64_t of)
{
    struct dp_charges used = {0}, paid = {0};
    struct dp_err err = {0};
    assert_ok(dp_ledger_resumed(PATH, mark, false, &used, &paid, &err));
    assert_int_equal(used.count, 1);
    assert_int_equal(used.charge[0].laps, laps);
    assert_int_equal(paid.charge[0].laps, of);
    dp_charges_free(&used);
    dp_charges_free(&paid);
}

/* A run of 100 laps makes a checkpoint after 60, will make the next one after 90 at the latest, and is killed. Resumed: 90 laps
   may have been released, and stay spent in any case; the coming 40 are reserved in addition. */
TEST_IN(a_run_goes_on_from_its_checkpoint_once, fresh, NULL)
{
    char mark[DP_LEDGER_MARK], second[DP_LEDGER_MARK], third[DP_LEDGER_MARK], sentence[300];
    struct dp_event event = poisson(0.01, 1.1);
    struct dp_plan plan;
    struct dp_ledger_run planned = planned_run(&plan, &event, 100), resumed = planned;
    struct dp_ledger *ledger = opened(&planned), *again;
    checkpoint(ledger, &event, 60, 90, mark);
    assert_int_equal(spent(), 100);
    resumed.resumes = mark;
    resumed.done = 60;
    assert_resumed(mark, 60, 90);
    again = opened(&resumed);
    /* the earlier process, believed dead, cannot continue */
    const char *elsewhere = "the run was resumed by another process, by the ledger test.ledger";
    assert_fails(dp_ledger_checkpoint(ledger, LAPS_OF(event, 70), NULL, &err), DP_E_UNSAFE, elsewhere);
    struct dp_answer none;
    assert_fails(dp_ledger_cost(ledger, LAPS_OF(event, 70), "interrupted", &none, &err), DP_E_UNSAFE, elsewhere);
    dp_ledger_free(ledger);
    assert_int_equal(spent(), 130);
    struct dp_ledger *twice;
    assert_int_equal(dp_ledger_open(&twice, PATH, &resumed, &err), DP_E_UNSAFE);
    snprintf(sentence, sizeof sentence, "the run %.32s was resumed before: by the ledger test.ledger a run is resumed once",
             mark);
    assert_string_equal(err.message, sentence);

    checkpoint(again, &event, 91, 100, second);
    checkpoint(again, &event, 100, 110, third);
    checkpoint(again, &event, 101, 110, third);
    resumed.resumes = second;
    assert_int_equal(dp_ledger_open(&twice, PATH, &resumed, &err), DP_E_UNSAFE);
    assert_non_null(strstr(err.message, "is not the newest checkpoint of its run: it has gone on since"));
    assert_ok(close_with(again, LAPS_OF(event, 105), 1e-5, "interrupted", &err));
    assert_int_equal(spent(), 105);
    dp_ledger_free(again);
    assert_int_equal(dp_ledger_check_mark(PATH, mark, &err), 0); /* all names of the run are valid */

    resumed.resumes = third; /* an interrupted run continues, and 105 laps stay spent even if it ends at once */
    resumed.done = 71;
    assert_resumed(third, 101, 105);
    again = opened(&resumed);
    assert_int_equal(spent(), 134);
    assert_ok(close_with(again, LAPS_OF(event, 100), 1e-5, "done", &err)); /* and it has cost as much as 105 laps */
    assert_int_equal(spent(), 105);
    dp_ledger_free(again);
    dp_plan_free(&plan);
    struct dp_ledger_book book;
    read_book(&book, PATH);
    assert_int_equal(book.entries, 1);
    assert_int_equal(book.entry[0].opened.count, 3);
    assert_int_equal(book.entry[0].closed.laps, 105);
    dp_ledger_book_free(&book);
}

/* A run that is killed between the ledger's line and the last file of a checkpoint has the files of the checkpoint before. If
   nobody knows when the next checkpoint would have come, all of the plan may have been released. */
TEST_IN(a_run_goes_on_from_the_checkpoint_before, fresh, NULL)
{
    char first[DP_LEDGER_MARK], second[DP_LEDGER_MARK], third[DP_LEDGER_MARK];
    struct dp_event event = dp_event_gaussian(DP_SAMPLING_SHUFFLED, 1, 2, 8);
    struct dp_plan plan;
    struct dp_ledger_run planned = planned_run(&plan, &event, 100), resumed = planned;
    for (int known = 0; known < 2; known++) {
        fresh(NULL);
        struct dp_ledger *ledger = opened(&planned), *again;
        checkpoint(ledger, &event, 40, 60, first);
        checkpoint(ledger, &event, 60, 80, second);
        checkpoint(ledger, &event, 80, known ? 90 : 0, third);
        dp_ledger_free(ledger);
        resumed.resumes = known ? first : third;
        assert_int_equal(dp_ledger_open(&again, PATH, &resumed, &err), DP_E_UNSAFE);
        resumed.resumes = second;
        resumed.done = 60;
        assert_resumed(second, 60, known ? 96 : 104); /* whole epochs of eight */
        dp_ledger_free(opened(&resumed));
        assert_int_equal(spent(), known ? 136 : 144);
        resumed.resumes = third;
        assert_int_equal(dp_ledger_open(&again, PATH, &resumed, &err), DP_E_UNSAFE);
    }
    dp_plan_free(&plan);
}

/* A site may continue from one checkpoint again and again. The second time the bound of that checkpoint is no longer one: all
   that was reserved after the first time may have been released, too. */
TEST_IN(a_bound_holds_once, fresh, NULL)
{
    char mark[DP_LEDGER_MARK];
    struct dp_event event = poisson(0.01, 1.1);
    struct dp_charges used = {0}, base = {0};
    struct dp_plan plan;
    struct dp_ledger_run site = planned_run(&plan, &event, 100);
    struct dp_ledger *ledger = opened(&site);
    checkpoint(ledger, &event, 60, 70, mark);
    dp_ledger_free(ledger);
    site.resumes = mark;
    site.done = 60;
    site.earlier = true;
    dp_ledger_free(opened(&site));
    assert_int_equal(spent(), 110);
    assert_int_equal(dp_ledger_resumed(PATH, mark, true, &used, &base, &err), 0);
    assert_int_equal(dp_charges_all(&base), 110);
    dp_ledger_free(opened(&site));
    assert_int_equal(spent(), 150);
    dp_charges_free(&used);
    dp_charges_free(&base);
    dp_plan_free(&plan);
}

/* No line has the laps that a run has released under a filter since its checkpoint: if it was killed, they may be all of its
   budget. If it was interrupted, its close line has them. */
TEST_IN(a_filter_goes_on_only_after_a_close_line, fresh, NULL)
{
    char mark[DP_LEDGER_MARK], sentence[300];
    struct dp_event event = gaussian(20);
    struct dp_ledger_run filtered = run, resumed;
    filtered.order = 16;
    filtered.epsilon = 3;
    for (int closed = 0; closed < 2; closed++) {
        fresh(NULL);
        struct dp_ledger *ledger = opened(&filtered), *again;
        checkpoint(ledger, &event, 5, 0, mark);
        struct dp_ledger_end end = {LAPS_OF(event, 7), 3, 1e-5, "filter", "interrupted", NULL, 0};
        if (closed)
            assert_int_equal(dp_ledger_close(ledger, &end, &err), 0);
        dp_ledger_free(ledger);
        resumed = filtered;
        resumed.resumes = mark;
        if (closed) {
            assert_resumed(mark, 5, 7);
            dp_ledger_free(opened(&resumed));
            continue;
        }
        assert_int_equal(dp_ledger_open(&again, PATH, &resumed, &err), DP_E_UNSAFE);
        snprintf(sentence, sizeof sentence,
                 "the run %.32s was killed, and by the ledger test.ledger nobody knows how much of its filter it had used: all "
                 "of its budget is spent",
                 mark);
        assert_string_equal(err.message, sentence);
    }
}

/* The process that is resumed lives: between the look at its checkpoint and the open line it writes another one. */
TEST_IN(a_run_that_goes_on_meanwhile_is_not_resumed, fresh, NULL)
{
    char mark[DP_LEDGER_MARK], second[DP_LEDGER_MARK];
    struct dp_event event = poisson(0.01, 1.1);
    struct dp_charges used = {0}, base = {0};
    struct dp_plan plan;
    struct dp_ledger_run planned = planned_run(&plan, &event, 100);
    struct dp_ledger *ledger = opened(&planned), *again;
    checkpoint(ledger, &event, 20, 40, mark);
    assert_int_equal(dp_ledger_resumed(PATH, mark, false, &used, &base, &err), 0);
    checkpoint(ledger, &event, 40, 60, second);
    planned.resumes = mark;
    planned.done = 20;
    planned.base = &base;
    assert_fails(dp_ledger_open(&again, PATH, &planned, &err), DP_E_UNSAFE,
                 "the run made another checkpoint in the ledger test.ledger while it was resumed: resume that one");
    dp_charges_clear(&used);
    dp_charges_clear(&base);
    assert_int_equal(dp_ledger_resumed(PATH, mark, false, &used, &base, &err), 0);
    assert_int_equal(base.charge[0].laps, 60);
    dp_ledger_free(opened(&planned));
    assert_int_equal(spent(), 60 + 80);
    dp_ledger_free(ledger);
    dp_charges_free(&used);
    dp_charges_free(&base);
    dp_plan_free(&plan);
}

TEST_IN(what_is_not_a_checkpoint_is_not_resumed, fresh, NULL)
{
    char mark[DP_LEDGER_MARK], opening[DP_LEDGER_MARK];
    struct dp_event event = poisson(0.01, 1.1);
    struct dp_ledger_run resumed = run;
    struct dp_ledger *ledger = opened(&run), *again;
    snprintf(opening, sizeof opening, "%s", dp_ledger_mark(ledger));
    resumed.resumes = opening;
    assert_fails(dp_ledger_open(&again, PATH, &resumed, &err), DP_E_UNSAFE,
                 "line 1 of the ledger test.ledger is not a checkpoint");
    reserve(ledger, &event, 10);
    assert_int_equal(dp_ledger_checkpoint(ledger, LAPS_OF(event, 11), NULL, &err), DP_E_UNSAFE);
    assert_int_equal(dp_ledger_checkpoint(ledger, LAPS_OF(event, 9), NULL, &err), DP_E_RUN); /* the run cannot continue */
    dp_ledger_free(ledger);
    ledger = opened(&run);
    reserve(ledger, &event, 10);
    checkpoint(ledger, &event, 10, 0, mark);
    resumed.resumes = mark;
    resumed.epsilon = 2; /* another run */
    assert_fails(dp_ledger_open(&again, PATH, &resumed, &err), DP_E_UNSAFE,
                 "the run differs from the run that it resumes in the ledger test.ledger");
    resumed.epsilon = run.epsilon;
    assert_int_equal(close_run(ledger, &event, 10, &err), 0);
    assert_int_equal(dp_ledger_open(&again, PATH, &resumed, &err), DP_E_UNSAFE);
    char sentence[300];
    snprintf(sentence, sizeof sentence, "the run %.32s has ended by the ledger test.ledger: nothing is left to resume", mark);
    assert_string_equal(err.message, sentence);
    mark[40] = mark[40] == '0' ? '1' : '0';
    assert_int_not_equal(dp_ledger_open(&again, PATH, &resumed, &err), 0);
}

TEST_IN(a_run_must_say_what_it_is, fresh, NULL)
{
    struct dp_ledger_run bad[6];
    struct dp_ledger *ledger;
    for (int i = 0; i < 6; i++)
        bad[i] = run;
    bad[0].data = NULL;
    bad[1].rows = 0;
    bad[2].adjacency = "none";
    bad[3].epsilon = INFINITY;
    bad[4].delta = 1;
    bad[5].preprocessing = "\xff not UTF-8";
    for (int i = 0; i < 6; i++) {
        assert_int_not_equal(dp_ledger_open(&ledger, PATH, &bad[i], &err), 0);
        assert_null(ledger);
    }
    struct dp_ledger_run full = run;
    full.preprocessing = "max-abs \"quoted\"\nλ";
    full.seeded = true;
    full.init.epsilon = 0.1;
    full.init.delta = 1e-7;
    dp_ledger_free(opened(&full));
    struct dp_ledger_book book;
    read_book(&book, PATH);
    const struct dp_ledger_entry *entry = &book.entry[0];
    assert_string_equal(entry->of.data, run.data);
    assert_string_equal(entry->of.preprocessing, full.preprocessing);
    assert_string_equal(entry->of.adjacency, "null-record");
    assert_true(entry->seeded && entry->of.rows == 1000 && entry->time == 1700000000);
    assert_true(entry->epsilon == 1 && entry->delta == 1e-5);
    assert_true(entry->start.epsilon == 0.1 && entry->start.delta == 1e-7 && entry->start.init == NULL);
    dp_ledger_book_free(&book);
}

/* --- files that fail ----------------------------------------------------------------------------------------------- */

TEST_IN(only_a_regular_file_is_a_ledger, fresh, NULL)
{
    assert_int_equal(mkdir("directory", 0700), 0);
    assert_int_equal(mkfifo("fifo", 0600), 0);
    assert_int_equal(symlink(PATH, "link"), 0);
    assert_refused("directory", DP_E_RUN, "the ledger directory is not a regular file");
    assert_refused("fifo", DP_E_RUN, "the ledger fifo is not a regular file");
    assert_refused("link", DP_E_RUN, "the ledger link is a symbolic link: name the file itself");
    assert_refused("/dev/null", DP_E_RUN, "the ledger /dev/null is not a regular file");
    assert_refused("absent/ledger", DP_E_RUN, "cannot open the ledger absent/ledger: No such file or directory");
    assert_refused("", DP_E_RUN, "cannot open the ledger : No such file or directory");
    assert_int_equal(dp_ledger_check_mark("directory", "x", &err), DP_E_RUN);
    assert_int_equal(dp_ledger_check_mark("fifo", "x", &err), DP_E_RUN);
    if (geteuid() != 0) {
        put_file(PATH, "", 0);
        chmod(PATH, 0400);
        assert_refused(PATH, DP_E_RUN, "cannot open the ledger test.ledger: Permission denied");
    }
}

/* A disk that has room for a given number of bytes, for every such number. */
TEST_IN(a_full_disk_pays_for_nothing, fresh, NULL)
{
    char before[8192], after[8192];
    struct dp_event event = poisson(0.01, 1.1);
    struct rlimit old, limit;
    killed_run(&run, &event, 10);
    size_t open_length = get_file(PATH, before, sizeof before), line = open_length;
    while (before[line - 2] != '\n')
        line--;
    line = open_length - line; /* bytes of such a line */
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    signal(SIGXFSZ, SIG_IGN);
    for (size_t some = 0; some < line; some++) {
        err = (struct dp_err){0};
        gone(PATH);
        struct dp_ledger *ledger = opened(&run);
        size_t length = get_file(PATH, before, sizeof before);
        limit = old;
        limit.rlim_cur = length + some;
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        int rc = dp_ledger_reserve(ledger, &event, 10, &err);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
        assert_fails(rc, DP_E_RUN, "cannot write to the ledger test.ledger: File too large");
        assert_int_equal(dp_ledger_reserve(ledger, &event, 10, &err), DP_E_RUN);
        dp_ledger_free(ledger);
        assert_int_equal(get_file(PATH, after, sizeof after), length);
        assert_memory_equal(before, after, length);
    }
    signal(SIGXFSZ, SIG_DFL);
}

TEST_IN(what_is_not_synced_is_not_paid, fresh, NULL)
{
    struct dp_event event = poisson(0.01, 1.1);
    struct dp_ledger *ledger = opened(&run);
    int syncs = fault.syncs;
    reserve(ledger, &event, 10);
    assert_int_equal(fault.syncs, syncs + 1);
    fault.syncs_fail = 1;
    assert_fails(dp_ledger_reserve(ledger, &event, 10, &err), DP_E_RUN,
                 "cannot sync the ledger test.ledger: Input/output error");
    assert_int_equal(dp_ledger_reserve(ledger, &event, 10, &err), DP_E_RUN);
    assert_int_equal(close_run(ledger, &event, 5, &err), DP_E_RUN);
    for (int which = 1; which <= 3; which++) { /* the file, its mark, the directory */
        fault.syncs_fail = which;
        assert_int_equal(dp_ledger_open(&ledger, PATH, &run, &err), DP_E_RUN);
        assert_null(ledger);
    }
}

/* --- death --------------------------------------------------------------------------------------------------------- */

/* A run like the gate's: reserves seven laps at a time and releases them one by one. */
static void release_laps(int64_t *released, int64_t laps, bool torn_first)
{
    struct dp_ledger *ledger;
    struct dp_event event = dp_event_gaussian(DP_SAMPLING_NONE, 1, 20, 0); /* of which the cost is a formula */
    if (torn_first) {
        int fd = open(PATH, O_WRONLY | O_APPEND);
        if (fd < 0 || write(fd, "{\"seq\":", 7) != 7)
            _exit(1);
        close(fd);
    }
    if (dp_ledger_open(&ledger, PATH, &run, NULL) != 0)
        _exit(1);
    for (int64_t left = 0, lap = 0; lap < laps; lap++, left--) {
        if (left == 0 && dp_ledger_reserve(ledger, &event, left = 7, NULL) != 0)
            _exit(1);
        ++*(volatile int64_t *)released;
    }
    _exit(close_run(ledger, &event, laps, NULL) == 0 ? 0 : 1);
}

static int64_t *shared_count(void)
{
    int64_t *count = mmap(NULL, sizeof *count, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(count, MAP_FAILED);
    return count;
}

/* Dies at every step of every write, sync and truncation, until a run is completed. */
TEST_IN(death_at_every_step_leaves_nothing_unpaid, fresh, NULL)
{
    int64_t *released = shared_count();
    int step, status = 1;
    dp_ledger_free(opened(&run)); /* the torn line needs a line before it */
    for (step = 1; step < 1000 && status != 0; step++) {
        *released = 0;
        gone(PATH);
        dp_ledger_free(opened(&run));
        pid_t child = fork();
        if (child == 0) {
            fault.countdown = step;
            release_laps(released, 20, true);
        }
        waitpid(child, &status, 0);
        assert_true(WIFEXITED(status) && (WEXITSTATUS(status) == 9 || WEXITSTATUS(status) == 0));
        if (*released > 0 && spent() < *released)
            fail_msg("step %d: %lld released, %lld spent", step, (long long)*released, (long long)spent());
        dp_ledger_free(opened(&run));
        lines_of(PATH);
    }
    /* 5 appends of 3 + 2 steps, 2 for the torn line, twice 2 + 2 for the mark file and its directory, and one run that lives */
    assert_int_equal(step - 1, 5 * 5 + 2 + 8 + 1);
    munmap(released, sizeof *released);
}

TEST_IN(kills_at_random_moments_leave_nothing_unpaid, fresh, NULL)
{
    int64_t *released = shared_count();
    uint32_t random = 12345;
    int some = 0;
    for (int i = 0; i < 300; i++) {
        int status;
        *released = 0;
        pid_t child = fork();
        if (child == 0)
            release_laps(released, INT32_MAX, false);
        random = random * 1664525 + 1013904223;
        /* half of the runs release something first, even on a busy machine */
        for (int wait = 0; i % 2 == 0 && *(volatile int64_t *)released == 0 && wait < 100000; wait++)
            usleep(50);
        usleep(random % 3000);
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        assert_true(WIFSIGNALED(status));
        some += *released > 0;
        if (*released > 0 && spent() < *released)
            fail_msg("kill %d: %lld released, %lld spent", i, (long long)*released, (long long)spent());
        if (i % 5 == 4)
            gone(PATH);
    }
    assert_true(some >= 150);
    munmap(released, sizeof *released);
}

/* --- size ---------------------------------------------------------------------------------------------------------- */

TEST_IN(many_lines_are_read, fresh, NULL)
{
    enum { LINES = 10000 };
    char hash[DP_LEDGER_HASH + 1];
    struct dp_charge charge = {poisson(0.01, 1.1), 64};
    struct dp_ledger *ledger = opened(&run);
    snprintf(hash, sizeof hash, "%s", strrchr(dp_ledger_mark(ledger), ':') + 1);
    FILE *file = fopen(PATH, "ab");
    for (size_t i = 2; i <= LINES; i++) {
        char *text = line_of(json_pack("{s:s, s:s, s:o}", "kind", "reserve", "run", dp_ledger_run_id(ledger), "charge",
                                       dp_charge_to_json(&charge)),
                             i, hash);
        fputs(text, file);
        free(text);
    }
    fclose(file);
    dp_ledger_free(ledger);
    assert_int_equal(spent(), (LINES - 1) * 64);
    dp_ledger_free(opened(&run));
    assert_int_equal(lines_of(PATH), LINES + 1);
}

TESTS(enter_with_sodium, leave)
