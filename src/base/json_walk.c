/* json_walk.c - finds where values begin and end, in pieces of any size. */
#include "base/json_walk.h"

#include "base/ascii.h"
#include "base/utf8.h"

#include <inttypes.h>

#define PIECE_BYTES ((size_t)64 << 10) /* of a text */
#define MAX_KEY_BYTES ((size_t)64 << 10)
#define MAX_BUFFER ((size_t)1 << 30)

void json_walk_init(struct json_walk *w, struct err *(*read)(void *self, struct strbuf *out),
                    void *self)
{
    *w = (struct json_walk){.read = read, .self = self};
    strbuf_init(&w->buffer, MAX_BUFFER);
}

void json_walk_done(struct json_walk *w)
{
    strbuf_done(&w->buffer);
    strbuf_done(&w->text);
}

/* --- bytes --- */

static struct err *wrong(const struct json_walk *w, const char *what)
{
    return err_new(ERR_VALIDATION, "not valid JSON: %s at byte %" PRIu64, what,
                   w->before + w->at + 1);
}

/* Reading more drops what was walked over, except for a value that is being taken. */
static struct err *make_room(struct json_walk *w)
{
    if (w->keeps && w->buffer.n - w->kept_from > w->max_kept) {
        w->is_too_long = true;
        return err_new(ERR_VALIDATION, "a value is too long");
    }
    if (w->keeps)
        return NULL;
    strbuf_drop_front(&w->buffer, w->at);
    w->before += w->at;
    w->at = 0;
    return NULL;
}

/* Makes sure that n bytes are available; *ret_found false: the text ends before. */
static struct err *need(struct json_walk *w, size_t n, bool *ret_found)
{
    while (w->buffer.n - w->at < n && !w->is_over) {
        size_t before;

        TRY(make_room(w));
        before = w->buffer.n;
        TRY(w->read(w->self, &w->buffer));
        TRY(strbuf_check(&w->buffer, "a JSON value"));
        w->is_over = w->buffer.n == before;
    }
    *ret_found = w->buffer.n - w->at >= n;
    return NULL;
}

static struct err *peek(struct json_walk *w, char *ret_byte)
{
    bool found;

    TRY(need(w, 1, &found));
    if (!found)
        return wrong(w, "the text ends too early");
    *ret_byte = w->buffer.p[w->at];
    return NULL;
}

static struct err *skip_space(struct json_walk *w)
{
    bool found;

    do {
        while (w->at < w->buffer.n && ascii_is_space(w->buffer.p[w->at]))
            w->at++;
        TRY(need(w, 1, &found));
    } while (found && ascii_is_space(w->buffer.p[w->at]));
    return NULL;
}

static struct err *expect(struct json_walk *w, char wanted, const char *what)
{
    char c;

    TRY(skip_space(w));
    TRY(peek(w, &c));
    if (c != wanted)
        return wrong(w, what);
    w->at++;
    return NULL;
}

/* --- over a value --- */

/* Skips to the next quote, backslash or control character, and returns it. */
static struct err *over_plain(struct json_walk *w, char *ret_byte)
{
    for (;;) {
        w->at = json_find_special(strbuf_str(&w->buffer), w->at);
        if (w->at < w->buffer.n || w->is_over)
            return peek(w, ret_byte);
        TRY(peek(w, ret_byte));
    }
}

/* From after its opening quote to after its closing one. */
static struct err *over_string(struct json_walk *w)
{
    bool found;
    char c;

    for (;;) {
        TRY(over_plain(w, &c));
        if (c == '"') {
            w->at++;
            return NULL;
        }
        if (c != '\\')
            return wrong(w, "a string holds a control character");
        TRY(need(w, 2, &found));
        if (!found)
            return wrong(w, "a string is not closed");
        w->at += 2;
    }
}

static bool is_of_word(char c)
{
    return ascii_is_alnum(c) || c == '+' || c == '-' || c == '.';
}

static struct err *over_word(struct json_walk *w)
{
    size_t n = 0;
    bool found;

    for (;; n++, w->at++) {
        TRY(need(w, 1, &found));
        if (!found || !is_of_word(w->buffer.p[w->at]))
            return n ? NULL : wrong(w, "a value is missing");
    }
}

static struct err *over_value(struct json_walk *w)
{
    unsigned depth = 0;
    char c;

    do {
        TRY(skip_space(w));
        TRY(peek(w, &c));
        if (c == '"') {
            w->at++;
            TRY(over_string(w));
        } else if (c == '{' || c == '[') {
            w->at++;
            if (++depth > JSON_MAX_DEPTH)
                return wrong(w, "values are nested too deeply");
        } else if (depth && (c == '}' || c == ']')) {
            w->at++;
            depth--;
        } else if (depth && (c == ',' || c == ':')) {
            w->at++;
        } else {
            TRY(over_word(w));
        }
    } while (depth);
    return NULL;
}

/* --- values --- */

struct err *json_walk_type(struct json_walk *w, enum json_type *ret_type)
{
    char c;

    TRY(skip_space(w));
    TRY(peek(w, &c));
    *ret_type = c == '{'               ? JSON_OBJECT
                : c == '['             ? JSON_ARRAY
                : c == '"'             ? JSON_STRING
                : c == 't' || c == 'f' ? JSON_BOOL
                : c == 'n'             ? JSON_NULL
                                       : JSON_NUMBER;
    return NULL;
}

struct err *json_walk_take_short(struct json_walk *w, size_t max_bytes, struct str *ret_raw,
                                 bool *ret_fits)
{
    struct err *e;

    TRY(skip_space(w));
    w->keeps = true;
    w->is_too_long = false;
    w->kept_from = w->at;
    w->max_kept = max_bytes;
    e = over_value(w);
    w->keeps = false;
    if (e && !w->is_too_long)
        return e;
    err_free(e);
    *ret_fits = !w->is_too_long && w->at - w->kept_from <= max_bytes;
    *ret_raw = str_make(w->buffer.p + w->kept_from, w->at - w->kept_from);
    if (!*ret_fits)
        w->at = w->kept_from;
    return NULL;
}

struct err *json_walk_take(struct json_walk *w, size_t max_bytes, struct str *ret_raw)
{
    bool fits;

    TRY(json_walk_take_short(w, max_bytes, ret_raw, &fits));
    return fits ? NULL : err_new(ERR_VALIDATION, "a value is larger than %zu MB", max_bytes >> 20);
}

struct err *json_walk_skip(struct json_walk *w)
{
    return over_value(w);
}

/* --- inside --- */

struct err *json_walk_enter(struct json_walk *w)
{
    enum json_type type;

    TRY(json_walk_type(w, &type));
    if (type != JSON_OBJECT && type != JSON_ARRAY)
        return wrong(w, "an object or an array was expected");
    if (w->depth == JSON_MAX_DEPTH)
        return wrong(w, "values are nested too deeply");
    w->at++;
    w->is_object[w->depth] = type == JSON_OBJECT;
    w->has_items[w->depth++] = false;
    return NULL;
}

static struct err *read_key(struct json_walk *w, struct str *ret_key)
{
    AUTO(arena) struct arena a = {0};
    struct json_where where;
    struct json *value;
    struct str raw;
    bool fits;

    TRY(json_walk_take_short(w, MAX_KEY_BYTES, &raw, &fits));
    if (!fits)
        return wrong(w, "a name is too long");
    strbuf_clear(&w->text);
    if (raw.p[0] == '"' && json_find_special(raw, 1) == raw.n - 1 && utf8_is_valid(raw))
        strbuf_add(&w->text, str_slice(raw, 1, raw.n - 2)); /* like nearly all */
    else if (json_parse_at(&a, raw, JSON_REPAIR_UTF8, &value, &where) && value->type == JSON_STRING)
        strbuf_add(&w->text, value->text);
    else
        return wrong(w, "a name is not a string");
    *ret_key = strbuf_str(&w->text);
    return expect(w, ':', "a colon is missing after a name");
}

struct err *json_walk_next(struct json_walk *w, struct str *ret_key, bool *ret_found)
{
    unsigned level = w->depth - 1;
    char c;

    *ret_key = (struct str){0};
    *ret_found = false;
    TRY(skip_space(w));
    TRY(peek(w, &c));
    if (c == (w->is_object[level] ? '}' : ']')) {
        w->at++;
        w->depth--;
        return NULL;
    }
    if (w->has_items[level])
        TRY(expect(w, ',', "a comma is missing between two values"));
    w->has_items[level] = *ret_found = true;
    TRY(skip_space(w));
    return w->is_object[level] ? read_key(w, ret_key) : NULL;
}

struct err *json_walk_end(struct json_walk *w)
{
    bool found;

    TRY(skip_space(w));
    TRY(need(w, 1, &found));
    return found ? wrong(w, "unexpected text after the value") : NULL;
}

/* --- texts --- */

/* The four digits at that distance. */
static bool read_unit(const struct json_walk *w, size_t from, uint32_t *ret_unit)
{
    *ret_unit = 0;
    for (size_t i = 0; i < 4; i++) {
        int digit = ascii_hex_value(w->buffer.p[w->at + from + i]);

        if (digit < 0)
            return false;
        *ret_unit = *ret_unit * 16 + (uint32_t)digit;
    }
    return true;
}

/* \uXXXX, or a pair of them. One half alone becomes U+FFFD. */
static struct err *add_code(struct json_walk *w)
{
    uint32_t code, low = 0;
    char utf8[4];
    bool found;

    TRY(need(w, 6, &found));
    if (!found || !read_unit(w, 2, &code))
        return wrong(w, "a string holds a bad escape");
    w->at += 6;
    if (code >= 0xd800 && code < 0xdc00) {
        TRY(need(w, 6, &found));
        if (found && w->buffer.p[w->at] == '\\' && w->buffer.p[w->at + 1] == 'u' &&
            read_unit(w, 2, &low) && low >= 0xdc00 && low < 0xe000) {
            w->at += 6;
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
        }
    }
    if (code >= 0xd800 && code < 0xe000)
        code = 0xfffd;
    strbuf_add(&w->text, str_make(utf8, utf8_encode(code, utf8)));
    return NULL;
}

static struct err *add_escape(struct json_walk *w)
{
    static const char names[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
    const char *name;
    bool found;

    TRY(need(w, 2, &found));
    if (!found)
        return wrong(w, "a string is not closed");
    if (w->buffer.p[w->at + 1] == 'u')
        return add_code(w);
    name = memchr(names, w->buffer.p[w->at + 1], sizeof names - 1);
    if (!name)
        return wrong(w, "a string holds a bad escape");
    strbuf_add_char(&w->text, bytes[name - names]);
    w->at += 2;
    return NULL;
}

/* Everything but the beginning of a character whose rest is in the next piece. */
static struct err *give_text(struct json_walk *w, bool is_last,
                             struct err *(*take)(void *self, struct str text), void *self)
{
    struct str text = strbuf_str(&w->text);
    size_t n = is_last ? text.n : text.n - utf8_incomplete_tail(text);

    if (n)
        TRY(take(self, str_slice(text, 0, n)));
    strbuf_drop_front(&w->text, n);
    return NULL;
}

struct err *json_walk_text(struct json_walk *w, struct err *(*take)(void *self, struct str text),
                           void *self)
{
    size_t end;
    bool found;
    char c;

    TRY(expect(w, '"', "a string was expected"));
    strbuf_clear(&w->text);
    for (;;) {
        TRY(need(w, 1, &found));
        end = json_find_special(strbuf_str(&w->buffer), w->at);
        end = MIN(end, w->at + PIECE_BYTES);
        strbuf_add(&w->text, str_slice(strbuf_str(&w->buffer), w->at, end - w->at));
        w->at = end;
        if (w->text.n >= PIECE_BYTES)
            TRY(give_text(w, /* is_last= */ false, take, self));
        TRY(peek(w, &c));
        if (c == '"')
            break;
        if (c == '\\')
            TRY(add_escape(w));
        else if ((unsigned char)c < 0x20)
            return wrong(w, "a string holds a control character");
    }
    w->at++;
    return give_text(w, /* is_last= */ true, take, self);
}
