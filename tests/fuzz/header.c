/* The header of a message, and the address text of a port. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "port/endpoint.h"
#include "port/header.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct dp_link_header header;
    struct dp_endpoint endpoint;
    struct dp_err err = {0};
    unsigned char again[DP_HEADER_SIZE];
    if (dp_header_decode(&header, data, size)) {
        dp_header_encode(again, &header);
        fuzz_assert(memcmp(again, data, size) == 0);
    }
    char *text = fuzz_text(data, size);
    int rc = dp_endpoint_parse(&endpoint, text, size % 2, &err);
    fuzz_said(rc, &err);
    if (rc == DP_OK)
        fuzz_assert(dp_link_is(text) && endpoint.address != NULL);
    dp_endpoint_free(&endpoint);
    free(text);
    return 0;
}
