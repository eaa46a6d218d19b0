#ifndef DLM_TORTURE_H
#define DLM_TORTURE_H

/// The kinds of calls that can fail, in the order of their counters; NULL ends the list.
extern const char *const dlmtest_torture_kinds[];

#endif
