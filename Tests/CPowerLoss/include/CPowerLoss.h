// This library is loaded into dlm by the dynamic linker (LD_PRELOAD) and records what a loss of power would leave: see
// PowerLoss.c.
#ifndef DLM_CPOWERLOSS_H
#define DLM_CPOWERLOSS_H
#endif
