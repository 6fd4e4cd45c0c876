#include "data/text_index.h"

#include "base/mem.h"

#define CACHED 8192 /* slots that a cache has anyway */

struct dp_text_slot {
    const char *text; /* NULL: unused */
    size_t length;
    uint64_t hash;
    long meaning;
};

/* Eight bytes at a time; the low bits choose the slot. */
static uint64_t hash_of(const char *text, size_t length)
{
    const uint64_t factor = 0x9e3779b97f4a7c15u;
    uint64_t hash = length;
    for (size_t at = 0; at < length; at += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, text + at, length - at < sizeof word ? length - at : sizeof word);
        hash = (hash ^ word) * factor;
        hash ^= hash >> 32;
    }
    return hash;
}

/* The slot of the text, or the unused one where it would be. */
static struct dp_text_slot *slot_of(const struct dp_text_index *x, const char *text, size_t length, uint64_t hash)
{
    size_t at = hash & (x->slots - 1);
    for (;; at = (at + 1) & (x->slots - 1)) {
        struct dp_text_slot *s = &x->slot[at];
        if (s->text == NULL || (s->hash == hash && s->length == length && memcmp(s->text, text, length) == 0))
            return s;
    }
}

static void grow(struct dp_text_index *x)
{
    struct dp_text_index wide = *x;
    wide.slots = x->slots > 0 ? 2 * x->slots : 16;
    wide.slot = dp_new(wide.slots, sizeof *wide.slot);
    for (size_t i = 0; i < x->slots; i++)
        if (x->slot[i].text != NULL)
            *slot_of(&wide, x->slot[i].text, x->slot[i].length, x->slot[i].hash) = x->slot[i];
    free(x->slot);
    *x = wide;
}

void dp_text_index_add(struct dp_text_index *x, const char *text, size_t length, long meaning)
{
    if (2 * (x->count + 1) > x->slots)
        grow(x);
    uint64_t hash = hash_of(text, length);
    struct dp_text_slot *s = slot_of(x, text, length, hash);
    if (s->text != NULL)
        return;
    *s = (struct dp_text_slot){text, length, hash, meaning};
    x->lengths[length > 0 ? (unsigned char)text[0] : 0] |= dp_text_index_bit(length);
    x->count++;
}

long dp_text_index_find(const struct dp_text_index *x, const char *text, size_t length, long otherwise)
{
    if (!dp_text_index_may_have(x, text, length))
        return otherwise;
    const struct dp_text_slot *s = slot_of(x, text, length, hash_of(text, length));
    return s->text != NULL ? s->meaning : otherwise;
}

void dp_text_index_prefetch(const struct dp_text_index *x, const char *text, size_t length)
{
    if (x->slots > CACHED)
        __builtin_prefetch(&x->slot[hash_of(text, length) & (x->slots - 1)]);
}

void dp_text_index_free(struct dp_text_index *x)
{
    free(x->slot);
    *x = (struct dp_text_index){0};
}

void dp_text_index_twice(const char *(*get)(const void *self, size_t i, size_t *length), const void *self, size_t count,
                         size_t *twice)
{
    struct dp_text_index seen = {0};
    for (*twice = 0; *twice < count; ++*twice) {
        size_t length;
        const char *text = get(self, *twice, &length);
        if (length > 0 && dp_text_index_find(&seen, text, length, -1) == 0)
            break;
        if (length > 0)
            dp_text_index_add(&seen, text, length, 0);
    }
    dp_text_index_free(&seen);
}
