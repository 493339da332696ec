/* session.h - what the commands below `keel session` share. */
#ifndef KEEL_CLI_SESSION_SESSION_H
#define KEEL_CLI_SESSION_SESSION_H

#include "cli/command.h"
#include "port/event_stream.h"
#include "sdk/session_store.h"
#include "sys/clock.h"

extern const struct command command_session_compact;
extern const struct command command_session_delete;
extern const struct command command_session_export;
extern const struct command command_session_fork;
extern const struct command command_session_import;
extern const struct command command_session_list;
extern const struct command command_session_prune;
extern const struct command command_session_rebuild;
extern const struct command command_session_rename;
extern const struct command command_session_replay;
extern const struct command command_session_rewind;
extern const struct command command_session_search;
extern const struct command command_session_show;
extern const struct command command_session_verify;

#define SESSION_OPTIONS                                                                            \
    {"store", 0, "STORE", "where sessions are stored: " STORE_FORMS},                              \
        {"settings", 0, "FILE|JSON", "more settings; they override all files"}

/* A command at work, in a task. */
struct session_work {
    const struct args *args;
    struct arena arena;
    struct project *project;
    struct store *store;
    void *self;                                       /* the command's own */
    int status;                                       /* that the program will end with */
    struct event_subscriber printer, *subscribers[1]; /* prints notices, for a session_open() */
};

/* Opens the store, which must exist unless it is the default, and calls `work` in a task that the
 * person can interrupt. */
MUST_USE struct err *session_work_run(const struct args *args,
                                      struct err *(*work)(struct session_work *w), int *ret_status);
/* The same with another clock than the machine's. */
MUST_USE struct err *session_work_run_at(const struct args *args, const struct clock *clock,
                                         struct err *(*work)(struct session_work *w), void *self,
                                         int *ret_status);
/* The same for work that stores sessions: a store that does not exist is created. */
MUST_USE struct err *session_work_store(const struct args *args,
                                        struct err *(*work)(struct session_work *w),
                                        int *ret_status);
/* The one that this operand names (sdk/session_store.h); without it the newest of this directory.
 */
MUST_USE struct err *session_work_find(struct session_work *w, size_t operand,
                                       struct store_summary *ret_summary);

/* The same for an operand that may name no session. */
MUST_USE struct err *session_work_look(struct session_work *w, size_t operand,
                                       struct store_summary *ret_summary, bool *ret_found);

/* Calls `each` with the sessions of the query, some at a time, so that memory does not grow with
 * their number. Texts are valid until it returns. */
MUST_USE struct err *session_work_each(
    struct session_work *w, const struct store_list_query *query,
    struct err *(*each)(void *self, const struct store_summary *items, size_t n), void *self);

/* The summary as members of an object that is open. */
void session_write_summary(struct json_writer *w, const struct store_summary *s);
/* The first line of a text from outside, cut to n_columns, with "..." where it was cut. */
void session_add_line(struct strbuf *out, struct str text, size_t n_columns);
/* "2026-11-16 04:36", in the person's time zone. */
void session_add_time(struct strbuf *out, int64_t unix_ms);
/* "just now", "5 min ago", "3 h ago", "2 d ago"; then the date. */
void session_add_age(struct strbuf *out, int64_t unix_ms, int64_t now_ms);

#endif
