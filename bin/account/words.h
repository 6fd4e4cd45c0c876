/* The words that dp-account knows besides being the gate. Each takes argv from its own word on and returns the exit
   status. */
#ifndef DP_BIN_ACCOUNT_WORDS_H
#define DP_BIN_ACCOUNT_WORDS_H

int word_sigma(int argc, char **argv);
int word_epsilon(int argc, char **argv);
int word_delta(int argc, char **argv);
int word_laps(int argc, char **argv);
int word_rate(int argc, char **argv);
int word_sensitivity(int argc, char **argv);
int word_curve(int argc, char **argv);
int word_budget(int argc, char **argv);
int word_report(int argc, char **argv);
int word_verify(int argc, char **argv);
int word_certify(int argc, char **argv);

#endif
