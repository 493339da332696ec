/* tool.h - the contract of a tool: what a model may call, and what comes back.
 *
 * A tool is a const descriptor and one function. It gets arguments that fit its schema, and a
 * context with all it may use; it fills a result. Whether it may run at all was decided before, by
 * the gate. It may wait; cancelling and its deadline reach it as errors of its waits, and it cleans
 * up and passes them on.
 *
 * What goes wrong is a result for the model (tool_result_fail), in words that tell it what to do.
 * An error is returned only for what the model cannot know of: cancelled, timed out, the machine
 * failed; ERR_TOOL_FAILED and ERR_VALIDATION become results too. */
#ifndef KEEL_PORT_TOOL_H
#define KEEL_PORT_TOOL_H

#include "model/catalogue.h"
#include "model/message_json.h"
#include "model/part.h"
#include "model/tool_def.h"
#include "net/http.h"
#include "port/asker.h"
#include "port/blob.h"
#include "port/launcher.h"
#include "port/tool_state.h"

struct runner;
struct tool;

/* What a call can do to the world; permission modes are tables over this. */
enum risk {
    RISK_UNCLASSIFIED,
    RISK_INSPECT, /* reads only */
    RISK_MODIFY,  /* changes files in a way that can be seen and taken back */
    RISK_EXECUTE, /* anything */
    RISK_NETWORK, /* sends a request to a host: changes nothing here, but what it says leaves */
    N_RISKS,
};
const char *risk_name(enum risk r);

/* What one call can do, which may be less than its tool can. */
struct call_risk {
    enum risk risk;
    /* keel vouches for it. Else a table of command lines says so, and may be wrong: calls of a
     * batch are ordered by it, but rules, modes and saved files go by the tool's class. */
    bool is_trusted;
};

/* What a tool cannot work without; where that is missing the tool is not offered. */
enum tool_needs {
    NEEDS_LAUNCHER = 1 << 0,
    NEEDS_HTTP = 1 << 1,
    NEEDS_BLOBS = 1 << 2,
    NEEDS_NO_NATIVE_SEARCH = 1 << 3, /* the provider's own is off */
    NEEDS_NO_NATIVE_FETCH = 1 << 4,
    NEEDS_MODEL_SEARCH = 1 << 5, /* the run's model can be asked to search: tool_search_model() */
    NEEDS_PERSON = 1 << 6,       /* someone can be asked, now or later */
    /* A plan can become due: someone can be asked about it, or the session begins in plan mode. */
    NEEDS_PLANNING = 1 << 7,
    NEEDS_RUNNER = 1 << 8, /* child runs */
};

/* The tools that a provider's own web search and fetch stand for: what filters say of them holds
 * for those too. */
#define TOOL_WEB_SEARCH "WebSearch"
#define TOOL_WEB_FETCH "WebFetch"
#define TOOL_EXIT_PLAN_MODE "ExitPlanMode"

/* --- results --- */

#define TOOL_RESULT_MAX_BYTES ((size_t)64 << 20)
/* What a result takes as JSON, with its escapes and the base64 of its media: it is recorded whole,
 * and a message has room for it. */
#define TOOL_RESULT_MAX_JSON_BYTES (MESSAGE_MAX_JSON_BYTES - ((size_t)2 << 20))

/* In the details of a result whose middle was too much to keep: {"bytes", "lines", "line",
 * "totalBytes", "totalLines"}. So much is missing behind that line of the text, where a line of its
 * own says so; the totals are of all that there was. */
#define TOOL_LEFT_OUT "leftOut"

struct tool_result {
    struct arena arena;
    struct strbuf text;  /* what the model reads, before the media */
    struct media *media; /* images, documents; in the arena, as their bytes */
    size_t n_media, media_room;
    bool is_error;
    enum err_kind code; /* of an error; ERR_TOOL_FAILED unless it is set */
    /* For people and programs: {"exitCode":0}, {"startLine":3,"diff":"..."}. Made in the arena;
     * NULL: nothing. The model does not see it. */
    struct json *details;
    bool is_pending; /* the answer comes later, from outside: see `ask` */
    struct ask ask;
};
void tool_result_init(struct tool_result *r);
void tool_result_done(struct tool_result *r);
DEFINE_AUTO_VAL(tool_result, tool_result_done)

/* When the tool is done: NULs of the text become U+2400, or "?" if that would be too long, and what
 * is over one of the caps above is dropped, and a note in the text says so. Of a text that is too
 * large as JSON the middle goes, of media those at the end. */
void tool_result_end(struct tool_result *r);
/* Appends to the text. */
void tool_result_addf(struct tool_result *r, const char *format, ...) PRINTF_LIKE(2, 3);
/* Replaces the text by a failure for the model; the arguments may quote the old text. */
void tool_result_fail(struct tool_result *r, const char *format, ...) PRINTF_LIKE(2, 3);
void tool_result_add_media(struct tool_result *r, const struct media *m); /* copies */
/* The answer comes later, from outside: the result outlives the call, so it copies the question. */
void tool_result_wait(struct tool_result *r, const struct ask *ask);
struct json *tool_result_details(struct tool_result *r); /* an object; made when first asked for */

/* In the details of a result: the run ends after this batch, and this text is its answer. Only of
 * tools that say gives_answer. */
#define TOOL_ANSWER "answer"
/* How the result of such a plan begins: a history tells by it that a run has ended with the plan.
 */
#define TOOL_PLAN_IS_ANSWER "No one can approve the plan in this run."

/* --- context --- */

/* Paths that must not be seen (deny rules): Grep and Glob leave them out. Called from workers. */
struct path_filter {
    bool (*is_hidden)(const void *self, struct str absolute_path, bool is_dir);
    const void *self;
    /* Asked when a file is about to be written: it was decided about before a person answered and
     * the calls before it ended, and what came meanwhile may make another file of this.
     * ERR_TOOL_DENIED: it must not be written any more. NULL: it may. */
    struct err *(*check_write)(const void *self, const char *target);
    /* Addresses that must not be fetched: WebSearch leaves them out. NULL: all may be. */
    bool (*is_denied_url)(const void *self, struct str url);
    /* Does a rule distinguish the second address from the first? Then a redirect to it is not
     * followed: it is a call of its own. NULL: no rule does. */
    bool (*tells_apart)(const void *self, struct str from, struct str to);
};

struct web_search_config {
    struct str kind;         /* "brave", "searxng", "command"; empty: none is configured */
    struct str url;          /* searxng: its base; brave: another endpoint */
    struct str command;      /* gets the query as its argument, prints results as JSON */
    struct str key_variable; /* of the environment: "BRAVE_API_KEY" */
    /* For the command, which is the person's own and needs the network; NULL: the tools'. */
    struct launcher *launcher;
};

struct tool_config {
    const char *const
        *environment; /* of commands, before credentials are taken out; NULL: environ */
    const char *const *added_dirs; /* besides the workspace; may be NULL */
    size_t n_added_dirs;
    const struct str *allowed_hosts; /* for WebFetch, though their addresses are private */
    size_t n_allowed_hosts;
    struct web_search_config search;
    struct str shell; /* empty: bash */
    /* Variables that commands must not see, besides those whose names tell that they are secret:
     * where the profiles keep their keys. */
    const struct str *secret_variables;
    size_t n_secret_variables;
    /* Nor those that hold one of these, whatever they are called; NULL: none are known. */
    const struct secrets *secrets;
    /* Variables that commands get all the same, because the person has said so. */
    const struct str *passed_variables;
    size_t n_passed_variables;
    bool is_confined; /* commands run in the sandbox */
};

/* Makes the HTTP client when it is first needed. */
struct http_source {
    struct err *(*get)(void *self, struct http_client **ret_client);
    void *self;
};

/* How a session leaves plan mode. */
struct plan_mode {
    /* For acceptEdits or for default; a mode that the person has chosen meanwhile stays. Returns
     * the name of the mode. Required. */
    const char *(*leave)(void *self, bool accepts_edits);
    /* Appends what holds from now on and the model has not been told: mode, sandbox, network. */
    void (*describe)(void *self, struct strbuf *out); /* may be NULL */
    void *self;
};

/* A question that the run's model answers with its provider's own web search. */
struct model_search {
    struct str system, question;
    const struct json *allowed_domains, *blocked_domains; /* arrays of names; may be NULL */
};

/* One call. Everything is borrowed until the tool returns. */
struct tool_context {
    struct str call_id; /* the provider's */
    /* The file or directory that the gate decided about: absolute, without links. It is opened in
     * a way that follows none, so that one put there meanwhile does not win. NULL: nobody has
     * looked. */
    const char *target;
    struct tool_state *state; /* what the tools of this session know */
    const struct tool_config *config;
    struct launcher *launcher;       /* NULL: no commands */
    struct write_observer *observer; /* of the commands that it starts; NULL: none is needed */
    const struct http_source *http;  /* NULL: no network */
    struct blob_store *blobs;        /* NULL: nothing can be stored */
    struct asker *asker;             /* NULL: no person can answer */
    const struct answer *answer;     /* to what this call asked before it was suspended, or NULL */
    const struct plan_mode *plan_mode; /* NULL: the session is in another mode */
    const struct model_info *model;    /* who reads the result; NULL: not known */
    const struct path_filter *hidden;  /* NULL: nothing is */
    struct err *(*begin)(void *self);  /* see tool_begin(); NULL: it may */
    void *begin_self;
    void (*on_progress)(void *self, struct str text); /* may be NULL; for people */
    void *progress_self;
    struct err *(*search_model)(void *self, const struct model_search *s,
                                struct message **ret_answer); /* NULL: there is no model to ask */
    void *search_self;
    const struct runner *runner; /* NULL: there are no child runs */
};
void tool_progress(const struct tool_context *c, struct str text);
/* Waits until the journal knows that the call has begun. Tools that say begins_late call it before
 * the first thing that has an effect, and do nothing when it fails; of others it is true before
 * they run. */
MUST_USE struct err *tool_begin(const struct tool_context *c);
/* One request of its own to the run's model, which gets no more of the conversation than this
 * question and no tool but its provider's search. It is retried, counted and recorded like the
 * run's own. Only for tools that are barriers. ERR_TOOL_UNAVAILABLE: no model can be asked. */
MUST_USE struct err *tool_search_model(const struct tool_context *c, const struct model_search *s,
                                       struct message **ret_answer);

/* --- the tool --- */

#define TOOL_NO_DEADLINE UINT64_MAX

struct tool {
    const char *name;        /* [A-Za-z0-9_-]{1,64} */
    const char *description; /* for the model */
    const char *server;      /* whose it is: an MCP server's name; NULL: keel's own */
    const char *schema;      /* JSON Schema of the arguments, an object */
    /* Other spellings of arguments, taken when the real one is missing: "filePath=file_path".
     * "prompt=": an argument that models pass out of habit and that means nothing here. */
    const char *aliases; /* separated by blanks; NULL: none */
    /* Other forms of values that certainly mean the same, made into those of the schema; NULL:
     * none. Names are the real ones by then, nothing is checked yet. */
    void (*adapt)(struct json *args, struct arena *a);
    /* Arguments of the schema that models are not shown, and that are taken all the same. */
    const char *hidden; /* separated by blanks; NULL: none */
    enum risk risk;     /* of its worst call */
    unsigned needs;     /* enum tool_needs */
    /* The argument that permission patterns are matched against: "command", "file_path". */
    const char *permission_arg; /* NULL: patterns with an argument never match */
    /* Must not run beside other calls of its batch. Tools that only read or fetch say it when the
     * order matters all the same; of others it is true anyway. */
    bool is_barrier;
    /* Only looks, takes back what it remembers (struct tool_state) and says nothing: its result
     * may be thrown away, so that it may begin while the model's answer still comes. Of commands
     * the gate tells which ones do (verdict.must_only_look). */
    bool starts_early;
    bool gives_answer; /* its result may end the run: TOOL_ANSWER */
    bool begins_late;  /* it calls tool_begin() itself, and gets ready meanwhile */
    /* It does nothing but child runs (port/runner.h): one that a crash has cut off is made again,
     * and its children continue. */
    bool delegates;
    size_t max_chars; /* of a result before it is stored and clipped; 0: the run's limit */
    struct err *(*run)(const struct tool *t, struct tool_context *c, const struct json *args,
                       struct tool_result *result);
    /* How long this call may take; NULL: the run's toolTimeout. 0: that too. */
    uint64_t (*timeout_ms)(const struct tool *t, const struct json *args);
    void (*free)(struct tool *t); /* NULL: it is static */
    void *self;                   /* the tool's own */
};

#define TOOL_CODING_MAX_CHARS 30000

#endif
