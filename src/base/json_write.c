/* json_write.c - writes JSON: whole trees, or piece by piece. */
#include "base/json.h"

#include "base/eight.h"
#include "base/utf8.h"

/* --- strings --- */

static void add_escaped(struct strbuf *out, unsigned char c)
{
    static const char short_forms[] = "btn?fr"; /* for 8 to 13 */
    char text[] = {'\\', (char)c, '0', '0', '0', "0123456789abcdef"[c & 15]};
    bool is_long = c < 0x20 && (c < 8 || c > 13 || c == 11);

    if (is_long) {
        text[1] = 'u';
        text[4] = c < 0x10 ? '0' : '1';
    } else if (c < 0x20)
        text[1] = short_forms[c - 8];
    strbuf_add(out, str_make(text, is_long ? sizeof text : 2));
}

static bool is_special(unsigned char c)
{
    return c < 0x20 || c == '"' || c == '\\';
}

size_t json_find_special(struct str text, size_t from)
{
    size_t at = from;

    for (; text.n - at >= 8; at += 8) {
        uint64_t bytes = eight_load(text.p + at);
        uint64_t special =
            eight_below(bytes, 0x20) | eight_equal(bytes, '"') | eight_equal(bytes, '\\');

        if (special)
            return at + eight_before(special);
    }
    while (at < text.n && !is_special((unsigned char)text.p[at]))
        at++;
    return at;
}

size_t json_string_size(struct str text)
{
    size_t n = text.n;

    for (size_t i = 0; i < text.n; i++) {
        unsigned char c = (unsigned char)text.p[i];

        if (c < 0x20)
            n += c >= 8 && c <= 13 && c != 11 ? 1 : 5;
        else
            n += c == '"' || c == '\\';
    }
    for (;;) {
        text = str_skip(text, utf8_valid_prefix(text));
        if (text.n == 0)
            return n;
        n += 2; /* a bad byte becomes U+FFFD, alone or with others */
        text = str_skip(text, 1);
    }
}

static void add_valid(struct strbuf *out, struct str text)
{
    size_t from = 0, at;

    while ((at = json_find_special(text, from)) < text.n) {
        strbuf_add(out, str_slice(text, from, at - from));
        add_escaped(out, (unsigned char)text.p[at]);
        from = at + 1;
    }
    strbuf_add(out, str_skip(text, from));
}

void json_write_string(struct strbuf *out, struct str text)
{
    strbuf_add_char(out, '"');
    if (utf8_is_valid(text)) {
        add_valid(out, text);
    } else {
        AUTO(strbuf) struct strbuf repaired = {0};

        strbuf_init(&repaired, SIZE_MAX / 2);
        utf8_add_repaired(&repaired, text);
        add_valid(out, strbuf_str(&repaired));
    }
    strbuf_add_char(out, '"');
}

/* --- trees --- */

static void add_line(struct strbuf *out, int indent)
{
    if (indent < 0)
        return;
    strbuf_add_char(out, '\n');
    for (int i = 0; i < indent; i++)
        strbuf_add_cstr(out, "  ");
}

/* indent < 0: compact */
static void write_value(struct strbuf *out, const struct json *v, int indent)
{
    bool is_object = v->type == JSON_OBJECT;
    int deeper = indent < 0 ? -1 : indent + 1;

    switch (v->type) {
    case JSON_NULL:
        strbuf_add(out, S("null"));
        return;
    case JSON_BOOL:
        strbuf_add(out, v->boolean ? S("true") : S("false"));
        return;
    case JSON_NUMBER:
        strbuf_add(out, v->text);
        return;
    case JSON_STRING:
        json_write_string(out, v->text);
        return;
    case JSON_ARRAY:
    case JSON_OBJECT:
        break;
    }
    strbuf_add_char(out, is_object ? '{' : '[');
    json_each (child, v) {
        if (child != v->first)
            strbuf_add_char(out, ',');
        add_line(out, deeper);
        if (is_object) {
            json_write_string(out, child->key);
            strbuf_add(out, indent < 0 ? S(":") : S(": "));
        }
        write_value(out, child, deeper);
    }
    if (v->first)
        add_line(out, indent);
    strbuf_add_char(out, is_object ? '}' : ']');
}

void json_write(struct strbuf *out, const struct json *v)
{
    write_value(out, v, -1);
}

void json_write_pretty(struct strbuf *out, const struct json *v)
{
    write_value(out, v, 0);
}

/* --- the writer --- */

void jw_init(struct json_writer *w, struct strbuf *out)
{
    *w = (struct json_writer){.out = out};
}

static bool in_object(const struct json_writer *w)
{
    unsigned level = w->depth - 1;

    return w->depth && w->is_object[level / 64] >> (level % 64) & 1;
}

/* Writes what belongs before the next value. */
static void before_value(struct json_writer *w)
{
    if (in_object(w)) {
        BUG_IF(!w->has_key);
        w->has_key = false;
        return;
    }
    if (w->needs_comma)
        strbuf_add_char(w->out, ',');
    w->needs_comma = true;
}

static void begin(struct json_writer *w, char bracket, bool is_object)
{
    uint64_t bit = (uint64_t)1 << (w->depth % 64);

    before_value(w);
    BUG_IF(w->depth >= JSON_MAX_DEPTH);
    if (is_object)
        w->is_object[w->depth / 64] |= bit;
    else
        w->is_object[w->depth / 64] &= ~bit;
    w->depth++;
    w->needs_comma = false;
    strbuf_add_char(w->out, bracket);
}

static void end(struct json_writer *w, char bracket, bool is_object)
{
    BUG_IF(w->depth == 0 || in_object(w) != is_object || w->has_key);
    w->depth--;
    w->needs_comma = true;
    strbuf_add_char(w->out, bracket);
}

void jw_begin_object(struct json_writer *w)
{
    begin(w, '{', true);
}

void jw_end_object(struct json_writer *w)
{
    end(w, '}', true);
}

void jw_begin_array(struct json_writer *w)
{
    begin(w, '[', false);
}

void jw_end_array(struct json_writer *w)
{
    end(w, ']', false);
}

void jw_key_str(struct json_writer *w, struct str key)
{
    BUG_IF(!in_object(w) || w->has_key);
    if (w->needs_comma)
        strbuf_add_char(w->out, ',');
    json_write_string(w->out, key);
    strbuf_add_char(w->out, ':');
    w->needs_comma = w->has_key = true;
}

void jw_key(struct json_writer *w, const char *key)
{
    jw_key_str(w, str_of(key));
}

void jw_str(struct json_writer *w, struct str text)
{
    before_value(w);
    if (w->long_texts && text.n >= w->long_texts->min_bytes)
        w->long_texts->write(w->long_texts->self, text, w->out);
    else
        json_write_string(w->out, text);
}

void jw_int(struct json_writer *w, int64_t value)
{
    char digits[20], *at = digits + sizeof digits;
    uint64_t rest = value < 0 ? -(uint64_t)value : (uint64_t)value;

    do
        *--at = (char)('0' + rest % 10);
    while (rest /= 10);
    if (value < 0)
        *--at = '-';
    jw_raw(w, str_make(at, (size_t)(digits + sizeof digits - at)));
}

void jw_bool(struct json_writer *w, bool value)
{
    jw_raw(w, value ? S("true") : S("false"));
}

void jw_null(struct json_writer *w)
{
    jw_raw(w, S("null"));
}

void jw_json(struct json_writer *w, const struct json *v)
{
    before_value(w);
    json_write(w->out, v);
}

void jw_raw(struct json_writer *w, struct str json_text)
{
    before_value(w);
    strbuf_add(w->out, json_text);
}

void jw_kv_str(struct json_writer *w, const char *key, struct str text)
{
    jw_key(w, key);
    jw_str(w, text);
}

void jw_kv_int(struct json_writer *w, const char *key, int64_t value)
{
    jw_key(w, key);
    jw_int(w, value);
}

void jw_kv_double(struct json_writer *w, const char *key, double value)
{
    jw_key(w, key);
    jw_double(w, value);
}

void jw_kv_bool(struct json_writer *w, const char *key, bool value)
{
    jw_key(w, key);
    jw_bool(w, value);
}

void jw_kv_json(struct json_writer *w, const char *key, const struct json *v)
{
    jw_key(w, key);
    jw_json(w, v);
}

void jw_kv_raw(struct json_writer *w, const char *key, struct str json_text)
{
    jw_key(w, key);
    jw_raw(w, json_text);
}
