/* inline_tags.h - reasoning and calls that a model wrote into its text.
 *
 * Models are trained to put their thoughts between <think> and </think>, and their calls between
 * <tool_call> and </tool_call>, or at the end of the answer after [TOOL_CALLS] or <|python_tag|>.
 * Servers turn these into fields of the answer; some local ones do not, and they arrive as text.
 * This reads them, in a stream whose pieces may end anywhere.
 *
 * Thoughts begin at the start of a line. Some servers put <think> into the prompt, so a first
 * </think> without it turns all text before it into reasoning, although listeners of the stream
 * have seen it as text. There are no tags inside a code fence, and what cannot be parsed as a call
 * stays text. Pure. */
#ifndef KEEL_PROVIDER_INLINE_TAGS_H
#define KEEL_PROVIDER_INLINE_TAGS_H

#include "model/reply.h"

#define INLINE_TAGS_MAX_CALL ((size_t)1 << 20) /* bytes of one call; longer ones are text */

/* Zero it for a new answer. Its memory is the reply's. */
struct inline_tags {
    enum { INLINE_TEXT, INLINE_THOUGHT, INLINE_CALL } within;
    char held[16]; /* the beginning of what may be a tag */
    size_t n_held;
    bool has_begun;  /* the text or thought has more than white space */
    bool is_behind;  /* a tag came before: white space in front of the first word is skipped */
    char blanks[64]; /* white space at the beginning of the answer: a tag may follow */
    size_t n_blanks;
    bool has_word;    /* this line has more than white space */
    char fence, mark; /* the open fence; what this line began with, n_marks times */
    unsigned n_marks;
    bool has_said;       /* the answer has more than white space and tags */
    char last;           /* character read */
    const char *opening; /* tag of the call */
    char *call;          /* the text after it */
    size_t n_call, call_room;
    /* Adds text of a kind to the reply, as the protocol continues a part. */
    struct err *(*add)(struct reply *r, enum part_kind kind, struct str text);
};

MUST_USE struct err *inline_tags_feed(struct inline_tags *t, struct reply *r, struct arena *scratch,
                                      struct str text);
/* Call it after the last piece. A call may lack its closing tag if it is complete otherwise. */
MUST_USE struct err *inline_tags_end(struct inline_tags *t, struct reply *r, struct arena *scratch);

#endif
