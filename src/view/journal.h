/* journal.h - events as lines of a session's log, for people who look into it and for replay.
 *
 * The names and fields are those of replay boundary events and of session logs; everything that a
 * line says is in it, histories and schemas too. In a whole log that would make its size the
 * square of the session's: journal_write_linked() tells them once and names them from then on. An
 * event gives exactly one line, but a piece of the model's text gives two with one number: what the
 * provider sent, and what the person was shown.
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
/* The same with something else in the place of long texts. */
void journal_write_brief(const struct event *e, const struct json_long_texts *long_texts,
                         struct strbuf *out);
/* Appends the second line, "text_delta", of a text that was shown as it came; false: there is none.
 */
bool journal_write_shown(const struct event *e, struct strbuf *out);

/* A value that an earlier line of the same session has:
 *
 *     {"kind":"same-as","seq":SEQ,"field":FIELD,"sha256":H}
 *
 * H is the hash of the value as JSON, byte for byte. */
struct journal_same {
    uint64_t seq; /* 0: this line tells it itself */
    const char *field, *sha256;
};

/* What a line of a log need not tell again. A history, and the messages of a request before its
 * overlays and cuts, are a list with one entry:
 *
 *     {"kind":"history-range","baseSeq":SEQ,"from":0,"to":N,"sha256":H}
 *
 * the first N messages that history_mutation lines have told since the one with the number SEQ; H
 * binds them all (session/history_hash.h). */
struct journal_links {
    uint64_t base_seq;
    size_t n_messages;
    const char *sha256;
    size_t structure_from; /* historyStructure tells of messages from this one on */
    struct str structure;  /* these, one a line */
    struct journal_same system, tools;
};
void journal_write_linked(const struct event *e, const struct journal_links *l, struct strbuf *out);
/* One of historyStructure: role, contentLength, hasToolCalls, toolCallNames, metadata. */
void journal_structure(struct json_writer *w, const struct message *m);

#endif
