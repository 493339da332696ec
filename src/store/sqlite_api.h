/* sqlite_api.h - SQLite's functions, looked up by name: the library is not linked.
 *
 * Members are called as SQLite's functions without their prefix: api->step(...). */
#ifndef KEEL_STORE_SQLITE_API_H
#define KEEL_STORE_SQLITE_API_H

#include "base/err.h"

#include <sqlite3.h>

#define SQLITE_API_TABLE(X)                                                                        \
    X(open_v2)                                                                                     \
    X(close_v2)                                                                                    \
    X(busy_handler)                                                                                \
    X(db_config)                                                                                   \
    X(exec)                                                                                        \
    X(prepare_v3)                                                                                  \
    X(finalize)                                                                                    \
    X(reset)                                                                                       \
    X(clear_bindings)                                                                              \
    X(step)                                                                                        \
    X(create_function_v2)                                                                          \
    X(user_data)                                                                                   \
    X(value_type)                                                                                  \
    X(value_int64)                                                                                 \
    X(value_text)                                                                                  \
    X(value_bytes)                                                                                 \
    X(result_int64)                                                                                \
    X(bind_int64)                                                                                  \
    X(bind_text64)                                                                                 \
    X(bind_null)                                                                                   \
    X(column_int64)                                                                                \
    X(column_text)                                                                                 \
    X(column_bytes)                                                                                \
    X(extended_errcode)                                                                            \
    X(extended_result_codes)                                                                       \
    X(errmsg)                                                                                      \
    X(system_errno)                                                                                \
    X(errstr)                                                                                      \
    X(changes64)                                                                                   \
    X(last_insert_rowid)                                                                           \
    X(get_autocommit)                                                                              \
    X(file_control)                                                                                \
    X(wal_hook)                                                                                    \
    X(wal_checkpoint_v2)

struct sqlite_api {
#define X(name) __typeof__(sqlite3_##name) *name;
    SQLITE_API_TABLE(X)
#undef X
};

MUST_USE struct err *sqlite_api_load(struct sqlite_api *ret_api);

#endif
