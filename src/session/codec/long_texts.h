/* long_texts.h - texts and files of messages and results that are too long for a record.
 *
 * Each is a blob of its own, as it is: a tool's output that was stored for the model to read on has
 * the same bytes, and so the same blob. The record has the message without them; beside it a
 * list says where they belong: [PART,CONTENT,{"$blob":HANDLE}], CONTENT being -1 for the part
 * itself. Their order is that of the parts. Only encode*.c, decode*.c and
 * archive/replay_line.c include this. */
#ifndef KEEL_SESSION_CODEC_LONG_TEXTS_H
#define KEEL_SESSION_CODEC_LONG_TEXTS_H

#include "session/codec/decode.h"
#include "session/codec/encode.h"

struct long_text {
    size_t part;
    int64_t content;
    struct str bytes; /* borrowed */
    char handle[SHA256_HEX_SIZE];
};

/* Zeroed is valid: there are none. */
struct long_texts {
    struct arena arena;
    struct long_text *items;
    size_t n, room;
};
void long_texts_done(struct long_texts *t);
DEFINE_AUTO_VAL(long_texts, long_texts_done)

/* The parts without their long texts, which are added to the list; `parts` itself where there are
 * none. Lives as long as the list. */
const struct part *long_texts_take_out(struct long_texts *t, const struct part *parts, size_t n);
/* The list. */
void long_texts_write(struct json_writer *w, const struct long_texts *t);
/* The list as a member of the record, which keeps the blobs; nothing where there are none. */
void codec_put_long_texts(struct encoding *c, const char *key, const struct long_texts *t);

/* Puts them back into parts that were read; they live in `a`. */
MUST_USE struct err *codec_get_long_texts(struct decoding *d, const struct json *list,
                                          struct arena *a, struct part *parts, size_t n);

#endif
