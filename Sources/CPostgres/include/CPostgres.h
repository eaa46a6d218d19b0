// libpq, PostgreSQL's client library, loaded at its first use. The program is neither linked with libpq nor built with
// its headers. The functions below call libpq's functions, whose declarations are repeated in CPostgres.c. New versions
// of libpq.so.5 have stayed compatible since 2006.
#ifndef CPOSTGRES_H
#define CPOSTGRES_H

/// A connection (PGconn).
typedef struct dlm_pg_connection dlm_pg_connection;
/// A result (PGresult).
typedef struct dlm_pg_result dlm_pg_result;

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

/// Loads libpq. Returns NULL, or the reason why libpq cannot be used. All other functions need a loaded library.
const char *dlm_pg_load(void);

/// PQconnectdbParams with an expanded `dbname`. The arrays end with NULL.
dlm_pg_connection *dlm_pg_connect(const char *const *keywords, const char *const *values);
int dlm_pg_status(const dlm_pg_connection *connection);
const char *dlm_pg_error_message(const dlm_pg_connection *connection);
void dlm_pg_finish(dlm_pg_connection *connection);

/// PQexecParams with parameters and results as text. If there are no parameters, runs PQexec. Then
/// `statement` may have several statements.
dlm_pg_result *dlm_pg_execute(
    dlm_pg_connection *connection, const char *statement, int count, const char *const *values);
int dlm_pg_result_status(const dlm_pg_result *result);
const char *dlm_pg_result_field(const dlm_pg_result *result, int field);
int dlm_pg_rows(const dlm_pg_result *result);
int dlm_pg_columns(const dlm_pg_result *result);
/// Returns the value, or NULL for SQL's NULL.
const char *dlm_pg_value(const dlm_pg_result *result, int row, int column, int *length);
void dlm_pg_clear(dlm_pg_result *result);

/// PQputCopyData. Returns 1, or -1 after an error.
int dlm_pg_put_copy_data(dlm_pg_connection *connection, const char *bytes, int count);
/// PQputCopyEnd, with NULL for a success. Returns 1, or -1 after an error.
int dlm_pg_put_copy_end(dlm_pg_connection *connection, const char *message);
/// PQgetResult. Returns NULL after the last result.
dlm_pg_result *dlm_pg_next_result(dlm_pg_connection *connection);

#endif
