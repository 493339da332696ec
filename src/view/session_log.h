/* session_log.h - events as lines of a session's log, for people and for replay.
 *
 * The names and fields are those of replay boundary events and of session logs. A line is complete,
 * including histories and schemas. In a whole log that would square the size of the session:
 * session_log_write_linked() writes them once and refers to them afterwards. Every event has
 * exactly one line, except that a piece of the model's text has two with one number: what the
 * provider sent, and what the person saw.
 *
 * In arguments, metadata, details and answers the values under names of credentials (apiKey,
 * password, ...) are replaced by [REDACTED]; never in messages, schemas and data of a provider.
 * Events do not contain values of known credentials; a log that was written before they were
 * known is searched with secrets_hide_in_json_text(). */
#ifndef KEEL_VIEW_SESSION_LOG_H
#define KEEL_VIEW_SESSION_LOG_H

#include "port/event.h"

/* The name of the event in the log: "provider_request". */
struct str session_log_name(const struct event *e);
/* Appends one line: {"timestamp":...,"sessionId":...,"event":...,...}\n */
void session_log_write(const struct event *e, struct strbuf *out);
/* The same with substitutes for long texts. */
void session_log_write_brief(const struct event *e, const struct json_long_texts *long_texts,
                             struct strbuf *out);
/* Appends the second line, "text_delta", of a text that was shown as it came; false: there is
 * none. */
bool session_log_write_shown(const struct event *e, struct strbuf *out);

/* Refers to a value in an earlier line of the same session:
 *
 *     {"kind":"same-as","seq":SEQ,"field":FIELD,"sha256":H}
 *
 * H is the hash of the value as JSON, byte for byte. */
struct session_log_same {
    uint64_t seq; /* 0: this line has the value itself */
    const char *field, *sha256;
};

/* The values that a line of a log need not repeat. A history, and the messages of a request before
 * its overlays and cuts, are a list with one entry:
 *
 *     {"kind":"history-range","baseSeq":SEQ,"from":0,"to":N,"sha256":H}
 *
 * the first N messages of the history_mutation lines since the one with the number SEQ; H covers
 * all of them (session/codec/history_hash.h). */
struct session_log_links {
    uint64_t base_seq;
    size_t n_messages;
    const char *sha256;
    size_t structure_from; /* historyStructure has the messages from this one on */
    struct str structure;  /* these messages, one per line */
    struct session_log_same system, tools;
};
void session_log_write_linked(const struct event *e, const struct session_log_links *l,
                              struct strbuf *out);
/* An entry of historyStructure: role, contentLength, hasToolCalls, toolCallNames, metadata. */
void session_log_structure(struct json_writer *w, const struct message *m);

#endif
