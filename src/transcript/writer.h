/* writer.h - implements a form of a transcript. Private to transcript/.
 *
 * Writers append to `out` and do not fail; their driver empties it between events. A writer with a
 * long text for one event calls writer_flush() on its way. */
#ifndef KEEL_TRANSCRIPT_WRITER_H
#define KEEL_TRANSCRIPT_WRITER_H

#include "port/event.h"
#include "session/codec/codec.h"
#include "transcript/transcript.h"
#include "view/redact.h"

#define WRITER_MAX_BYTES ((size_t)1 << 30) /* of one event */
#define WRITER_FLUSH_BYTES ((size_t)256 << 10)

struct writer;

struct writer_ops {
    struct writer *(*make)(void); /* required, as are event and free */
    /* Before and after everything. */
    void (*open)(struct writer *w, const struct store_summary *root);
    void (*close)(struct writer *w);
    /* Before and after one stream; depth 0 is the session itself. Streams do not nest. */
    void (*begin)(struct writer *w, const struct store_summary *session, unsigned depth);
    void (*event)(struct writer *w, const struct event *e);
    void (*end)(struct writer *w);
    void (*free)(struct writer *w);
    const bool *unwanted; /* types of events that it ignores; may be NULL */
};

/* Forms embed this first. */
struct writer {
    const struct writer_ops *ops;
    const struct transcript *transcript;
    struct strbuf out;
    struct err *error; /* the first error of writing */
    struct redaction *redaction;
    struct codec_reader *reader; /* of the stream: it only passes events on, and keeps no history */
};
void writer_flush(struct writer *w);

extern const struct writer_ops writer_jsonl, writer_markdown, writer_html;

/* The form that is one object, not a text of events (json.c). */
MUST_USE struct err *transcript_write_record(const struct transcript *t, struct redaction *r);

/* transcript.c: calls `each` for a session and all below it, parents first, without secrets in the
 * summary. */
MUST_USE struct err *transcript_each(const struct transcript *t, struct redaction *r,
                                     struct err *(*each)(void *self, const struct store_summary *s,
                                                         unsigned depth),
                                     void *self);

/* html_style.c: the style sheet of a page. */
extern const char html_style[];

#endif
