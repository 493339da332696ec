/* uri.h - URI references as RFC 3986 resolves them, for $id and $ref. */
#ifndef KEEL_BASE_SCHEMA_URI_H
#define KEEL_BASE_SCHEMA_URI_H

#include "base/arena.h"

/* Cuts the fragment and its '#' off and returns it, still encoded; empty when there is none. */
struct str schema_uri_cut_fragment(struct str *uri);
/* Both without fragment. Where the base is not absolute, neither is the result. */
struct str schema_uri_resolve(struct arena *a, struct str base, struct str reference) MUST_USE;
bool schema_uri_is_absolute(struct str uri);
/* Bytes for %XX; what is not two hexadecimal digits stays. */
struct str schema_uri_decode(struct arena *a, struct str text) MUST_USE;

#endif
