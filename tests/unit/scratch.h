/* A separate directory for a group of tests, which run in it: group setup and teardown of cmocka. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int enter(void **state)
{
    const char *parent = getenv("TMPDIR");
    char *directory = NULL;
    if (asprintf(&directory, "%s/dpline-test-XXXXXX", parent != NULL ? parent : "/tmp") < 0)
        return -1;
    *state = directory;
    return mkdtemp(directory) != NULL && chdir(directory) == 0 ? 0 : -1;
}

static int leave(void **state)
{
    char command[4200];
    snprintf(command, sizeof command, "rm -rf '%s'", (char *)*state);
    free(*state);
    return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}
