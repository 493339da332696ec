/* words.c - writes small things of documents in words. */
#include "transcript/words.h"

#include "base/utf8.h"
#include "sys/clock.h"

#include <inttypes.h>
#include <stdio.h>

#define TITLE_BYTES 120
#define ESC 0x1b

void words_add_time(struct strbuf *out, int64_t unix_ms)
{
    char iso[CLOCK_ISO_SIZE];

    clock_format_iso(unix_ms, iso);
    strbuf_addf(out, "%.10s %.5s UTC", iso, iso + 11);
}

void words_add_duration(struct strbuf *out, uint64_t duration_ms)
{
    double seconds = (double)duration_ms / 1000;

    if (seconds < 10)
        strbuf_addf(out, "%.1f s", seconds);
    else if (seconds < 120)
        strbuf_addf(out, "%.0f s", seconds);
    else if (seconds < 7200)
        strbuf_addf(out, "%.0f min", seconds / 60);
    else
        strbuf_addf(out, "%.0f h", seconds / 3600);
}

void words_add_count(struct strbuf *out, uint64_t n)
{
    char digits[24];
    size_t n_digits = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, n);

    for (size_t i = 0; i < n_digits; i++) {
        if (i && (n_digits - i) % 3 == 0)
            strbuf_add_char(out, ',');
        strbuf_add_char(out, digits[i]);
    }
}

static void add_separator(struct strbuf *out, size_t start)
{
    if (out->n > start)
        strbuf_add_cstr(out, " · ");
}

void words_add_totals(struct strbuf *out, const struct story_totals *t)
{
    size_t start = out->n;

    if (usage_is_known(&t->usage)) {
        words_add_count(out, (uint64_t)MAX(usage_prompt(&t->usage), (int64_t)0));
        strbuf_add_cstr(out, " tokens in, ");
        words_add_count(out, (uint64_t)MAX(usage_completion(&t->usage), (int64_t)0));
        strbuf_add_cstr(out, " out");
    }
    if (t->n_tool_calls) {
        add_separator(out, start);
        words_add_count(out, t->n_tool_calls);
        strbuf_add_cstr(out, t->n_tool_calls == 1 ? " tool call" : " tool calls");
    }
    if (t->cost_is_known && t->cost_microcents > 0) {
        double usd = (double)t->cost_microcents / MICROCENTS_PER_USD;

        add_separator(out, start);
        strbuf_addf(out, usd < 1 ? "$%.4f" : "$%.2f", usd);
    }
    if (t->active_ms) {
        add_separator(out, start);
        words_add_duration(out, t->active_ms);
    }
}

/* --- foreign text --- */

/* The length of an escape sequence at the start of the text: CSI up to its last byte, OSC up to its
 * end. */
static size_t escape_length(struct str s)
{
    size_t at = 2;

    if (s.n < 2)
        return s.n;
    if (s.p[1] == '[') {
        while (at < s.n && (unsigned char)s.p[at] >= 0x20 && (unsigned char)s.p[at] < 0x40)
            at++;
        return MIN(at + 1, s.n);
    }
    if (s.p[1] != ']')
        return 2;
    while (at < s.n && s.p[at] != '\a' && s.p[at] != ESC && s.p[at] != '\n')
        at++;
    if (at < s.n && s.p[at] == ESC)
        at++; /* ESC \ ends it */
    return at < s.n && s.p[at] != '\n' ? at + 1 : at;
}

/* U+0080 to U+009F are control characters too; UTF-8 spells them with two bytes. */
static bool is_control(struct str s)
{
    unsigned char c = (unsigned char)s.p[0], next = s.n > 1 ? (unsigned char)s.p[1] : 0;

    if (c == 0xc2 && next >= 0x80 && next < 0xa0)
        return true;
    return (c < 0x20 && c != '\n' && c != '\t') || c == 0x7f;
}

static size_t control_length(struct str s)
{
    if (s.p[0] == ESC)
        return escape_length(s);
    return (unsigned char)s.p[0] == 0xc2 ? 2 : 1;
}

void words_add_clean(struct strbuf *out, struct str text)
{
    while (text.n) {
        size_t n = 0;

        while (n < text.n && !is_control(str_skip(text, n)))
            n++;
        utf8_add_repaired(out, str_slice(text, 0, n));
        text = str_skip(text, n);
        if (text.n == 0)
            return;
        if (text.p[0] == '\r' && (text.n == 1 || text.p[1] != '\n'))
            strbuf_add_char(out, '\n');
        text = str_skip(text, control_length(text));
    }
}

struct str words_title(const struct store_summary *s)
{
    struct str text = str_trim(s->name.n ? s->name : s->preview);
    size_t end = str_find_char(text, '\n');

    text = utf8_truncate(str_slice(text, 0, end == STR_NONE ? text.n : end), TITLE_BYTES);
    return text.n ? text : S("Session");
}
