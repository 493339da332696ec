/* import_parts.h - what the readers of all forms share. Private to import. */
#ifndef KEEL_TRANSCRIPT_IMPORT_PARTS_H
#define KEEL_TRANSCRIPT_IMPORT_PARTS_H

#include "base/json_walk.h"
#include "transcript/import.h"
#include "transcript/import_index.h"

/* A file being read, line by line or value by value. */
struct importing {
    struct import *out;
    const struct import_options *options;
    const struct import_source *source;
    uint64_t start;       /* of its text: behind a mark of the encoding */
    uint64_t next;        /* byte that is read next */
    uint64_t end;         /* where reading lines stops; 0: at the end of the file */
    struct strbuf buffer; /* what was read */
    size_t at;            /* in the buffer */
    bool is_over;
    struct err *error;    /* of the source or the spool; it then looks as if the file ended */
    size_t line;          /* number of the one that was read last, from 1 */
    bool is_last;         /* no line feed follows it */
    struct arena scratch; /* of what it says */
    /* while a long value is built */
    size_t n_values_left, n_bytes_left; /* that may be kept of it */
    bool has_parts;                     /* these were met */
    bool was_cut;                       /* the text that was built last */
};

/* --- lines and values (import_lines.c) --- */

/* The next line that is a JSON object, good until the next call; NULL at the end. A line that is
 * none is a problem; the last one may have been cut off. Members of a long line that nothing is
 * taken from are not there, and a note replaces a text over the limit. */
const struct json *import_next_line(struct importing *x);
void import_rewind(struct importing *x);
/* Walks over the file's values, from its start. */
void import_walk(struct importing *x, struct json_walk *ret_walk);
/* The value that comes next, in the same way; it lives in the scratch. */
MUST_USE struct err *import_value(struct importing *x, struct json_walk *w,
                                  struct json **ret_value);

/* --- what is reported (import.c) --- */

/* Something on the line of the moment cannot be read. */
void import_problem(struct importing *x, const char *format, ...) PRINTF_LIKE(2, 3);
void import_leave_out(struct importing *x, struct str kind);

/* --- what is kept (import_keep.c) --- */

struct imported *import_new_session(struct importing *x);
/* Sets a text that lives as long as the import. */
void import_set(struct importing *x, struct str *to, struct str text);
/* Puts the message into the spool; one that could not be read back keeps its place, its calls and
 * the calls that it answers. */
struct import_item import_put(struct importing *x, struct message *take_message, int64_t unix_ms);
void import_add_item(struct importing *x, struct imported *s, enum import_step step, bool begins,
                     struct import_item item);
/* Both. NULL: no message. */
void import_add(struct importing *x, struct imported *s, enum import_step step, bool begins,
                struct message *take_message, int64_t unix_ms);
/* Puts a text there, and tells where it is. */
uint64_t import_put_text(struct importing *x, struct str text);
/* That text; good until something else is fetched. */
MUST_USE struct err *import_fetch_text(struct import *i, uint64_t at, uint32_t n_bytes,
                                       struct str *ret_text);
/* The message of an item, as it was put there. */
MUST_USE struct err *import_fetch(struct import *i, const struct import_item *item,
                                  struct message **ret_message);

/* --- messages (import_message.c) --- */

/* ISO 8601 with any zone, or a number of seconds or milliseconds; 0: it is neither. */
int64_t import_time(const struct json *v);

/* Numbers that nothing can have taken are not known. */
void import_limit_usage(struct usage *u);

/* A message in keel's or a record's own form. */
MUST_USE struct err *import_message(struct importing *x, const struct json *v,
                                    struct message **ret_message);
/* One more part of a message that several lines make, as long as it does not get too large. */
void import_add_part(struct importing *x, struct message *m, const struct part *p);
/* A call's arguments: what is no JSON object is kept as what came instead. */
void import_add_call(struct importing *x, struct message *m, struct str id, struct str name,
                     struct str args);
/* A result of its own. Content: text, or a list of parts with `text` or an image. */
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
