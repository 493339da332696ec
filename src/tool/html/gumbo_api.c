/* gumbo_api.c - opens gumbo. */
#include "tool/html/gumbo_api.h"

#include "sys/dylib.h"

#ifndef KEEL_GUMBO_SONAME /* the build finds it out */
#define KEEL_GUMBO_SONAME "libgumbo.so.1"
#endif

struct err *gumbo_api_load(struct gumbo_api *ret_api)
{
    struct gumbo_api api;
    const struct dylib_symbol symbols[] = {
        {"gumbo_parse_with_options", (void **)&api.parse_with_options},
        {"gumbo_get_attribute", (void **)&api.get_attribute},
    };

    TRY(dylib_load(KEEL_GUMBO_SONAME, "libgumbo-dev", symbols, ARRAY_LEN(symbols)));
    *ret_api = api;
    return NULL;
}
