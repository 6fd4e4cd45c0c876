#include "stage/run.h"
#include "stages/stages.h"

int main(int argc, char **argv)
{
    return dp_stage_main(&dp_clip_class, argc, argv);
}
