/* Names of earlier versions. Streams, models and ledgers of these versions keep them permanently. The decoder of frames, the
   reader of records and the reader of charges look up unknown names here. Nothing writes an old name, and no option takes one.
   A ledger's hash chain is computed from the bytes of its lines, before any name is translated. */
#pragma once

#include "base/c.h"

enum dp_alias_place {
    DP_ALIAS_FIELD,    /* the key of a frame's field; also the member `of` of a record */
    DP_ALIAS_SAMPLER,  /* the member `sampler` of a record */
    DP_ALIAS_SAMPLING, /* the member `sampling` of a ledger's charge */
};

struct dp_alias {
    enum dp_alias_place place;
    const char *old, *today;
};

/* All aliases; the last row has old NULL. */
extern const struct dp_alias dp_aliases[];

/* dp_alias_of(place, name, length): today's name for an old name of `length` bytes, or NULL if it is not an old name. */
const char *dp_alias_of(enum dp_alias_place place, const char *name, size_t length);
