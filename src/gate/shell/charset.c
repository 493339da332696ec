/* charset.c - the character sets of locales. */
#include "gate/shell/charset.h"

#include "base/strbuf.h"

/* UTF-8, and sets in which each byte of a letter is either that letter's own or not ASCII. */
static const char *const plain[] = {
    "ansi",     "armscii8", "ascii",   "cp125", "cp866",    "euc",        "gb2312",
    "georgian", "hproman8", "iso8859", "koi8",  "macroman", "pt154",      "rk1048",
    "tcvn",     "tis620",   "usascii", "utf8",  "viscii",   "windows125",
};

/* "Big5-HKSCS" is "big5hkscs". */
static void normalize(struct str charset, struct strbuf *out)
{
    for (size_t i = 0; i < charset.n; i++) {
        char c = charset.p[i];

        if (c >= 'A' && c <= 'Z')
            c = (char)(c - 'A' + 'a');
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
            strbuf_add_char(out, c);
    }
}

bool shell_locale_is_plain(struct str locale)
{
    AUTO(strbuf) struct strbuf charset = {0};
    struct str name = str_slice(locale, 0, str_find_char(locale, '@'));
    size_t dot = str_find_char(name, '.');

    /* Without a set, the locale uses the one that was common before UTF-8. */
    if (dot == STR_NONE)
        return !str_starts(name, S("zh_TW")) && !str_starts(name, S("zh_HK"));
    normalize(str_skip(name, dot + 1), &charset);
    for (size_t i = 0; i < ARRAY_LEN(plain); i++)
        if (str_starts(strbuf_str(&charset), str_of(plain[i])))
            return true;
    return false;
}
