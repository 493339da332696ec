/* print.h - `keel -p`: one run, its answer on standard output.
 *
 * print.c reads the flags and runs; how the run appears is a file for each format. Only they
 * include what follows print_run(). */
#ifndef KEEL_CLI_PRINT_PRINT_H
#define KEEL_CLI_PRINT_PRINT_H

#include "cli/command.h"
#include "cli/output/display.h"

struct err *print_run(const struct args *args, int *ret_status);

/* --- prompt.c --- */

/* Is standard input a pipe, a file or a socket? */
bool print_is_piped_in(void);

/* The user's message: the operand, then what is piped in, each a part of its own. NULL where there
 * is none and a session may go on without one. */
MUST_USE struct err *print_read_prompt(const struct args *args, struct message **ret_message);

/* --- notices.c --- */

struct project;
/* Warnings about settings, and, once, what is taken from files of other programs. */
void print_tell_settings(const struct project *p);
/* Tells that the session is not stored for want of a home, or that no command can run. */
void print_tell_missing(const struct args *args, const struct project *p, bool is_kept);

/* --- text.c: the answer as text --- */

struct print_text {
    struct show show;          /* everything that appears while it runs */
    bool is_streaming;         /* on a terminal: text as it comes; else all at the end */
    enum stop stop;            /* why the last answer ended */
    const char *session;       /* its id, where it is kept; NULL: it is not */
    const char *rounds_set_by; /* the flag or the setting that limits rounds */
};
void print_text_event(void *self, const struct event *e);
/* What is left to print when the run has ended; errors are the caller's to tell. */
MUST_USE struct err *print_text_end(struct print_text *t, const struct run_result *r);
/* What a suspended run waits for, on standard error, and how to answer. */
void print_text_asks(const struct print_text *t, const struct run_result *r);
void print_text_done(struct print_text *t);

/* --- json.c: the result as one line, or all that happens as lines --- */

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
/* A whole line that is no event's. */
void print_json_line(struct print_json *j, struct str line);
/* The result line of a run that could not even begin. */
void print_json_failure(struct print_json *j, const struct err *e);
/* The session has ended: prints what has waited for that, if somebody still reads. */
void print_json_end(struct print_json *j);
void print_json_done(struct print_json *j);

#endif
