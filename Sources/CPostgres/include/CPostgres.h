// libpq, PostgreSQL's client library, loaded at its first use. The program is neither linked with libpq nor built with
// its headers, so the declarations of its functions are repeated here. New versions of libpq.so.5 have stayed compatible
// since 2006.
#ifndef CPOSTGRES_H
#define CPOSTGRES_H

/// A connection (PGconn).
typedef struct dlm_pg_connection dlm_pg_connection;
/// A result (PGresult).
typedef struct dlm_pg_result dlm_pg_result;

// Each entry has a return type, a name and parameters, as in libpq-fe.h.
#define DLM_PG_FUNCTIONS(EACH)                                                                                  \
    EACH(dlm_pg_connection *, PQconnectdbParams, (const char *const *, const char *const *, int))               \
    EACH(int, PQstatus, (const dlm_pg_connection *))                                                            \
    EACH(char *_Nonnull, PQerrorMessage, (const dlm_pg_connection *))                                           \
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

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnullability-completeness"
/// The functions of libpq.
struct dlm_pg {
#define DLM_PG_FUNCTION(type, name, parameters) type(*_Nonnull name) parameters;
    DLM_PG_FUNCTIONS(DLM_PG_FUNCTION)
};

/// Loads libpq. Returns NULL and stores the reason if libpq cannot be used.
const struct dlm_pg *dlm_pg_load(const char **reason);
#pragma clang diagnostic pop

/// The values of ExecStatusType and ConnStatusType that dlm distinguishes.
enum {
    DLM_PG_CONNECTION_OK = 0,
    DLM_PG_EMPTY_QUERY = 0,
    DLM_PG_COMMAND_OK = 1,
    DLM_PG_TUPLES_OK = 2,
    DLM_PG_COPY_IN = 4,
};

/// The codes of fields of an error (PG_DIAG_SQLSTATE, PG_DIAG_MESSAGE_PRIMARY).
enum { DLM_PG_SQLSTATE = 'C', DLM_PG_MESSAGE = 'M' };

#endif
