/* writer.h - what a form of a transcript implements. Private to transcript/.
 *
 * Writers append to `out` and never fail; whoever drives them empties it between events. */
#ifndef KEEL_TRANSCRIPT_WRITER_H
#define KEEL_TRANSCRIPT_WRITER_H

#include "port/event.h"
#include "transcript/transcript.h"

/* Of one event: a request is told with all of its history. */
#define WRITER_MAX_BYTES ((size_t)1 << 30)

struct writer;

struct writer_ops {
    struct writer *(*make)(void); /* required, as are event and free */
    /* Around everything. */
    void (*open)(struct writer *w, const struct store_summary *root);
    void (*close)(struct writer *w);
    /* Around one stream; depth 0 is the session itself. Streams do not nest. */
    void (*begin)(struct writer *w, const struct store_summary *session, unsigned depth);
    void (*event)(struct writer *w, const struct event *e);
    /* `h` holds what a model would be sent next. */
    void (*end)(struct writer *w, const struct history *h);
    void (*free)(struct writer *w);
};

/* Forms embed this first. */
struct writer {
    const struct writer_ops *ops;
    struct strbuf out;
    const struct secrets *secrets;
};

extern const struct writer_ops writer_jsonl, writer_json, writer_markdown, writer_html;

#endif
