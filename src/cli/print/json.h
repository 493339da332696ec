/* json.h - `keel -p` for programs: the result as one line of JSON, or all that happens as lines. */
#ifndef KEEL_CLI_PRINT_JSON_H
#define KEEL_CLI_PRINT_JSON_H

#include "port/event_stream.h"

struct stream_json;
struct print_json {
    struct stream_json *view;
    bool only_result;
    bool has_result; /* it has been printed */
    struct strbuf line;
    bool is_ending;     /* the last run has ended: further lines wait until the session has */
    struct strbuf late; /* these */
    struct err *output_error;
};
void print_json_event(void *self, const struct event *e);
/* A whole line that does not come from an event. */
void print_json_line(struct print_json *j, struct str line);
/* The result line of a run that could not even begin. */
void print_json_failure(struct print_json *j, const struct err *e);
/* The session has ended: prints what has waited for that, if the reader is still there. */
void print_json_end(struct print_json *j);
void print_json_done(struct print_json *j);

#endif
