/* lines.c - assembles lines from pieces; copies none that is whole in one piece. */
#include "net/lines.h"

void lines_init(struct line_reader *r, size_t max_line_bytes)
{
    *r = (struct line_reader){.max_line_bytes = max_line_bytes};
    strbuf_init(&r->pending, max_line_bytes + 1); /* a CR may be half of the end */
}

void lines_done(struct line_reader *r)
{
    strbuf_done(&r->pending);
}

void lines_feed(struct line_reader *r, struct str bytes)
{
    BUG_IF(r->feed.n);
    r->feed = bytes;
}

static struct str without_cr(struct str line)
{
    if (line.n && line.p[line.n - 1] == '\r')
        line.n--;
    return line;
}

static struct err *check_size(const struct line_reader *r, struct str line)
{
    if (!strbuf_is_over(&r->pending) && without_cr(line).n <= r->max_line_bytes)
        return NULL;
    return err_new(ERR_VALIDATION, "a line of the stream is larger than its limit of %zu bytes",
                   r->max_line_bytes);
}

static void drop_handed_out(struct line_reader *r)
{
    if (r->handed_out)
        strbuf_clear(&r->pending);
    r->handed_out = false;
}

struct err *lines_next(struct line_reader *r, struct str *ret_line, bool *ret_has)
{
    size_t end = str_find_char(r->feed, '\n');
    struct str line = str_slice(r->feed, 0, end);
    bool has_end = end != STR_NONE;

    drop_handed_out(r);
    if (!has_end || r->pending.n) {
        strbuf_add(&r->pending, line);
        line = strbuf_str(&r->pending);
    }
    TRY(check_size(r, line));
    r->feed = has_end ? str_skip(r->feed, end + 1) : (struct str){0};
    r->handed_out = has_end;
    *ret_line = without_cr(line);
    *ret_has = has_end;
    return NULL;
}

bool lines_end(struct line_reader *r, struct str *ret_line)
{
    drop_handed_out(r);
    if (r->pending.n == 0)
        return false;
    *ret_line = without_cr(strbuf_str(&r->pending));
    r->handed_out = true;
    return true;
}
