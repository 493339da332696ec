/* openai_responses.h - the parts of the OpenAI Responses protocol.
 *
 * Reading has two layers: events and whole answers (decode.c) change items, and items (item.c)
 * become parts of the reply. */
#ifndef KEEL_PROVIDER_OPENAI_RESPONSES_H
#define KEEL_PROVIDER_OPENAI_RESPONSES_H

#include "provider/openai_error.h"
#include "provider/protocol.h"

#define RESPONSES_MAX_CALL_ID 64

void openai_responses_begin(struct decode *d);
bool openai_responses_is_event(struct str type, const struct json *event);
struct err *openai_responses_event(struct decode *d, struct str type, const struct json *event);
struct err *openai_responses_body(struct decode *d, const struct json *body);

/* --- items --- */

struct responses_part {
    size_t index; /* in the reply */
    int64_t content_index;
};

/* One item of the output and its parts: any number for a message, one for others. */
struct responses_item {
    struct str type, id;
    int64_t output_index; /* -1: the vendor does not number its items */
    struct responses_part *parts;
    size_t n_parts, parts_room;
    size_t n_citations;
    bool is_done;   /* its final form has been read */
    bool is_listed; /* the final output has it */
};

/* Lives in the reply's arena. A pointer to an item is valid until the next one is opened. */
struct responses_items {
    struct responses_item *at;
    size_t n, room;
};

/* The item of an event. Vendors omit the id or the index, change the id in every event, or number
 * all items alike. So id and index together count most, then the id, then the index; without both
 * it is the last item. An empty type matches every type. NULL: no such item. */
struct responses_item *responses_item_find(const struct responses_items *items, struct str type,
                                           struct str id, int64_t output_index);
struct err *responses_item_open(struct decode *d, struct responses_items *items, struct str type,
                                struct str id, int64_t output_index,
                                struct responses_item **ret_item);

/* Begins the part of an item that has one part; a message begins its parts with their first
 * text. */
struct err *responses_item_announce(struct decode *d, struct responses_item *item,
                                    const struct json *json);
/* The part for a piece of text, begun if necessary. */
struct err *responses_item_part(struct decode *d, struct responses_item *item, enum part_kind kind,
                                int64_t content_index, size_t *ret_index);
struct err *responses_item_cite(struct decode *d, struct responses_item *item,
                                const struct json *annotation);
/* Reads the final form of an item, which repeats deltas or adds what they omitted. */
struct err *responses_item_settle(struct decode *d, struct responses_item *item,
                                  const struct json *json);

/* The final value replaces the streamed one, and is reported only as far as it is new. An empty one
 * was omitted by the vendor. */
struct err *responses_settle_text(struct reply *r, size_t index, struct str text);
struct err *responses_settle_args(struct reply *r, size_t index, struct str args);

#endif
