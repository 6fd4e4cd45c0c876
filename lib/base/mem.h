/* Memory that runs out ends the program: one sentence, "COMMAND: out of memory", on the standard error, and status 1, from
 * whichever thread finds out first. Nothing is flushed and nothing is released, as at a kill. So nothing here returns NULL.
 * A size that comes from outside is checked before it gets here. Everything here is released with free(). */
#pragma once

#include "base/err.h"

/* Ends the program because there are not count × size bytes; count = 0: the size is not known. */
_Noreturn void dp_mem_out(size_t count, size_t size);

/* count × size zeroed bytes. */
void *dp_new(size_t count, size_t size);

/* Grows *block so that it holds `need` elements (doubling); *capacity is in elements. Contents are kept. */
void dp_extend(void *block, size_t *capacity, size_t need, size_t size);

/* The block, unless it is NULL because a function of another library got no memory: text = dp_got(strdup(name)). */
void *dp_got(void *block);

/* A text as printf makes it. */
char *dp_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Closes what open_memstream has opened, whose text is whole then. */
void dp_close_text(FILE *stream);

/* The allocators of jansson and GMP become those above. dp_init calls this. */
void dp_mem_open(void);

/* Distance in elements between the parts of two threads, if each part has `count` elements: rounded up, so that no two threads
 * write to one cache line. size divides 64. */
static inline size_t dp_apart(size_t count, size_t size)
{
    return ((count * size + 63) / 64 + 1) * (64 / size);
}
