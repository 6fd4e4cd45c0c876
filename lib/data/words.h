/* The words of a text as columns of a row: each word, and each two words that follow one another, has one of a public number of
 * columns, by a public hash (SipHash-2-4 of its bytes with the key "dpline words: 1", modulo the columns). So no list of words
 * is read off private rows, and different words may share a column.
 *
 * A word is a run of letters and digits: of ASCII, and all code points from U+00C0 on, except × and ÷, the blocks from
 * U+2000 to U+2BFF and U+3000 to U+303F, and variation selectors. Capitals of ASCII, Latin-1, Latin Extended-A, Greek and
 * Cyrillic become small letters. Two words have one blank between them. */
#pragma once

#include "base/err.h"
#include "data/spool.h"

#define DP_WORDS_COLUMNS 4096 /* unless the schema says so */
#define DP_WORDS_MOST 1000000
#define DP_WORDS_PAIR 0.25

/* The public hash, also of texts that share buckets. */
uint64_t dp_words_hash(const void *text, size_t length);

/* Appends values to the record, for column `column`: 1 + the index of each word, and for each pair the negative of its 1 +
 * index. A value may occur twice. */
void dp_words_add(const char *text, size_t length, size_t columns, uint32_t column, struct dp_parsed *record);

/* Sets the feature of such a value among x, the columns of the text: 1 if a row has a word of this column, DP_WORDS_PAIR if it
 * has pairs only, else 0. With a larger number, pairs hid words that share their columns: on tweets at epsilon 1 with 1024
 * columns this cost .02 of accuracy. */
void dp_words_feature(double value, double *x);
