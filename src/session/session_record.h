/* session_record.h - a session as the one JSON object that other programs read.
 *
 *     id, cwd, name, createdAt, updatedAt, provider, model
 *     history             what a person has seen: messages, and events between them
 *     messages            what a model would be sent next
 *     systemPrompt, toolSchemas, backgroundTasks
 *     ...                 lists that keel has nothing for, empty
 *
 * Made from the stream, which is read twice and never held: memory does not grow with the session.
 * keel never reads a record of its own: the stream is the truth. */
#ifndef KEEL_SESSION_SESSION_RECORD_H
#define KEEL_SESSION_SESSION_RECORD_H

#include "port/store.h"
#include "view/redact.h"

struct record_sink {
    struct redaction *redaction; /* NULL: nothing is hidden, as in the record beside a log */
    /* Takes what was written, piece by piece; may wait. */
    struct err *(*write)(void *self, struct str text);
    /* A record that cannot be read: the rest is written. May be NULL. */
    void (*on_broken)(void *self, const struct err *e);
    /* Events that were read, of all. May be NULL. */
    void (*on_progress)(void *self, uint64_t n_events, uint64_t n_all);
    void *self;
};

struct record_writer;
struct record_writer *record_writer_new(const struct record_sink *sink) MUST_USE; /* copies it */
void record_writer_free(struct record_writer *w);
DEFINE_AUTO_PTR(record_writer, record_writer_free)
/* The document, for what is around the streams. */
struct json_writer *record_writer_json(struct record_writer *w);
/* The members of one stream, in an object that the caller has begun and will end. The summary is
 * written as it is. May wait. */
MUST_USE struct err *record_writer_add(struct record_writer *w, struct store *s,
                                       const struct store_summary *summary);
MUST_USE struct err *record_writer_flush(struct record_writer *w);

/* Writes the record of a session where the store has a place for it. May wait. */
MUST_USE struct err *session_record_save(struct store *s, struct str id);

#endif
