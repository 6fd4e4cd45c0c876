#include "data/persons.h"

#include <sodium.h>

#include "base/mem.h"

void dp_persons_open(struct dp_persons *persons)
{
    randombytes_buf(persons->key, sizeof persons->key);
}

void dp_persons_close(struct dp_persons *persons)
{
    free(persons->row);
    sodium_memzero(persons->key, sizeof persons->key);
    *persons = (struct dp_persons){0};
}

void dp_persons_add(struct dp_persons *p, const char *id, size_t length, size_t place)
{
    dp_extend(&p->row, &p->capacity, p->rows + 1, sizeof *p->row);
    struct dp_person_row *row = &p->row[p->rows];
    *row = (struct dp_person_row){.place = place, .number = p->rows++};
    crypto_generichash(row->person, sizeof row->person, (const unsigned char *)id, length, p->key, sizeof p->key);
}

static int order(size_t a, size_t b)
{
    return (a > b) - (a < b);
}

static int by_person(const void *a, const void *b)
{
    const struct dp_person_row *x = a, *y = b;
    int person = memcmp(x->person, y->person, sizeof x->person);
    return person != 0 ? person : order(x->number, y->number);
}

static int by_rank(const void *a, const void *b)
{
    const struct dp_person_row *x = a, *y = b;
    return x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank) : order(x->number, y->number);
}

static int by_place(const void *a, const void *b)
{
    const struct dp_person_row *x = a, *y = b;
    return x->first != y->first ? order(x->first, y->first) : order(x->number, y->number);
}

static uint64_t rank_of(const struct dp_persons *p, const struct dp_person_row *row, uint64_t among)
{
    unsigned char text[DP_PERSONS_HASH + sizeof among];
    uint64_t rank;
    memcpy(text, row->person, DP_PERSONS_HASH);
    memcpy(text + DP_PERSONS_HASH, &among, sizeof among);

    unsigned char hash[crypto_generichash_BYTES];
    crypto_generichash(hash, sizeof hash, text, sizeof text, p->key, sizeof p->key);
    memcpy(&rank, hash, sizeof rank);
    return rank;
}

/* Takes `count` rows of one person, in the order of the table. Returns the number of kept rows, and moves them to the front. */
static size_t keep(const struct dp_persons *p, struct dp_person_row *row, size_t count, size_t most)
{
    size_t first = row[0].number;
    for (size_t i = 0; i < count; i++) {
        row[i].first = first;
        row[i].rank = count > most ? rank_of(p, &row[i], i) : 0;
    }
    if (count <= most)
        return count;
    qsort(row, count, sizeof *row, by_rank);
    return most;
}

void dp_persons_arrange(struct dp_persons *p, size_t most)
{
    size_t kept = 0;
    p->count = 0;
    if (p->rows == 0)
        return;
    qsort(p->row, p->rows, sizeof *p->row, by_person);
    for (size_t from = 0, to = 0; from < p->rows; from = to) {
        while (to < p->rows && memcmp(p->row[to].person, p->row[from].person, DP_PERSONS_HASH) == 0)
            to++;
        size_t stay = keep(p, p->row + from, to - from, most);
        memmove(p->row + kept, p->row + from, stay * sizeof *p->row);
        kept += stay;
        p->count++;
    }
    p->rows = kept;
    qsort(p->row, p->rows, sizeof *p->row, by_place);
}

int dp_persons_ends(const struct dp_persons *p, size_t i)
{
    return i + 1 == p->rows || p->row[i + 1].first != p->row[i].first;
}
