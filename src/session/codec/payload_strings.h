/* payload_strings.h - the texts of a payload that deltas repeat, by their place. Pure.
 *
 * What streams in is stored as it came; a delta mostly has its text from there and need only say
 * where it stands. Writer and reader count alike. */
#ifndef KEEL_SESSION_CODEC_PAYLOAD_STRINGS_H
#define KEEL_SESSION_CODEC_PAYLOAD_STRINGS_H

#include "base/json.h"

#define PAYLOAD_STRINGS_MAX 32

/* The first values of a payload that are texts, decoded, in the order in which they stand. */
struct payload_strings {
    struct str items[PAYLOAD_STRINGS_MAX]; /* borrowed from the payload */
    size_t n;
};

void payload_strings_of(const struct json *payload, struct payload_strings *ret_strings);

#endif
