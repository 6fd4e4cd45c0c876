#include "stage/run.h"
#include "stages/stages.h"

int main(int argc, char **argv)
{
    return dp_stage_main(&dp_grad_class, argc, argv);
}
