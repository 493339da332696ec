/* visible.c - spells out characters that a person would not see. */
#include "base/visible.h"

#include "base/utf8.h"

static const struct {
    uint32_t from, to;
} hidden[] = {
    {0x7f, 0x9f},       /* DEL and C1 controls: U+009B begins commands, as ESC [ does */
    {0xad, 0xad},       /* takes no place: the soft hyphen */
    {0x34f, 0x34f},     /* takes no place */
    {0x61c, 0x61c},     /* Arabic letter mark */
    {0x115f, 0x1160},   /* letters that are blank */
    {0x17b4, 0x17b5},   /* take no place */
    {0x180b, 0x180f},   /* take no place */
    {0x200b, 0x200b},   /* takes no place */
    {0x200e, 0x200f},   /* left-to-right and right-to-left marks */
    {0x2028, 0x2029},   /* ends of lines and paragraphs */
    {0x202a, 0x202e},   /* embeddings and overrides of the direction */
    {0x2060, 0x2064},   /* take no place */
    {0x2066, 0x2069},   /* isolates of the direction */
    {0x206a, 0x206f},   /* deprecated controls */
    {0x2800, 0x2800},   /* a sign that is blank */
    {0x3164, 0x3164},   /* a letter that is blank */
    {0xfe00, 0xfe0d},   /* variations; the last two are for emoji */
    {0xfeff, 0xfeff},   /* the byte order mark */
    {0xffa0, 0xffa0},   /* a letter that is blank */
    {0xfff9, 0xfffb},   /* annotations */
    {0x1bca0, 0x1bca3}, /* take no place */
    {0x1d173, 0x1d17a}, /* take no place */
    {0xe0000, 0xe0fff}, /* tags and more variations: text that is not shown */
};

static bool is_hidden(uint32_t c)
{
    if (c < 0x7f)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(hidden); i++)
        if (c >= hidden[i].from && c <= hidden[i].to)
            return true;
    return false;
}

/* As in JSON, unless it is a control character in a text. */
static void add_escape(struct strbuf *out, uint32_t c, bool is_json)
{
    if (c < 0x100 && !is_json)
        strbuf_addf(out, "\\x%02x", c);
    else if (c < 0x10000)
        strbuf_addf(out, "\\u%04x", c);
    else
        strbuf_addf(out, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10),
                    0xdc00 + ((c - 0x10000) & 0x3ff));
}

/* The position of the next byte, from `from` on, that may need a look. */
static size_t find_special(struct str text, size_t from, unsigned char below)
{
    while (from < text.n && (unsigned char)text.p[from] >= below &&
           (unsigned char)text.p[from] < 0x7f)
        from++;
    return from;
}

/* Adds the character at `at`, or its spelling; returns its size. */
static size_t add_character(struct strbuf *out, struct str text, size_t at, bool is_json)
{
    uint32_t c;
    unsigned n = utf8_decode(str_skip(text, at), &c);

    if (n == 0) {
        strbuf_addf(out, "\\x%02x", (unsigned char)text.p[at]);
        return 1;
    }
    if (is_hidden(c))
        add_escape(out, c, is_json);
    else
        strbuf_add(out, str_slice(text, at, n));
    return n;
}

void visible_add(struct strbuf *out, struct str text)
{
    for (size_t i = 0; i < text.n;) {
        size_t next = find_special(text, i, ' ');
        char c;

        strbuf_add(out, str_slice(text, i, next - i));
        i = next;
        if (i == text.n)
            return;
        c = text.p[i];
        if (c == '\n' || c == '\t')
            strbuf_add_char(out, c);
        else if ((unsigned char)c < ' ' && c != '\r')
            strbuf_addf(out, "\\x%02x", (unsigned char)c);
        else if (c != '\r')
            i += add_character(out, text, i, /* is_json= */ false) - 1;
        i++;
    }
}

static bool needs_spelling(struct str text)
{
    for (size_t i = 0; (i = find_special(text, i, 0)) < text.n;) {
        uint32_t c;
        unsigned n = utf8_decode(str_skip(text, i), &c);

        if (n == 0 || is_hidden(c))
            return true;
        i += n;
    }
    return false;
}

bool visible_add_rest(struct strbuf *out, struct str text)
{
    if (!needs_spelling(text))
        return false;
    for (size_t i = 0; i < text.n;) {
        size_t next = find_special(text, i, 0);

        strbuf_add(out, str_slice(text, i, next - i));
        i = next;
        if (i < text.n)
            i += add_character(out, text, i, /* is_json= */ true);
    }
    return true;
}
