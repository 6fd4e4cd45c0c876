#include "stage/run.h"
#include "stages/stages.h"

int main(int argc, char **argv)
{
    return dp_stage_main(&dp_step_class, argc, argv);
}
