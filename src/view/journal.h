/* journal.h - events as lines of a session's log, for people who look into it and for replay.
 *
 * The names and fields are those of replay boundary events and of session logs; everything that a
 * line tells stands in it, histories and schemas too (a store may keep references instead, and
 * expand them for an export). An event gives exactly one line, but a piece of the model's text
 * gives two with one number: what the provider sent, and what the person was shown.
 *
 * In arguments, metadata, details and answers the values under names of credentials (apiKey,
 * password, ...) are replaced by [REDACTED]; never in messages, schemas and what a provider sent.
 * Values of known credentials do not stand in events; a journal that was written before they were
 * known is searched with secrets_hide_in_json_text(). */
#ifndef KEEL_VIEW_JOURNAL_H
#define KEEL_VIEW_JOURNAL_H

#include "port/event.h"

/* The event's name in the log: "provider_request". */
struct str journal_name(const struct event *e);
/* Appends one line: {"timestamp":...,"sessionId":...,"event":...,...}\n */
void journal_write(const struct event *e, struct strbuf *out);
/* Appends the second line, "text_delta", of a text that was shown as it came; false: there is none.
 */
bool journal_write_shown(const struct event *e, struct strbuf *out);

#endif
