/* md4c_api.h - md4c's function, looked up by name: the library is not linked. */
#ifndef KEEL_TRANSCRIPT_MD4C_API_H
#define KEEL_TRANSCRIPT_MD4C_API_H

#include "base/err.h"

#include <md4c.h>

struct md4c_api {
    __typeof__(md_parse) *parse;
};

/* Loads the library; cheap after the first time. */
MUST_USE struct err *md4c_api_load(struct md4c_api *ret_api);

#endif
