/* Charges of one event, and their cost. */
#pragma once

#include "account/account.h"
#include "unit.h"

/* Charges of `laps` laps of one event, until the end of the block. */
#define LAPS_OF(event, laps) (&(struct dp_charges){.count = 1, .charge = &(struct dp_charge){event, laps}})

static inline struct dp_answer answer_of(enum dp_accountant accountant, const struct dp_charges *charges, double delta)
{
    struct dp_answer answer;
    struct dp_err err = {0};
    assert_ok(dp_account_epsilon(accountant, charges, delta, &answer, &err));
    return answer;
}

/* Charges of these, as long as they last: an array */
#define CHARGES_OF(list) (&(struct dp_charges){.count = sizeof(list) / sizeof *(list), .charge = (list)})
