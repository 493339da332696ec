/* charset.c - finds the charset of a page and converts it with iconv. */
#include "tool/html/charset.h"

#include "base/utf8.h"

#include <errno.h>
#include <iconv.h>
#include <stdio.h>

#define META_MAX_BYTES 4096 /* browsers look at 1024; many pages declare it later */

/* The charsets that browsers know (WHATWG Encoding) whose label is not iconv's name, or means a
 * larger charset than it says. Anything else that is not in a family below is not decoded: iconv
 * knows hundreds of charsets, and a page must not choose among all that code. */
static const struct {
    const char *label, *iconv_name;
} labels[] = {
    {"utf-8", "UTF-8"},
    {"utf8", "UTF-8"},
    {"unicode-1-1-utf-8", "UTF-8"},
    {"utf-16", "UTF-16LE"},
    {"utf-16le", "UTF-16LE"},
    {"utf-16be", "UTF-16BE"},
    {"ascii", "CP1252"},
    {"us-ascii", "CP1252"},
    {"latin1", "CP1252"},
    {"l1", "CP1252"},
    {"iso-8859-1", "CP1252"},
    {"iso8859-1", "CP1252"},
    {"iso_8859-1", "CP1252"},
    {"iso-8859-9", "CP1254"},
    {"latin5", "CP1254"},
    {"latin2", "ISO-8859-2"},
    {"iso-8859-8-i", "ISO-8859-8"},
    {"iso-8859-11", "CP874"},
    {"tis-620", "CP874"},
    {"windows-874", "CP874"},
    {"x-cp1251", "CP1251"},
    {"x-cp1252", "CP1252"},
    {"ibm866", "CP866"},
    {"cp866", "CP866"},
    {"macintosh", "MACINTOSH"},
    {"x-mac-roman", "MACINTOSH"},
    {"x-mac-cyrillic", "MAC-CYRILLIC"},
    {"gb2312", "GB18030"},
    {"gbk", "GB18030"},
    {"x-gbk", "GB18030"},
    {"gb18030", "GB18030"},
    {"big5", "BIG5-HKSCS"},
    {"big5-hkscs", "BIG5-HKSCS"},
    {"euc-jp", "EUC-JP"},
    {"x-euc-jp", "EUC-JP"},
    {"iso-2022-jp", "ISO-2022-JP"},
    {"shift_jis", "CP932"},
    {"shift-jis", "CP932"},
    {"sjis", "CP932"},
    {"x-sjis", "CP932"},
    {"windows-31j", "CP932"},
    {"ms932", "CP932"},
    {"euc-kr", "CP949"},
    {"ks_c_5601-1987", "CP949"},
    {"windows-949", "CP949"},
};

/* Labels with a number, such as "windows-1251": {front of the label, front of iconv's name}. */
static const struct {
    const char *label, *iconv_name;
} families[] = {
    {"windows-125", "CP125"},  {"cp125", "CP125"}, {"iso-8859-", "ISO-8859-"},
    {"iso8859-", "ISO-8859-"}, {"koi8-", "KOI8-"},
};

struct charset_name {
    char text[16]; /* iconv's name; empty: unknown charset */
};

static bool is_plain(struct str s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!(s.p[i] >= '0' && s.p[i] <= '9') && !((s.p[i] | 32) >= 'a' && (s.p[i] | 32) <= 'z'))
            return false;
    return s.n > 0;
}

static struct charset_name find_charset(struct str label)
{
    struct charset_name name = {0};

    label = str_trim(label);
    for (size_t i = 0; i < ARRAY_LEN(labels); i++) {
        if (str_eq_nocase(label, str_of(labels[i].label))) {
            snprintf(name.text, sizeof name.text, "%s", labels[i].iconv_name);
            return name;
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(families); i++) {
        struct str front = str_of(families[i].label), rest = str_skip(label, front.n);

        if (str_eq_nocase(str_slice(label, 0, front.n), front) && rest.n <= 2 && is_plain(rest)) {
            snprintf(name.text, sizeof name.text, "%s%" STR_FMT, families[i].iconv_name,
                     STR_ARG(rest));
            return name;
        }
    }
    return name;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* The value after "charset" in a meta element: <meta charset=x> and <meta http-equiv=content-type
 * content="text/html; charset=x"> both end like this. */
static struct str charset_value(struct str tag)
{
    static const struct str word = {"charset", 7};
    size_t end;

    while (tag.n >= word.n && !str_eq_nocase(str_slice(tag, 0, word.n), word))
        tag = str_skip(tag, 1);
    tag = str_trim(str_skip(tag, word.n));
    if (!str_starts(tag, S("=")))
        return (struct str){0};
    tag = str_trim(str_skip(tag, 1));
    if (tag.n && (tag.p[0] == '"' || tag.p[0] == '\''))
        tag = str_skip(tag, 1);
    for (end = 0; end < tag.n && !is_space(tag.p[end]) && !strchr("\"';/>", tag.p[end]);)
        end++;
    return str_slice(tag, 0, end);
}

static struct charset_name find_meta_charset(struct str page)
{
    static const struct str open = {"<meta", 5};
    struct str rest = str_slice(page, 0, META_MAX_BYTES);
    struct charset_name name = {0};

    while (rest.n && !name.text[0]) {
        size_t end;

        if (str_starts(rest, S("<!--"))) {
            end = str_find(rest, S("-->"));
            rest = str_skip(rest, end == STR_NONE ? rest.n : end);
            continue;
        }
        if (!str_eq_nocase(str_slice(rest, 0, open.n), open)) {
            rest = str_skip(rest, 1);
            continue;
        }
        end = MIN(str_find_char(rest, '>'), rest.n);
        name = find_charset(charset_value(str_slice(rest, 0, end)));
        rest = str_skip(rest, end);
    }
    /* a page that was readable as ASCII up to here is not UTF-16 */
    if (str_starts(str_of(name.text), S("UTF-16")))
        name = (struct charset_name){"UTF-8"};
    return name;
}

/* For a page that names no charset: UTF-8, unless none of its bytes over 127 form a character of
 * UTF-8. */
static struct charset_name guess_charset(struct str page)
{
    size_t n_characters = 0, n_bad = 0;
    bool is_utf8;

    for (struct str rest = page; rest.n && n_characters == 0;) {
        uint32_t c;
        unsigned n = utf8_decode(rest, &c);

        n_bad += n == 0;
        n_characters += n > 1;
        rest = str_skip(rest, n ? n : 1);
    }
    is_utf8 = n_characters > 0 || n_bad == 0;
    return is_utf8 ? (struct charset_name){"UTF-8"} : (struct charset_name){"CP1252"};
}

static struct charset_name choose_charset(struct str page, struct str declared, size_t *ret_n_mark)
{
    struct charset_name name;

    *ret_n_mark = 3;
    if (str_starts(page, S("\xEF\xBB\xBF")))
        return (struct charset_name){"UTF-8"};
    *ret_n_mark = 2;
    if (str_starts(page, S("\xFF\xFE")))
        return (struct charset_name){"UTF-16LE"};
    if (str_starts(page, S("\xFE\xFF")))
        return (struct charset_name){"UTF-16BE"};
    *ret_n_mark = 0;
    name = find_charset(declared);
    if (!name.text[0])
        name = find_meta_charset(page);
    return name.text[0] ? name : guess_charset(page);
}

/* Calls iconv once. False when the input is used up. */
static bool convert_some(iconv_t cd, struct str *in, size_t unit, struct strbuf *out)
{
    char piece[2048], *to = piece;
    char *from = (char *)(uintptr_t)in->p;
    size_t n_to = sizeof piece, n_from = in->n;
    bool is_bad = iconv(cd, &from, &n_from, &to, &n_to) == (size_t)-1 && errno != E2BIG;

    strbuf_add(out, str_make(piece, sizeof piece - n_to));
    *in = str_skip(*in, in->n - n_from);
    if (is_bad) { /* not a character, or an incomplete one at the end */
        strbuf_add(out, S("\xEF\xBF\xBD"));
        *in = str_skip(*in, unit);
    }
    return in->n > 0 && !strbuf_is_over(out);
}

static bool convert_charset(struct strbuf *out, struct str in, const char *charset)
{
    size_t unit = str_starts(str_of(charset), S("UTF-16")) ? 2 : 1;
    iconv_t cd = iconv_open("UTF-8", charset);

    if (cd == (iconv_t)-1)
        return false;
    while (convert_some(cd, &in, unit, out))
        ;
    iconv_close(cd);
    return true;
}

void charset_decode_html(struct strbuf *out, struct str page, struct str declared)
{
    size_t n_mark;
    struct charset_name name = choose_charset(page, declared, &n_mark);

    page = str_skip(page, n_mark);
    if (str_is(str_of(name.text), "UTF-8") || !convert_charset(out, page, name.text))
        utf8_add_repaired(out, page);
}
