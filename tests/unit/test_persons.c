/* Which rows are kept, and in what order they are stored. */
#include "unit.h"

#include "data/persons.h"

/* The numbers, in their table, of the rows of `who` that are kept, as a text. `others` rows of other persons come before each
   row. */
static void kept_of(const char *who, size_t rows, size_t others, size_t most, unsigned char key, char text[200])
{
    struct dp_persons p = {0};
    memset(p.key, key, sizeof p.key);
    for (size_t i = 0; i < rows; i++) {
        char id[32];
        for (size_t k = 0; k < others; k++) {
            snprintf(id, sizeof id, "other %zu", k % 3);
            dp_persons_add(&p, id, strlen(id), 0);
        }
        dp_persons_add(&p, who, strlen(who), 1000 + i);
    }
    dp_persons_arrange(&p, most);
    text[0] = '\0';
    for (size_t i = 0; i < p.rows; i++)
        if (p.row[i].place >= 1000)
            sprintf(text + strlen(text), " %zu", p.row[i].place - 1000);
    dp_persons_close(&p);
}

TEST(what_is_kept_depends_on_nobody_else)
{
    char alone[200], among[200];
    size_t different = 0;
    for (int key = 1; key < 40; key++) {
        kept_of("p1", 9, 0, 4, (unsigned char)key, alone);
        assert_int_equal(strlen(alone), 8);
        for (size_t others = 1; others < 5; others++) {
            kept_of("p1", 9, others, 4, (unsigned char)key, among);
            assert_string_equal(among, alone);
        }
        kept_of("p2", 9, 0, 4, (unsigned char)key, among); /* other persons do not change the draw */
        different += strcmp(among, alone) != 0;
    }
    assert_true(different > 30);
    kept_of("p1", 4, 2, 4, 1, alone);
    assert_string_equal(alone, " 0 1 2 3");
}

TEST(persons_stand_in_the_order_of_their_first_rows)
{
    static const char *const table[] = {"b", "a", "b", "c", "a", "b", "", "b"};
    static const size_t order[] = {0, 2, 5, 7, 1, 4, 3, 6};
    static const int ends[] = {0, 0, 0, 1, 0, 1, 1, 1};
    struct dp_persons p = {0};
    dp_persons_open(&p);
    for (size_t i = 0; i < 8; i++)
        dp_persons_add(&p, table[i], strlen(table[i]), i);
    dp_persons_arrange(&p, 4);
    assert_int_equal(p.count, 4);
    assert_int_equal(p.rows, 8);
    for (size_t i = 0; i < 8; i++) {
        assert_int_equal(p.row[i].place, order[i]);
        assert_int_equal(dp_persons_ends(&p, i), ends[i]);
    }
    dp_persons_close(&p);
    dp_persons_arrange(&p, 1);
    assert_int_equal(p.count, 0);
}

TESTS(NULL, NULL)
