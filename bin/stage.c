/* The executable of a stage: compiled once for each row of lib/stages/stages.h, with its class as STAGE. */
#include "runtime/run.h"
#include "stages/stages.h"

int main(int argc, char **argv)
{
    return dp_stage_main(&STAGE, argc, argv);
}
