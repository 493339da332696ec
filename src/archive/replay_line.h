/* replay_line.h - events as the lines in which a run and its recording are compared.
 *
 * A line is that of the session's log (view/session_log.h), without what another line has anyway:
 * the history is in history_mutation, and the messages and tools of a request in its hash.
 *
 * What others than the engine do is not compared, but played as far as it has an effect: tools'
 * progress, state and saved files, that calls began early; questions to a person and the answers;
 * notices of hooks, plugins, budgets, snapshots, and of credentials that were taken out. The pieces
 * of an answer are compared joined: how a text is cut depends on which credentials were known. */
#ifndef KEEL_ARCHIVE_REPLAY_LINE_H
#define KEEL_ARCHIVE_REPLAY_LINE_H

#include "port/event.h"

/* The engine's own, or another's? */
bool replay_compares(const struct event *e);
/* Appends the line, without its end. Long texts of a tool_end stand there as their handles; `left`:
 * those that the reader has left (codec_reader_left()), NULL: the event has all. Other long
 * texts are replaced as `long_texts` says; NULL: they are written whole. */
void replay_line(const struct event *e, const struct json *left,
                 const struct json_long_texts *long_texts, struct strbuf *out);

/* A text of this many bytes is compared by its length, its hash and its beginning: several lines of
 * an answer have all of its text, and are kept until the others come. */
#define REPLAY_LONG_TEXT ((size_t)8 << 10)
#define REPLAY_SHOWN_OF_LONG ((size_t)256)
/* For json_long_texts. */
void replay_write_long_text(void *self, struct str text, struct strbuf *out);
/* The same with a beginning and a hash that the caller has made. */
void replay_write_hashed(struct str beginning, size_t n_bytes, const char *hash,
                         struct strbuf *out);

/* Pieces of an answer, joined as long as they are of one kind and one part. Those of a run and of
 * its recording are compared as they come: what is the same in both is dropped. */
struct replay_pieces {
    struct strbuf text; /* what is not compared yet, and some of what precedes it */
    size_t n_same;      /* bytes of it that are compared */
    size_t part;
    enum delta_kind kind;
    bool has_any;
};
void replay_pieces_add(struct replay_pieces *p, const struct delta *d);
/* Compares what both have; false: they differ. */
bool replay_pieces_compare(struct replay_pieces *a, struct replay_pieces *b);
bool replay_pieces_are_compared(const struct replay_pieces *p); /* all of them */
/* The line that shows a difference: what was not the same, and a little before it. */
void replay_pieces_line(const struct replay_pieces *p, struct strbuf *out);
void replay_pieces_done(struct replay_pieces *p);

#endif
