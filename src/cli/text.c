/* text.c - breaks lines, spells amounts, compares words. */
#include "cli/text.h"

#include "base/utf8.h"
#include "model/usage.h"

#include <time.h>

void text_wrap(struct strbuf *out, struct str text, size_t indent, size_t width)
{
    size_t column = indent;
    struct str word;
    bool is_first = true;

    while (str_split(&text, ' ', &word)) {
        size_t n = utf8_count(word);

        if (!is_first && width && column + 1 + n > width) {
            strbuf_addf(out, "\n%*s", (int)indent, "");
            column = indent;
        } else if (!is_first) {
            strbuf_add_char(out, ' ');
            column++;
        }
        strbuf_add(out, word);
        column += n;
        is_first = false;
    }
}

void text_add_duration(struct strbuf *out, int64_t duration_ms)
{
    double seconds = (double)duration_ms / 1000;

    if (seconds < 9.95)
        strbuf_addf(out, "%.2g s", seconds);
    else if (seconds < 120)
        strbuf_addf(out, "%.0f s", seconds);
    else if (seconds < 7200)
        strbuf_addf(out, "%.0f min", seconds / 60);
    else
        strbuf_addf(out, "%.0f h", seconds / 3600);
}

void text_add_clock(struct strbuf *out, int64_t unix_ms)
{
    time_t seconds = (time_t)(unix_ms / 1000);
    struct tm parts;

    if (localtime_r(&seconds, &parts))
        strbuf_addf(out, "%02d:%02d:%02d", parts.tm_hour, parts.tm_min, parts.tm_sec);
}

/* Most answers cost less than a cent. */
void text_add_money(struct strbuf *out, int64_t microcents)
{
    double usd = (double)microcents / MICROCENTS_PER_USD;

    strbuf_addf(out, usd < 1 ? "$%.4f" : "$%.2f", usd);
}

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("_./,:=@%+-", c));
}

void text_add_shell_word(struct strbuf *out, struct str word)
{
    size_t n_plain = 0;

    while (n_plain < word.n && is_plain(word.p[n_plain]))
        n_plain++;
    if (word.n && n_plain == word.n) {
        strbuf_add(out, word);
        return;
    }
    strbuf_add_char(out, '\'');
    for (size_t i = 0; i < word.n; i++)
        if (word.p[i] == '\'')
            strbuf_add_cstr(out, "'\\''");
        else
            strbuf_add_char(out, word.p[i]);
    strbuf_add_char(out, '\'');
}
