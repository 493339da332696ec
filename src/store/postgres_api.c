/* postgres_api.c - opens libpq. */
#include "store/postgres_api.h"

#include "sys/dylib.h"

struct err *postgres_api_load(struct postgres_api *ret_api)
{
    const struct dylib_symbol symbols[] = {
#define X(name) {"PQ" #name, (void **)&ret_api->name},
        POSTGRES_API_TABLE(X)
#undef X
    };

    return dylib_load("libpq.so.5", "libpq5", symbols, ARRAY_LEN(symbols));
}
