/* search.c - reads a file in blocks of whole lines and searches them. */
#include "tool/search/search.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK_BYTES ((size_t)256 << 10)
#define KEPT_BYTES ((size_t)1 << 20) /* a larger buffer is freed after its file */
#define DEFAULT_FILE_BYTES ((uint64_t)1 << 30)

void grep_search_init(struct grep_search *s, const struct grep_query *query,
                      const struct grep_pattern *pattern)
{
    *s = (struct grep_search){.query = query, .matcher = grep_matcher_new(pattern)};
    grep_printer_init(&s->printer, query);
    s->max_file_bytes = query->max_file_bytes ? query->max_file_bytes : DEFAULT_FILE_BYTES;
    if (query->multiline)
        s->max_file_bytes = MIN(s->max_file_bytes, GREP_MAX_MULTILINE);
}

void grep_search_done(struct grep_search *s)
{
    grep_matcher_free(s->matcher);
    grep_printer_done(&s->printer);
    mem_free(s->buffer);
    strbuf_done(&s->raw);
}

/* --- reading --- */

static struct str window(const struct grep_search *s, size_t n)
{
    return str_make(s->buffer, n);
}

static void set_room(struct grep_search *s, size_t room)
{
    s->buffer = mem_resize(s->buffer, room);
    s->room = room;
}

/* Reads some bytes. False if the file cannot be read. */
static bool read_some(struct grep_search *s, char *to, size_t max, size_t *ret_n)
{
    bool knows_size = s->n_left > 0;
    ssize_t got;

    do
        got = read(s->fd, to, max);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return false;
    s->n_left -= MIN((size_t)got, s->n_left);
    s->at_end = got == 0 || (knows_size && s->n_left == 0);
    *ret_n = (size_t)got;
    return true;
}

/* Decodes the raw bytes into the buffer. */
static void decode_raw(struct grep_search *s)
{
    AUTO(strbuf) struct strbuf text = {0};

    strbuf_drop_front(&s->raw, text_decode(&text, strbuf_str(&s->raw), s->encoding, s->at_end));
    if (s->n + text.n > s->room)
        set_room(s, s->n + text.n);
    memcpy(s->buffer + s->n, text.p, text.n);
    s->n += text.n;
}

#define MAX_GROWTH 3 /* bytes of UTF-8 for one byte of another encoding */

static bool fill_decoded(struct grep_search *s)
{
    size_t room, n;

    while (!s->at_end && (room = (s->room - s->n) / MAX_GROWTH) >= 64) {
        char *to = strbuf_reserve(&s->raw, room);

        if (!to || !read_some(s, to, room, &n))
            return false;
        strbuf_grew(&s->raw, n);
        decode_raw(s);
    }
    return true;
}

/* Reads until the buffer is full or the file ends. False if the file cannot be read. */
static bool fill_buffer(struct grep_search *s)
{
    size_t n;

    if (s->encoding != TEXT_UTF8)
        return fill_decoded(s);
    while (!s->at_end && s->n < s->room) {
        if (!read_some(s, s->buffer + s->n, s->room - s->n, &n))
            return false;
        s->n += n;
    }
    return true;
}

/* Converts the first bytes to UTF-8. False if the file is binary. */
static bool begin_text(struct grep_search *s)
{
    s->encoding = text_encoding_of(window(s, s->n));
    if ((s->encoding == TEXT_UTF8 || s->encoding == TEXT_LATIN1) &&
        memchr(s->buffer, '\0', MIN(s->n, (size_t)TEXT_HEAD_BYTES)) &&
        !text_has_nuls(window(s, s->n)))
        return false;
    if (s->encoding != TEXT_UTF8) {
        strbuf_clear(&s->raw);
        strbuf_add(&s->raw, window(s, s->n));
        s->n = 0;
        decode_raw(s);
    }
    if (str_starts(window(s, s->n), S(TEXT_BOM))) {
        s->n -= sizeof TEXT_BOM - 1;
        memmove(s->buffer, s->buffer + sizeof TEXT_BOM - 1, s->n);
    }
    return true;
}

/* --- searching --- */

/* Widens the lines of the last match, or moves from them to those of this one. Looks at the text
 * between them once, however many matches a long line has. */
static void move_lines(struct grep_span *lines, struct str text, struct grep_span match)
{
    size_t last = match.end > match.start ? match.end - 1 : match.start;

    if (match.start > lines->end) {
        const char *newline = memrchr(text.p + lines->end, '\n', match.start - lines->end);

        lines->start = newline ? (size_t)(newline - text.p) + 1 : lines->end;
    }
    if (last >= lines->end) {
        const char *newline = memchr(text.p + last, '\n', text.n - last);

        lines->end = newline ? (size_t)(newline - text.p) : text.n;
    }
}

/* Where to continue: after the line, or after the match if several matches of a line count. */
static size_t next_start(const struct grep_search *s, struct str text, struct grep_span match,
                         struct grep_span lines)
{
    size_t next = MAX(match.end, match.start + 1);

    if (!s->query->multiline && !s->query->only_matching)
        return lines.end + 1;
    while (next < text.n && (text.p[next] & 0xC0) == 0x80) /* not inside a character */
        next++;
    return next;
}

static struct grep_span shift(struct grep_span span, size_t n)
{
    return (struct grep_span){span.start + n, span.end + n};
}

/* Finds all matches in the bytes from..to of the buffer, which are whole lines. */
static struct err *search_block(struct grep_search *s, size_t from, size_t to)
{
    struct str text = str_slice(window(s, s->n), from, to - from);
    struct grep_span match, lines = {0, 0};
    bool found;
    size_t at = 0;

    grep_matcher_begin(s->matcher, text, s->is_over);
    for (;;) {
        TRY(grep_matcher_find(s->matcher, at, &found, &match));
        if (!found)
            return NULL;
        s->n_matches++;
        if (s->query->mode == GREP_FILES)
            return NULL;
        move_lines(&lines, text, match);
        at = next_start(s, text, match, lines);
        if (s->query->mode == GREP_CONTENT)
            grep_printer_match(&s->printer, window(s, to), shift(lines, from), shift(match, from));
    }
}

/* Moves the bytes that are not searched yet, and the context before them, to the front. Returns how
 * many bytes of the buffer are searched. */
static size_t move_on(struct grep_search *s, size_t searched)
{
    struct str seen = window(s, searched);
    size_t keep;

    grep_printer_flush(&s->printer, seen);
    keep = grep_printer_keep(&s->printer, seen);
    grep_printer_move(&s->printer, seen, keep);
    memmove(s->buffer, s->buffer + keep, s->n - keep);
    s->n -= keep;
    return searched - keep;
}

/* The end of the whole lines in the buffer, from `from` on. */
static size_t whole_lines(const struct grep_search *s, size_t from)
{
    const char *newline;

    if (s->at_end)
        return s->n;
    newline = memrchr(s->buffer + from, '\n', s->n - from);
    return newline ? (size_t)(newline - s->buffer) + 1 : from;
}

static struct err *search_lines(struct grep_search *s)
{
    bool is_first = true;
    size_t searched = 0;

    for (;; is_first = false) {
        size_t end;

        if (!fill_buffer(s) || (is_first && !begin_text(s))) {
            s->was_skipped = true;
            return NULL;
        }
        end = whole_lines(s, searched);
        if (end > searched)
            TRY(search_block(s, searched, end));
        if (s->at_end || (s->n_matches && s->query->mode == GREP_FILES)) /* one match is enough */
            break;
        searched = move_on(s, end);
        if (s->n > s->room / 2 && s->room >= GREP_MAX_LINE) {
            s->was_skipped = true;
            break;
        }
        if (s->n > s->room / 2)
            set_room(s, s->room * 2);
    }
    grep_printer_flush(&s->printer, window(s, s->n));
    return NULL;
}

static struct err *search_whole(struct grep_search *s)
{
    bool is_text = fill_buffer(s) && begin_text(s);

    while (is_text && !s->at_end && s->room <= GREP_MAX_MULTILINE) {
        set_room(s, s->room * 2);
        is_text = fill_buffer(s);
    }
    if (!s->at_end || !is_text) {
        s->was_skipped = true;
        return NULL;
    }
    TRY(search_block(s, 0, s->n));
    grep_printer_flush(&s->printer, window(s, s->n));
    return NULL;
}

/* False if the file must not be searched. */
static bool begin_file(struct grep_search *s, int fd)
{
    struct stat st;

    s->fd = fd;
    s->n = s->n_matches = 0;
    s->at_end = s->was_skipped = false;
    s->encoding = TEXT_UTF8;
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || (uint64_t)st.st_size > s->max_file_bytes)
        return false;
    s->n_left = (size_t)st.st_size; /* 0 for generated files, as in /proc */
    s->modified_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec;
    if (!s->buffer)
        set_room(s, BLOCK_BYTES);
    return true;
}

struct err *grep_search_file(struct grep_search *s, int fd, struct str path,
                             const atomic_bool *is_over)
{
    struct err *e;

    grep_printer_begin(&s->printer, path);
    s->is_over = is_over;
    if (!begin_file(s, fd)) {
        s->was_skipped = true;
        return NULL;
    }
    e = s->query->multiline ? search_whole(s) : search_lines(s);
    if (s->room > KEPT_BYTES)
        set_room(s, BLOCK_BYTES);
    return e ? err_wrap(e, "cannot search %" STR_FMT, STR_ARG(path)) : NULL;
}
