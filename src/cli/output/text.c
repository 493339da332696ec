/* text.c - breaks lines, spells amounts. */
#include "cli/output/text.h"

#include "base/utf8.h"
#include "model/usage.h"

#include <time.h>

void text_wrap(struct strbuf *out, struct str text, size_t indent, size_t width)
{
    text_wrap_from(out, text, indent, indent, width);
}

void text_wrap_from(struct strbuf *out, struct str text, size_t used, size_t indent, size_t width)
{
    size_t column = used;
    struct str word;
    bool is_first = true;

    while (str_split(&text, ' ', &word)) {
        size_t n = utf8_count(word);
        bool may_break = is_first ? used > indent : true;

        if (may_break && width && column + !is_first + n > width) {
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

/* --- for a narrow screen --- */

#define ABOUT_INDENT 4 /* of words about an example, behind its own */
#define MAX_ABOUT_INDENT 8

static bool fits(struct str text, size_t width)
{
    struct str line;

    while (str_split(&text, '\n', &line))
        if (utf8_count(line) > width)
            return false;
    return true;
}

static void add_example(struct strbuf *out, struct str line, size_t width)
{
    size_t indent = 0, at;
    struct str about = {0};

    while (indent < line.n && line.p[indent] == ' ')
        indent++;
    line = str_skip(line, indent);
    at = str_find(line, S("  "));
    if (at != STR_NONE) {
        about = str_trim(str_skip(line, at));
        line = str_slice(line, 0, at);
    }
    strbuf_addf(out, "%*s", (int)indent, "");
    text_wrap(out, line, indent, width);
    strbuf_add_char(out, '\n');
    if (!about.n)
        return;
    indent = MIN(indent + ABOUT_INDENT, (size_t)MAX_ABOUT_INDENT);
    strbuf_addf(out, "%*s", (int)indent, "");
    text_wrap(out, about, indent, width);
    strbuf_add_char(out, '\n');
}

static void end_paragraph(struct strbuf *out, struct strbuf *paragraph, size_t width)
{
    if (!paragraph->n)
        return;
    text_wrap(out, strbuf_str(paragraph), 0, width);
    strbuf_add_char(out, '\n');
    strbuf_clear(paragraph);
}

void text_reflow(struct strbuf *out, struct str text, size_t width)
{
    AUTO(strbuf) struct strbuf paragraph = {0};
    struct str line;

    if (width == 0 || fits(text, width)) {
        strbuf_add(out, text);
        return;
    }
    while (text.n && str_split(&text, '\n', &line)) {
        if (line.n && line.p[0] != ' ') {
            strbuf_addf(&paragraph, "%s%" STR_FMT, paragraph.n ? " " : "", STR_ARG(line));
            continue;
        }
        end_paragraph(out, &paragraph, width);
        if (line.n)
            add_example(out, line, width);
        else
            strbuf_add_char(out, '\n');
    }
    end_paragraph(out, &paragraph, width);
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

    if (microcents > 0 && usd < 0.0001)
        strbuf_addf(out, "$%.6f", usd);
    else
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
