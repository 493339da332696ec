/* sqlite_api.c - opens SQLite's library. */
#include "store/sqlite_api.h"

#include "sys/dylib.h"

struct err *sqlite_api_load(struct sqlite_api *ret_api)
{
    const struct dylib_symbol symbols[] = {
#define X(name) {"sqlite3_" #name, (void **)&ret_api->name},
        SQLITE_API_TABLE(X)
#undef X
    };

    return dylib_load("libsqlite3.so.0", "libsqlite3-0", symbols, ARRAY_LEN(symbols));
}
