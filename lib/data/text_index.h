/* The meaning of texts: a hash table over texts of the schema, so that looking up a cell takes the same time for any number of
 * categories. */
#pragma once

#include "base/err.h"

/* Starts zeroed. */
struct dp_text_index {
    struct dp_text_slot *slot; /* a power of two of them, at most half of them used */
    size_t slots, count;
    uint64_t lengths[256]; /* per first byte (of an empty text: 0), the lengths of the texts: bit min(length, 63) */
};

/* The text is borrowed. If it is there already, it keeps its meaning. */
void dp_text_index_add(struct dp_text_index *index, const char *text, size_t length, long meaning);

/* The bit of lengths for this length. */
static inline uint64_t dp_text_index_bit(size_t length)
{
    return (uint64_t)1 << (length < 63 ? length : 63);
}

/* Whether a text of this first byte and this length has a meaning. */
static inline bool dp_text_index_may_have(const struct dp_text_index *index, const char *text, size_t length)
{
    return (index->lengths[length > 0 ? (unsigned char)text[0] : 0] & dp_text_index_bit(length)) != 0;
}

/* The meaning of the text, or `otherwise`. */
long dp_text_index_find(const struct dp_text_index *index, const char *text, size_t length, long otherwise);

/* Sets *twice to the first of the texts get(self, 0…count − 1) that an earlier one equals, or to count. Empty texts do not
 * count. */
void dp_text_index_twice(const char *(*get)(const void *self, size_t i, size_t *length), const void *self, size_t count,
                         size_t *twice);

/* Asks for the place of a text before it is needed. */
void dp_text_index_prefetch(const struct dp_text_index *index, const char *text, size_t length);

void dp_text_index_free(struct dp_text_index *index);
