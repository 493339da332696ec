/* fields.h - the fields of events as members of a record, by the rows of view/event_fields.h. Only
 * the codec includes this. */
#ifndef KEEL_SESSION_CODEC_FIELDS_H
#define KEEL_SESSION_CODEC_FIELDS_H

#include "session/codec/decode.h"
#include "session/codec/encode.h"
#include "view/event_fields.h"

/* What is empty is not written. */
void codec_put_fields(struct encoding *c, const struct event_field *fields, const void *body);
/* What is not there is empty. Errors are borrowed from the reader. */
MUST_USE struct err *codec_get_fields(struct decoding *d, const struct event_field *fields,
                                      void *body);

#endif
