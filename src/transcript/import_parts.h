/* import_parts.h - what the readers of all forms share. Private to import. */
#ifndef KEEL_TRANSCRIPT_IMPORT_PARTS_H
#define KEEL_TRANSCRIPT_IMPORT_PARTS_H

#include "base/json_walk.h"
#include "transcript/import.h"

/* --- tables (import_index.c): find things by a name from a file: ids of sessions, messages, calls
 * ---
 *
 * A table keeps only 64 bits of the SHA-256 of a name. So a million names of any length take little
 * memory, and no choice of names makes a table slow. */

struct import_slot {
    uint64_t key;
    size_t value;
};
struct import_index {
    struct import_slot *slots;
    size_t n, room;
};
void import_index_done(struct import_index *x);
DEFINE_AUTO_VAL(import_index, import_index_done)

uint64_t import_key(struct str name); /* 0: it is empty */
/* The value of the key, which is not 0; it is 0 if the key is new. Valid until the next call. */
size_t *import_index_at(struct import_index *x, uint64_t key);
/* The same without adding the key. */
size_t import_index_find(const struct import_index *x, uint64_t key);

/* A file being read, line by line or value by value. */
struct importing {
    struct import *out;
    const struct import_options *options;
    const struct import_source *source;
    uint64_t start;       /* of its text: after a byte order mark */
    uint64_t next;        /* byte that is read next */
    uint64_t end;         /* where reading lines stops; 0: at the end of the file */
    struct strbuf buffer; /* what was read */
    size_t at;            /* in the buffer */
    bool is_over;
    struct err *error;    /* of the source or the spool; the file then seems to end */
    size_t line;          /* number of the last line read, from 1 */
    bool is_last;         /* no line feed follows it */
    struct arena scratch; /* of the line's values */
    /* while a long value is built */
    size_t n_values_left, n_bytes_left; /* that may be kept of it */
    bool has_parts;                     /* "parts" was seen */
    bool was_cut;                       /* the last text built */
};

/* --- lines and values (import_lines.c) --- */

/* The next line that is a JSON object, valid until the next call; NULL at the end. Any other line
 * is a problem; the last one may have been cut off. A long line lacks its unused members, and a
 * note replaces a text over the limit. */
const struct json *import_next_line(struct importing *x);
void import_rewind(struct importing *x);
/* Walks over the file's values, from its start. */
void import_walk(struct importing *x, struct json_walk *ret_walk);
/* Reads the next value in the same way; it lives in the scratch. */
MUST_USE struct err *import_value(struct importing *x, struct json_walk *w,
                                  struct json **ret_value);

/* --- reports (import.c) --- */

/* Something on the present line cannot be read. */
void import_problem(struct importing *x, const char *format, ...) PRINTF_LIKE(2, 3);
void import_leave_out(struct importing *x, struct str kind);

/* --- kept content (import_keep.c) --- */

struct imported *import_new_session(struct importing *x);
/* Sets a text that lives as long as the import. */
void import_set(struct importing *x, struct str *to, struct str text);
/* Puts the message into the spool. One that could not be read back keeps its place, its calls and
 * the calls that it answers. */
struct import_item import_put(struct importing *x, struct message *take_message, int64_t unix_ms);
void import_add_item(struct importing *x, struct imported *s, enum import_step step, bool begins,
                     struct import_item item);
/* Puts the message into the spool and adds it. NULL: no message. */
void import_add(struct importing *x, struct imported *s, enum import_step step, bool begins,
                struct message *take_message, int64_t unix_ms);
/* Puts a text into the spool, and returns its place. */
uint64_t import_put_text(struct importing *x, struct str text);
/* Reads it back; valid until something else is fetched. */
MUST_USE struct err *import_fetch_text(struct import *i, uint64_t at, uint32_t n_bytes,
                                       struct str *ret_text);
/* The message of an item, as it was put there. */
MUST_USE struct err *import_fetch(struct import *i, const struct import_item *item,
                                  struct message **ret_message);

/* --- messages (import_message.c) --- */

/* ISO 8601 with any zone, or a number of seconds or milliseconds; 0: neither. */
int64_t import_time(const struct json *v);

/* Impossible numbers count as unknown. */
void import_limit_usage(struct usage *u);

/* A message in keel's or a record's own form. */
MUST_USE struct err *import_message(struct importing *x, const struct json *v,
                                    struct message **ret_message);
/* Adds a part to a message that several lines make, while it does not get too large. */
void import_add_part(struct importing *x, struct message *m, const struct part *p);
/* Adds a call. Arguments that are not a JSON object are kept as invalid ones. */
void import_add_call(struct importing *x, struct message *m, struct str id, struct str name,
                     struct str args);
/* A result in a message of its own. Content: text, or a list of parts with `text` or an image. */
struct message *import_result(struct importing *x, struct str call_id, const struct json *content,
                              bool is_error) MUST_USE;
/* {"type":"base64","media_type":M,"data":D}, or a data: or http address. */
bool import_image(struct arena *a, const struct json *source, struct part *ret_part);

/* --- the forms --- */

MUST_USE struct err *import_log(struct importing *x);
/* One after the other, or as a list. */
MUST_USE struct err *import_records(struct importing *x);
/* Does the file begin with a record? */
bool import_is_record(struct importing *x);
MUST_USE struct err *import_claude(struct importing *x);
MUST_USE struct err *import_codex(struct importing *x);

#endif
