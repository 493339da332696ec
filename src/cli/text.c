/* text.c - breaks lines, spells amounts, compares words. */
#include "cli/text.h"

#include "base/utf8.h"
#include "model/usage.h"

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

    if (seconds < 120)
        strbuf_addf(out, "%.3g s", seconds);
    else if (seconds < 7200)
        strbuf_addf(out, "%.0f min", seconds / 60);
    else
        strbuf_addf(out, "%.0f h", seconds / 3600);
}

/* Most answers cost less than a cent. */
void text_add_money(struct strbuf *out, int64_t microcents)
{
    double usd = (double)microcents / MICROCENTS_PER_USD;

    strbuf_addf(out, usd < 1 ? "$%.4f" : "$%.2f", usd);
}

/* Levenshtein's, one row at a time. */
size_t text_distance(struct str a, struct str b)
{
    size_t row[64];

    if (a.n >= ARRAY_LEN(row) || b.n >= ARRAY_LEN(row))
        return SIZE_MAX;
    for (size_t i = 0; i <= b.n; i++)
        row[i] = i;
    for (size_t k = 1; k <= a.n; k++) {
        size_t diagonal = row[0];

        row[0] = k;
        for (size_t i = 1; i <= b.n; i++) {
            size_t change = diagonal + (a.p[k - 1] != b.p[i - 1]);

            diagonal = row[i];
            row[i] = MIN(MIN(row[i] + 1, row[i - 1] + 1), change);
        }
    }
    return row[b.n];
}
