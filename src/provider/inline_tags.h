/* inline_tags.h - reasoning and calls that a model wrote into its text.
 *
 * Models are trained to put what they think between <think> and </think>, and their calls between
 * <tool_call> and </tool_call>, or at the end of the answer behind [TOOL_CALLS] or <|python_tag|>.
 * Servers turn that into fields of the answer; some local ones do
 * not, and it comes as text. This reads it, in a stream whose pieces may end anywhere.
 *
 * Thinking begins at the start of a line. Some servers put <think> into the prompt, so a first
 * </think> without it makes reasoning of all that came before: who watched the stream has seen it
 * as text. Nothing inside of a code fence is a tag, and what does not read as a call stays text.
 * Pure. */
#ifndef KEEL_PROVIDER_INLINE_TAGS_H
#define KEEL_PROVIDER_INLINE_TAGS_H

#include "model/reply.h"

#define INLINE_TAGS_MAX_CALL ((size_t)1 << 20) /* bytes of one call; a longer one is text */

/* Zero is the start of an answer. Its memory is that of the reply. */
struct inline_tags {
    enum { INLINE_TEXT, INLINE_THOUGHT, INLINE_CALL } within;
    char held[16]; /* what may become a tag with the next piece */
    size_t n_held;
    bool has_begun;  /* the text, the thought: something beside white space has come */
    bool is_behind;  /* a tag: white space before the first word is left out */
    char blanks[64]; /* white space that the answer begins with: a tag may follow */
    size_t n_blanks;
    bool has_word;    /* this line has something beside white space */
    char fence, mark; /* the fence that is open; what this line began with, n_marks times */
    unsigned n_marks;
    bool has_said;       /* the answer: something beside white space and tags */
    char last;           /* character that was read */
    const char *opening; /* tag of the call */
    char *call;          /* what stands behind it */
    size_t n_call, call_room;
    /* Adds text of a kind to the reply: the protocol's way to go on with a part. */
    struct err *(*add)(struct reply *r, enum part_kind kind, struct str text);
};

MUST_USE struct err *inline_tags_feed(struct inline_tags *t, struct reply *r, struct arena *scratch,
                                      struct str text);
/* After the last piece. A call whose end is missing is one all the same if it is whole. */
MUST_USE struct err *inline_tags_end(struct inline_tags *t, struct reply *r, struct arena *scratch);

#endif
