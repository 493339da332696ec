/* types.h - how each type of event is written and read. Only the codec includes this. */
#ifndef KEEL_SESSION_CODEC_TYPES_H
#define KEEL_SESSION_CODEC_TYPES_H

#include "port/event.h"

struct encoding;
struct decoding;

struct codec_type {
    /* What rows of fields (view/event_fields.h) cannot say, after them; NULL: they say it all. */
    void (*encode)(struct encoding *c);
    struct err *(*decode)(struct decoding *d);
};
extern const struct codec_type codec_types[EVENT_N_TYPES];

const char *codec_delta_kind_name(enum delta_kind k);

#endif
