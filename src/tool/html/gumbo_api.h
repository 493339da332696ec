/* gumbo_api.h - gumbo's functions, looked up by name: the library is not linked. */
#ifndef KEEL_TOOL_GUMBO_API_H
#define KEEL_TOOL_GUMBO_API_H

#include "base/err.h"

#include <gumbo.h>

struct gumbo_api {
    __typeof__(gumbo_parse_with_options) *parse_with_options;
    __typeof__(gumbo_get_attribute) *get_attribute;
};

/* Loads the library; cheap after the first time. */
MUST_USE struct err *gumbo_api_load(struct gumbo_api *ret_api);

#endif
