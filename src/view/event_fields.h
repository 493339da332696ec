/* event_fields.h - describes the fields of events once: one row for each field of a body.
 *
 * The records of a journal are written and read by these rows (session/codec/fields.h), and so are
 * the lines of a session's log (session_log.h), which have the fields that `log` selects. Fields
 * that are not plain values (messages, results of tools, histories, parts of a request) have code
 * in the codec and in session_log.c. */
#ifndef KEEL_VIEW_EVENT_FIELDS_H
#define KEEL_VIEW_EVENT_FIELDS_H

#include "port/event.h"

/* The type of the member. Values that are empty, 0, false or NULL are not written to records. */
enum field_kind {
    FIELD_TEXT,   /* struct str */
    FIELD_SHARED, /* struct str that other records share: a blob pays off sooner */
    FIELD_WORD,   /* const char *: one of a few words */
    FIELD_BOOL,
    FIELD_INT,   /* int64_t */
    FIELD_COUNT, /* unsigned, uint64_t, size_t */
    FIELD_ENUM,  /* by its name */
    FIELD_JSON,  /* const struct json * */
    FIELD_GIVEN, /* the same, from tools and people: the log hides credentials in it */
    FIELD_ERROR, /* const struct err * */
    FIELD_USAGE, /* struct usage */
};

/* Does the line of the log have this field? */
enum field_log {
    LOG_NEVER,
    LOG_SET,    /* if it has a value */
    LOG_ALWAYS, /* null, "" or 0 otherwise */
};

struct event_field {
    const char *key; /* NULL: end of the rows */
    enum field_kind kind;
    unsigned offset, size; /* of the member */
    uint64_t types;        /* EVENT_BIT()s of the events that have it; 0: all with this body */
    bool is_kept;          /* records have it even if it is empty */
    bool is_head;          /* readers that skip heads skip it (CODEC_LEAVE_HEADS) */
    enum field_log log;
    uint64_t log_types;       /* only lines of these events have it; 0: of all with the field */
    const char *(*name)(int); /* for FIELD_ENUM: the name of a value; NULL behind the last one */
};

#define EVENT_BIT(name) (UINT64_C(1) << EVENT_##name)

/* The rows of an event's body; without any, only the end. */
const struct event_field *event_fields(enum event_type t);
/* The object that they describe: the body, or what it points to. */
const void *event_body(const struct event *e);
/* Rows of parts of bodies. */
extern const struct event_field ask_fields[], answer_fields[], context_fields[];

/* The member of a row in a body. */
#define FIELD_AT(body, f, type) ((type *)((char *)(body) + (f)->offset))
#define FIELD_OF(body, f, type) (*(type const *)((const char *)(body) + (f)->offset))
uint64_t field_count(const struct event_field *f, const void *body); /* of a FIELD_COUNT */
bool field_is_set(const struct event_field *f, const void *body);
bool event_field_is_of(const struct event_field *f, enum event_type t);

/* Writes the fields of the line of such an event. */
void event_fields_log(struct json_writer *w, const struct event_field *fields, enum event_type t,
                      const void *body);

#endif
