/* uuid.h - RFC 9562 UUIDs. Pure: the caller passes time and randomness. */
#ifndef KEEL_BASE_UUID_H
#define KEEL_BASE_UUID_H

#include "base/str.h"

#define UUID_TEXT_SIZE 37 /* with the NUL */

/* Version 7: sorts by creation time. */
void uuid_v7(int64_t unix_ms, const unsigned char random[10], char out[UUID_TEXT_SIZE]);
/* Version 5 without the SHA-1: version 8 from a SHA-256 of (name space, name). Repeats exactly. */
void uuid_from_name(struct str name_space, struct str name, char out[UUID_TEXT_SIZE]);
bool uuid_is_valid(struct str text); /* 8-4-4-4-12 hex digits, any version */

#endif
