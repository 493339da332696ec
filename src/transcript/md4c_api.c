/* md4c_api.c - opens md4c. */
#include "transcript/md4c_api.h"

#include "sys/dylib.h"

struct err *md4c_api_load(struct md4c_api *ret_api)
{
    struct md4c_api api;
    const struct dylib_symbol symbols[] = {{"md_parse", (void **)&api.parse}};

    TRY(dylib_load("libmd4c.so.0", "libmd4c0", symbols, ARRAY_LEN(symbols)));
    *ret_api = api;
    return NULL;
}
