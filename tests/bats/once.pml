/* The gate, its ledger, death and resumption: a run is charged once (dp-ledger(5)). The file counts the run with its plan; a
 * checkpoint says how far it may go before the next one; the run may die between any two steps, and is resumed from its newest
 * checkpoint; its close line says what it has used. Claims: the synced file never counts less than what has left, and never
 * more than the budget.
 *     NOSYNC     the lines that open the run are not synced before its first lap
 *     NOTHING    a resumed run reserves only the laps that it has still to do
 *     AGAIN      a run that was resumed keeps the bound of the checkpoint that it was resumed from
 *     BEYOND     a late checkpoint does not end the bound of the one before
 *     UNCHECKED  nobody asks the budget when a run is resumed */
#define LAPS 6
#define EVERY 2
#define BUDGET 11
#define DEATHS 2

byte counted;             /* laps that the synced file counts */
byte left;                /* frames that have left, of all openings */
byte point, until, used;  /* the newest checkpoint in the synced file: its lap, and the laps used there and at most by the next */
bool bounded;             /* that bound still holds */
byte deaths;

active proctype gate()
{
    byte lap, base, own, next;

open:                     /* base: laps that may have left before; the rest of the plan is reserved with them */
    lap = point;
    base = (deaths == 0 -> 0 : (bounded -> until : counted));
#ifdef NOTHING
    base = (deaths == 0 -> 0 : used);
#endif
    if
#ifndef UNCHECKED
    :: base + LAPS - lap > BUDGET -> goto stopped
#endif
    :: else
    fi;
#ifndef NOSYNC
    counted = base + LAPS - lap;
#endif
#ifndef AGAIN
    bounded = false;
#endif
    own = base;
    next = LAPS;
    do
    :: deaths < DEATHS && (point > 0) -> deaths++; goto open     /* killed, and resumed */
    :: deaths < DEATHS && point == 0 -> goto stopped             /* killed before its first checkpoint */
    :: lap < LAPS && lap < next -> left++; own++; lap++          /* a frame leaves */
    :: lap < LAPS && lap == next ->                              /* the checkpoint is late: a line says so */
#ifndef BEYOND
        bounded = false;
#endif
        next = LAPS
    :: lap > point && lap < LAPS ->                              /* one synced line */
        atomic {
            point = lap; used = own; bounded = true;
            next = (lap + EVERY < LAPS -> lap + EVERY : LAPS);
            until = own + next - lap
        }
    :: lap == LAPS || lap > 0 -> counted = own; goto stopped     /* it ends, or is interrupted: a close line */
    od;
stopped:
    skip
}

ltl never_less { [] (left <= counted) }
ltl within { [] (counted <= BUDGET) }
