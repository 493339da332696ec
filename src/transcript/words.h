/* words.h - times, amounts and foreign text in a document. Pure. */
#ifndef KEEL_TRANSCRIPT_WORDS_H
#define KEEL_TRANSCRIPT_WORDS_H

#include "port/store.h"
#include "transcript/story.h"

/* "2026-11-16 04:36 UTC" */
void words_add_time(struct strbuf *out, int64_t unix_ms);
#define WORDS_SHORT_MS 100 /* shorter durations are not shown */
/* "0.4 s", "12 s", "3 min", "2 h" */
void words_add_duration(struct strbuf *out, uint64_t duration_ms);
/* "1,234,567" */
void words_add_count(struct strbuf *out, uint64_t n);
/* "1,234 tokens in, 56 out · 3 tool calls · $0.0123 · 12 s"; omits what is unknown. */
void words_add_totals(struct strbuf *out, const struct story_totals *t);

/* Text that a document can hold: valid UTF-8, without terminal controls, line ends as \n. */
void words_add_clean(struct strbuf *out, struct str text);
/* The title of a session: its name, else its beginning. One line. */
struct str words_title(const struct store_summary *s);

#endif
