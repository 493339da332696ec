/* encoding.c - UTF-16 and Windows-1252. */
#include "tool/file/encoding.h"

#include "base/utf8.h"

#define REPLACEMENT 0xFFFD

/* Windows-1252 from 0x80 to 0x9F. Its five unused places are the control characters of Latin-1, as
 * in browsers, so that every byte is a character of its own. */
static const uint16_t latin1_upper[32] = {
    0x20AC, 0x0081, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
    0x2039, 0x0152, 0x008D, 0x017D, 0x008F, 0x0090, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022,
    0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x009D, 0x017E, 0x0178,
};

const char *text_encoding_name(enum text_encoding e)
{
    static const char *const names[] = {"UTF-8", "UTF-16", "UTF-16", "Latin-1"};

    return names[e];
}

/* Skips ASCII at the start, eight bytes at a time: searches do this for every file. */
static struct str skip_ascii(struct str s)
{
    uint64_t eight;

    while (s.n >= sizeof eight) {
        memcpy(&eight, s.p, sizeof eight);
        if (eight & 0x8080808080808080u)
            break;
        s = str_skip(s, sizeof eight);
    }
    while (s.n && (unsigned char)s.p[0] < 0x80)
        s = str_skip(s, 1);
    return s;
}

enum text_encoding text_encoding_of(struct str bytes)
{
    struct str head = str_slice(bytes, 0, TEXT_HEAD_BYTES);
    bool is_bad = false;

    if (str_starts(head, S("\xFF\xFE")))
        return TEXT_UTF16LE;
    if (str_starts(head, S("\xFE\xFF")))
        return TEXT_UTF16BE;
    if (head.n == TEXT_HEAD_BYTES)
        head.n -= utf8_incomplete_tail(head);
    while ((head = skip_ascii(head)).n) {
        uint32_t c;
        unsigned n = utf8_decode(head, &c);

        if (n > 1)
            return TEXT_UTF8;
        is_bad |= n == 0;
        head = str_skip(head, 1);
    }
    return is_bad ? TEXT_LATIN1 : TEXT_UTF8;
}

#define NULS_ARE_RARE 16 /* at most one byte in this many */

bool text_has_nuls(struct str bytes)
{
    struct str head = str_slice(bytes, 0, TEXT_HEAD_BYTES);
    size_t n_nuls = 0, n_lines = 0;

    if (head.n == TEXT_HEAD_BYTES)
        head.n -= utf8_incomplete_tail(head);
    for (size_t i = 0; i < head.n; i++) {
        unsigned char c = (unsigned char)head.p[i];

        if ((c && c < 0x07) || (c >= 0x0E && c < 0x20 && c != 0x1B) || c == 0x7F)
            return false;
        n_nuls += c == 0;
        n_lines += c == '\n';
    }
    return n_nuls && n_lines && n_nuls * NULS_ARE_RARE <= head.n && utf8_is_valid(head);
}

/* --- decoding --- */

static void add_char(struct strbuf *out, uint32_t c)
{
    char bytes[4];

    strbuf_add(out, str_make(bytes, utf8_encode(c, bytes)));
}

static uint32_t unit_at(struct str s, size_t at, bool is_big)
{
    unsigned a = (unsigned char)s.p[at], b = (unsigned char)s.p[at + 1];

    return is_big ? a << 8 | b : b << 8 | a;
}

static bool is_high(uint32_t unit)
{
    return unit >= 0xD800 && unit < 0xDC00;
}

static bool is_low(uint32_t unit)
{
    return unit >= 0xDC00 && unit < 0xE000;
}

static size_t decode_utf16(struct strbuf *out, struct str in, bool is_big, bool is_last)
{
    size_t at = 0;

    while (at + 1 < in.n) {
        uint32_t c = unit_at(in, at, is_big);
        bool has_next = at + 3 < in.n;
        size_t n = 2;

        if (is_high(c) && !has_next && !is_last)
            break;
        if (is_high(c) && has_next && is_low(unit_at(in, at + 2, is_big))) {
            c = 0x10000 + ((c - 0xD800) << 10) + (unit_at(in, at + 2, is_big) - 0xDC00);
            n = 4;
        } else if (is_high(c) || is_low(c)) {
            c = REPLACEMENT;
        }
        add_char(out, c);
        at += n;
    }
    if (is_last && at < in.n) {
        add_char(out, REPLACEMENT);
        at = in.n;
    }
    return at;
}

static void decode_latin1(struct strbuf *out, struct str in)
{
    for (size_t i = 0; i < in.n; i++) {
        unsigned char c = (unsigned char)in.p[i];

        if (c < 0x80)
            strbuf_add_char(out, (char)c);
        else
            add_char(out, c < 0xA0 ? latin1_upper[c - 0x80] : c);
    }
}

size_t text_decode(struct strbuf *out, struct str bytes, enum text_encoding e, bool is_last)
{
    if (e == TEXT_UTF16LE || e == TEXT_UTF16BE)
        return decode_utf16(out, bytes, e == TEXT_UTF16BE, is_last);
    if (e == TEXT_LATIN1)
        decode_latin1(out, bytes);
    else
        strbuf_add(out, bytes);
    return bytes.n;
}

/* --- encoding --- */

static void add_unit(struct strbuf *out, uint32_t unit, bool is_big)
{
    char high = (char)(unit >> 8), low = (char)unit;

    strbuf_add_char(out, is_big ? high : low);
    strbuf_add_char(out, is_big ? low : high);
}

static void encode_utf16(struct strbuf *out, uint32_t c, bool is_big)
{
    if (c >= 0x10000) {
        add_unit(out, 0xD800 + ((c - 0x10000) >> 10), is_big);
        c = 0xDC00 + ((c - 0x10000) & 0x3FF);
    }
    add_unit(out, c, is_big);
}

static bool encode_latin1(struct strbuf *out, uint32_t c)
{
    bool is_same = c < 0x80 || (c >= 0xA0 && c < 0x100);

    for (unsigned i = 0; i < ARRAY_LEN(latin1_upper) && !is_same; i++) {
        if (latin1_upper[i] == c) {
            strbuf_add_char(out, (char)(0x80 + i));
            return true;
        }
    }
    if (is_same)
        strbuf_add_char(out, (char)c);
    return is_same;
}

struct err *text_encode(struct strbuf *out, struct str text, enum text_encoding e)
{
    size_t was_n = out->n;

    if (e == TEXT_UTF8) {
        strbuf_add(out, text);
        return strbuf_check(out, "the text of the file");
    }
    while (text.n && !strbuf_is_over(out)) {
        uint32_t c;
        unsigned n = utf8_decode(text, &c);

        if (n == 0)
            c = REPLACEMENT;
        if (e != TEXT_LATIN1) {
            encode_utf16(out, c, e == TEXT_UTF16BE);
        } else if (!encode_latin1(out, c)) {
            strbuf_cut(out, was_n);
            return err_new(ERR_TOOL_FAILED, "%s has no character U+%04X (%" STR_FMT ")",
                           text_encoding_name(e), c, STR_ARG(str_slice(text, 0, n)));
        }
        text = str_skip(text, n ? n : 1);
    }
    return strbuf_check(out, "the text of the file");
}
