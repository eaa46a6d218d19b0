#include "CPostgres.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static struct dlm_pg library;
static char failure[512];

static void load(void) {
    void *handle = dlopen("libpq.so.5", RTLD_LAZY | RTLD_LOCAL);
    if (!handle) {
        snprintf(failure, sizeof failure, "%s", dlerror());
        return;
    }
#define FIND(type, name, parameters)                            \
    if (!(*(void **)&library.name = dlsym(handle, #name)))      \
        snprintf(failure, sizeof failure, "%s", dlerror());
    DLM_PG_FUNCTIONS(FIND)
}

const struct dlm_pg *dlm_pg_load(const char **reason) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    *reason = failure;
    return failure[0] ? NULL : &library;
}
