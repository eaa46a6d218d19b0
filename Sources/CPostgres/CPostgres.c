#include "CPostgres.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

// Each entry has a return type, a name and parameters, as in libpq-fe.h.
#define FUNCTIONS(EACH)                                                                                         \
    EACH(dlm_pg_connection *, PQconnectdbParams, (const char *const *, const char *const *, int))               \
    EACH(int, PQstatus, (const dlm_pg_connection *))                                                            \
    EACH(char *, PQerrorMessage, (const dlm_pg_connection *))                                                   \
    EACH(void, PQfinish, (dlm_pg_connection *))                                                                 \
    EACH(void *, PQsetNoticeProcessor, (dlm_pg_connection *, void (*)(void *, const char *), void *))           \
    EACH(dlm_pg_result *, PQexec, (dlm_pg_connection *, const char *))                                          \
    EACH(dlm_pg_result *, PQexecParams,                                                                         \
         (dlm_pg_connection *, const char *, int, const unsigned *, const char *const *, const int *, const int *, int)) \
    EACH(int, PQresultStatus, (const dlm_pg_result *))                                                          \
    EACH(char *, PQresultErrorField, (const dlm_pg_result *, int))                                              \
    EACH(int, PQntuples, (const dlm_pg_result *))                                                               \
    EACH(int, PQnfields, (const dlm_pg_result *))                                                               \
    EACH(char *, PQgetvalue, (const dlm_pg_result *, int, int))                                                 \
    EACH(int, PQgetlength, (const dlm_pg_result *, int, int))                                                   \
    EACH(int, PQgetisnull, (const dlm_pg_result *, int, int))                                                   \
    EACH(void, PQclear, (dlm_pg_result *))                                                                      \
    EACH(int, PQputCopyData, (dlm_pg_connection *, const char *, int))                                          \
    EACH(int, PQputCopyEnd, (dlm_pg_connection *, const char *))                                                \
    EACH(dlm_pg_result *, PQgetResult, (dlm_pg_connection *))

static struct {
#define FUNCTION(type, name, parameters) type(*name) parameters;
    FUNCTIONS(FUNCTION)
} library;

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
    FUNCTIONS(FIND)
}

const char *dlm_pg_load(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return failure[0] ? failure : NULL;
}

// libpq would print notices on standard error.
static void ignore(void *context, const char *message) {
    (void)context;
    (void)message;
}

dlm_pg_connection *dlm_pg_connect(const char *const *keywords, const char *const *values) {
    dlm_pg_connection *connection = library.PQconnectdbParams(keywords, values, 1);
    if (connection) library.PQsetNoticeProcessor(connection, ignore, NULL);
    return connection;
}

int dlm_pg_status(const dlm_pg_connection *connection) { return library.PQstatus(connection); }

const char *dlm_pg_error_message(const dlm_pg_connection *connection) { return library.PQerrorMessage(connection); }

void dlm_pg_finish(dlm_pg_connection *connection) { library.PQfinish(connection); }

dlm_pg_result *dlm_pg_execute(
    dlm_pg_connection *connection, const char *statement, int count, const char *const *values) {
    if (count == 0) return library.PQexec(connection, statement);
    return library.PQexecParams(connection, statement, count, NULL, values, NULL, NULL, 0);
}

int dlm_pg_result_status(const dlm_pg_result *result) { return library.PQresultStatus(result); }

const char *dlm_pg_result_field(const dlm_pg_result *result, int field) {
    return library.PQresultErrorField(result, field);
}

int dlm_pg_rows(const dlm_pg_result *result) { return library.PQntuples(result); }

int dlm_pg_columns(const dlm_pg_result *result) { return library.PQnfields(result); }

const char *dlm_pg_value(const dlm_pg_result *result, int row, int column, int *length) {
    if (library.PQgetisnull(result, row, column)) return NULL;
    *length = library.PQgetlength(result, row, column);
    return library.PQgetvalue(result, row, column);
}

void dlm_pg_clear(dlm_pg_result *result) { library.PQclear(result); }

int dlm_pg_put_copy_data(dlm_pg_connection *connection, const char *bytes, int count) {
    return library.PQputCopyData(connection, bytes, count);
}

int dlm_pg_put_copy_end(dlm_pg_connection *connection, const char *message) {
    return library.PQputCopyEnd(connection, message);
}

dlm_pg_result *dlm_pg_next_result(dlm_pg_connection *connection) { return library.PQgetResult(connection); }
