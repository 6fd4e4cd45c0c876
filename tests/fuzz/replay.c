/* Feeds files to a fuzz target, without a fuzzer: the inputs that once found something, and the seeds. */
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"

static int feed(const char *path)
{
    FILE *file = fopen(path, "rb");
    long size = -1;
    if (file != NULL && fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    uint8_t *data = size >= 0 ? malloc(size > 0 ? (size_t)size : 1) : NULL;
    if (data == NULL || fseek(file, 0, SEEK_SET) != 0 || fread(data, 1, (size_t)size, file) != (size_t)size) {
        fprintf(stderr, "replay: cannot read %s\n", path);
        return 1;
    }
    fclose(file);
    LLVMFuzzerTestOneInput(data, (size_t)size);
    free(data);
    return 0;
}

int main(int argc, char **argv)
{
    int failed = 0;
    for (int i = 1; i < argc; i++) {
        /* the last line names the input if the process dies here */
        fprintf(stderr, "%s\n", argv[i]);
        failed |= feed(argv[i]);
    }
    return failed;
}
