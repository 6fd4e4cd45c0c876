/* A person adds at most as much to the measures of private rows as they are charged for, with any number of rows. */
#include "unit.h"

#include "data/dataset.h"
#include "stages/eval_paid.h"

enum { MOST = 12, CLASSES = 3 };

TEST(a_person_adds_at_most_one)
{
    unsigned seed = 1;
    for (int rows = 1; rows <= MOST; rows++)
        for (int time = 0; time < 200; time++) {
            double y[MOST], scores[MOST * CLASSES];
            int64_t person[] = {0, rows};
            struct dp_dataset d = {.y = y,
                                   .rows = (size_t)rows,
                                   .persons = 1,
                                   .person = person,
                                   .rows_per_person = (size_t)rows,
                                   .label.classes = CLASSES};
            struct dp_predictor model = {.form = {.outputs = CLASSES}, .loss = DP_LOSS_SOFTMAX};
            struct dp_eval_paid e = {.data = &d, .model = &model, .brier = true};
            double cells = 0;
            for (int i = 0; i < rows; i++) { /* one person's rows may all be wrong, and as wrong as can be */
                y[i] = (double)(rand_r(&seed) % CLASSES);
                for (int k = 0; k < CLASSES; k++)
                    scores[i * CLASSES + k] =
                        (k == (int)y[i] ? -1 : k == ((int)y[i] + 1) % CLASSES) * (double)(rand_r(&seed) % 2000);
            }
            dp_eval_paid_open(&e);
            dp_eval_paid_sum(&e, scores, scores);
            for (size_t i = 0; i + 1 < e.size; i++) {
                assert_true(e.sum[i] >= 0);
                cells += (double)e.sum[i];
            }
            assert_true(cells <= DP_EVAL_PAID_ONE && cells > DP_EVAL_PAID_ONE - rows);
            assert_true(e.sum[e.size - 1] >= 0 && (double)e.sum[e.size - 1] <= DP_EVAL_PAID_ONE);
            dp_eval_paid_close(&e);
        }
}

TESTS(NULL, NULL)
