/* lines.h - cuts a stream of bytes into lines (LF or CRLF), for NDJSON and line protocols.
 *
 * Used like sse.h: feed, then take lines until it needs more. A line lives until the next call on
 * the reader. A line over the cap is an error; the reader cannot be used after it. The last line
 * may lack its end: lines_end() returns it. */
#ifndef KEEL_NET_LINES_H
#define KEEL_NET_LINES_H

#include "base/strbuf.h"

struct line_reader {
    struct str feed;       /* the caller's bytes, borrowed until they are used up */
    struct strbuf pending; /* the start of a line without its end */
    size_t max_line_bytes; /* without the line's end */
    bool handed_out;       /* the caller holds `pending` until the next call */
};

void lines_init(struct line_reader *r, size_t max_line_bytes);
void lines_done(struct line_reader *r);
DEFINE_AUTO_VAL(line_reader, lines_done)

/* `bytes` must stay valid until lines_next() needs more. */
void lines_feed(struct line_reader *r, struct str bytes);
MUST_USE struct err *lines_next(struct line_reader *r, struct str *ret_line, bool *ret_has);
bool lines_end(struct line_reader *r, struct str *ret_line); /* false: nothing was left */

#endif
