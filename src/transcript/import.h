/* import.h - reads sessions from files: keel's own exports, session records and logs of its kind,
 * transcripts of Claude Code and rollouts of Codex.
 *
 * A file of any size is read in pieces: line by line, or a record message by message. Messages go
 * to a spool as they are read and come back one at a time, so memory grows with their number (some
 * tens of bytes each) and not with their content. The result can be continued: messages have ids of
 * their own, arguments are JSON, every call has a result, even if only one that says that it is not
 * known. What only another program can use is omitted and counted. The input is hostile: the kept
 * part of a line or a message has a limit, and problems are reported with their line. */
#ifndef KEEL_TRANSCRIPT_IMPORT_H
#define KEEL_TRANSCRIPT_IMPORT_H

#include "base/sha256.h"
#include "model/message.h"
#include "port/blob.h"

#define IMPORT_MAX_MESSAGES 1000000
#define IMPORT_MAX_SESSIONS 10000

/* How a message came into the history. */
enum import_step {
    IMPORT_APPEND,
    IMPORT_COMPACT, /* the first message of a shorter history */
    IMPORT_REWIND,
    IMPORT_CLEAR, /* no message: the history before it is gone */
};

/* A message in the spool. */
struct import_item {
    uint64_t at;      /* its place there */
    uint32_t n_bytes; /* 0: there is no message */
    uint8_t step;     /* enum import_step */
    uint8_t role;     /* enum role */
    bool begins;      /* the first one of a new history */
    int64_t unix_ms;  /* 0: unknown */
};

/* A long result in the spool. */
struct import_text {
    unsigned char digest[SHA256_SIZE];
    uint64_t at;
    uint32_t n_bytes;
};

/* The name of a stored result, "out_3", and its text according to the file. */
struct imported_handle {
    uint32_t number;
    struct str sha256, tool;
};

struct imported {
    struct str id, parent; /* from the file; may be empty, or unusable */
    size_t parent_index;   /* the parent session; IMPORT_NO_PARENT: not in this file */
    struct str cwd, name, provider, model, system;
    int64_t created_ms, updated_ms; /* 0: not in the file */
    struct import_item *items;
    size_t n, room;
    struct import_text *results;
    size_t n_results, results_room;
    struct imported_handle *handles;
    size_t n_handles, handles_room;
    /* What it has used so far, if keel itself has counted. */
    struct usage usage;
    int64_t cost_microcents;
    bool cost_is_known, is_estimated, is_unpriced;
    uint64_t n_rounds, n_tool_calls, active_ms;
};
#define IMPORT_NO_PARENT SIZE_MAX

/* Omitted lines of a kind. */
struct import_left_out {
    struct str kind;
    size_t n;
};

/* The bytes of a file, which is read more than once. */
struct import_source {
    /* Appends up to n of them from `from` on; none: the file has ended. May wait. */
    struct err *(*read)(void *self, uint64_t from, size_t n, struct strbuf *out);
    void *self;
};

/* Holds messages until everything is read. */
struct import_spool {
    struct err *(*write)(void *self, struct str bytes); /* at the end. May wait. */
    /* Appends n bytes from `from` on, all of which were written. May wait. */
    struct err *(*read)(void *self, uint64_t from, size_t n, struct strbuf *out);
    void *self;
};

struct import_options {
    const char *name; /* of the file, for messages */
    bool is_partial;  /* also skips unreadable lines */
    /* Appends the payload that a log refers to. NULL: there are none. May wait. */
    struct err *(*load)(void *self, const struct blob_reference *r, struct strbuf *out);
    void *self;
    const struct import_spool
        *spool;         /* lives as long as the import; NULL: messages stay in memory */
    size_t short_bytes; /* longer lines and values are walked over; 0: the best size. For tests. */
};

struct import {
    struct arena arena;
    const char *form; /* "claude-code", "codex", "log", "record" */
    struct imported *sessions;
    size_t n, room;
    struct import_left_out *left_out;
    size_t n_left_out, left_out_room;
    struct strbuf problems; /* one per line: "file:12: ..." */
    size_t n_problems;
    /* private: the spool */
    const struct import_spool *spool;
    struct strbuf tail;   /* that is not written yet */
    uint64_t n_spooled;   /* bytes that are written */
    struct strbuf window; /* the part read last */
    uint64_t window_at;
};
void import_done(struct import *i);
DEFINE_AUTO_VAL(import, import_done)

/* ERR_VALIDATION: nothing was understood, or there are problems and the import is not partial.
 * `problems` has them in both cases. */
MUST_USE struct err *import_read(struct import *ret, const struct import_source *source,
                                 const struct import_options *options);
/* The same for a text in memory. */
MUST_USE struct err *import_read_text(struct import *ret, struct str text,
                                      const struct import_options *options);

/* A message of a history that can be sent to a model. */
struct imported_message {
    enum import_step step;
    bool begins;
    struct message *message; /* NULL: none. `take` may replace it. */
    int64_t unix_ms;
};
/* Passes each message of the session to `take`, in order, with an id, a time and a result for each
 * of its calls. May be repeated. May wait. */
MUST_USE struct err *import_each(struct import *i, const struct imported *s,
                                 struct err *(*take)(void *self, struct imported_message *m),
                                 void *self);

#endif
