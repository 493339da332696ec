/* parts.h - what the files of `keel -p` share. Only they include this.
 *
 *     prepare.c   before the run: flags, prompt, notices
 *     print.c     the run
 *     text.c      how it appears to people
 *     json.c      how it appears to programs (json.h) */
#ifndef KEEL_CLI_PRINT_PARTS_H
#define KEEL_CLI_PRINT_PARTS_H

#include "cli/io.h"
#include "cli/lines/input.h"
#include "cli/output/display.h"
#include "cli/output/progress.h"
#include "cli/print/json.h"
#include "cli/print/print.h"
#include "sys/loop.h"

/* --- text.c: the answer as text --- */

struct print_text {
    struct display show;       /* everything that appears while it runs */
    bool is_streaming;         /* on a terminal: text as it comes; else all at the end */
    enum stop stop;            /* why the last answer ended */
    const char *session;       /* its id, where it is kept; NULL: it is not */
    const char *rounds_set_by; /* the flag or the setting that limits rounds */
};
void print_text_event(void *self, const struct event *e);
/* Prints the rest when the run has ended; the caller reports errors. */
MUST_USE struct err *print_text_end(struct print_text *t, const struct run_result *r);
/* What a suspended run waits for, on standard error, and how to answer. */
void print_text_asks(const struct print_text *t, const struct run_result *r);
void print_text_done(struct print_text *t);

/* --- print.c --- */

enum print_format { FORMAT_TEXT, FORMAT_JSON, FORMAT_STREAM_JSON };

struct print {
    const struct args *args;
    struct arena arena;
    enum print_format format;
    bool include_partial;
    int64_t max_rounds;  /* 0: as many as it takes; -1: as the settings say */
    struct json *schema; /* NULL: any text will do */
    struct live_options options;
    struct host *host;
    struct project *project;
    struct message *prompt;
    struct input *input;         /* prompts come as lines; NULL: there is one prompt */
    struct live_session *live;   /* while it lives */
    struct secrets *secrets;     /* its */
    struct secrets_stream trace; /* of answers, without them */
    struct run_progress progress;
    struct print_text text;
    struct print_json json;
    struct err *output_error; /* standard output failed */
    struct err *run_error;    /* the last run's, which is not reported yet */
    struct event_subscriber subscriber;
    bool is_ending;           /* the last run has ended, and its output is written */
    struct loop_watch reader; /* notices when the reader of standard output has left */
    bool reader_is_gone;
    int status;
};

/* --- prepare.c --- */

MUST_USE struct err *print_read_format(const struct args *args, enum print_format *ret_format);
MUST_USE struct err *print_read_flags(struct print *p);
/* How long to wait for background commands after the answer: needs the settings. */
MUST_USE struct err *print_read_wait(struct print *p);

/* The user's message: the operand, then what is piped in, each a part of its own. NULL if there is
 * none, and a session can continue without one. */
MUST_USE struct err *print_read_prompt(const struct args *args, struct message **ret_message);

/* Prints warnings about settings, and, once, what is taken from files of other programs. */
void print_settings_notices(const struct project *p);
/* Prints that the session is not stored for want of a home, or that commands cannot run. */
void print_missing_notices(const struct args *args, const struct project *p, bool is_kept);

#endif
