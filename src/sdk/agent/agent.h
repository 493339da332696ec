/* agent.h - an agent put together: model chain, tools, gate, store, one session.
 *
 * Made from a project and what the caller wants; everything that is not asked for has the default
 * of the settings. agent_open() does no work that the first request does not need: it opens the
 * session in its store, but starts no process and walks no directory. */
#ifndef KEEL_SDK_AGENT_AGENT_H
#define KEEL_SDK_AGENT_AGENT_H

#include "engine/run.h"
#include "gate/gate.h"
#include "sdk/project.h"
#include "session/session.h"

/* Which session, and where it is kept. */
struct agent_session {
    const char
        *store; /* store/open.h; NULL: KEEL_STORE, else the setting, else keel.db in keel's home */
    const char *resume; /* an id or a name; NULL: none */
    bool continues;     /* the newest one of this directory */
    bool forks;         /* a copy of that instead */
    const char *id;     /* of a new one or a copy, a UUID; NULL: one is made */
    const char *name;   /* that it is to have; NULL: as it is */
    bool is_private;    /* nothing is kept */
    bool keeps_model;   /* the one that the session had is asked, not the options' */
};

#define AGENT_MAX_WAIT_SECONDS (7 * 24 * 3600)

struct agent_options {
    struct agent_session session;
    struct budget_limits budget;        /* 0: the settings' */
    const char *const *fallback_models; /* --fallback-model, in order */
    size_t n_fallback_models;
    struct model_choice *model; /* NULL: the settings' */
    /* Asked instead of a model of the project's; borrowed. */
    const struct provider *provider;
    const char *system_prompt;        /* instead of keel's own; NULL: keel's own */
    const char *append_system_prompt; /* after it; NULL: nothing */
    const char *const *tools;         /* names: the model sees no others; NULL: all there are */
    size_t n_tools;
    bool names_tools; /* in place of those that a session has had; else nothing is said of them */
    const char *const *allowed; /* permission patterns: "Bash(git *)", "Read" */
    size_t n_allowed;
    const char *const *disallowed; /* a bare tool name also hides the tool from the model */
    size_t n_disallowed;
    const char *mode; /* --permission-mode; NULL: the settings' */
    const char *const *added_dirs;
    size_t n_added_dirs;
    enum effort effort;
    int64_t reasoning_budget; /* tokens; 0: as the effort says */
    bool no_stream;
    /* How long a run that has its answer waits for background commands, whose results its model
     * then gets; 0: they run on until agent_close(). */
    uint64_t wait_background_ms; /* at most AGENT_MAX_WAIT_SECONDS */
    bool stops_background;       /* they are stopped before the run ends, and do not run on */
    uint64_t retry_max_ms;       /* waits of a round; 0: the setting's */
    struct asker *asker; /* NULL: no person can answer, and permissions.onAsk says what then */
    /* Hears all that happens, from here on; what happens before the session is open has no number.
     * Others subscribe later, to the session's stream. NULL: there is none. */
    struct event_subscriber *subscriber;
};

struct agent;

/* A mode by its name; ERR_VALIDATION names the known ones. `where` is the flag or the setting. */
MUST_USE struct err *agent_find_mode(const char *where, struct str name,
                                     enum permission_mode *ret_mode);

/* In a task. */
MUST_USE struct err *agent_open(struct project *project, const struct agent_options *options,
                                struct agent **ret_agent);
/* In any task of the same loop; ends background commands. Accepts NULL. */
void agent_close(struct agent *a);
DEFINE_AUTO_PTR(agent, agent_close)

struct session *agent_get_session(struct agent *a);
/* Whom it asks and with what, as of now: until the next wait. */
const struct run_plan *agent_get_plan(const struct agent *a);
/* The model that it began with; NULL: the caller has brought a provider. */
const struct model_choice *agent_get_model(const struct agent *a);
enum permission_mode agent_get_mode(const struct agent *a);
bool agent_is_kept(const struct agent *a); /* its store outlives the process */

/* The person typed this as the next prompt, or as a part of it: hosts and paths that it names need
 * no question from the next run on (gate/typed.h). Never for what was piped in, comes from a file
 * or was written by a program. Copied. */
void agent_note_typed(struct agent *a, struct str text);

/* One run. An error: it did not begin. The result is the caller's to end in any case. */
MUST_USE struct err *agent_run(struct agent *a, const struct run_input *input,
                               struct run_result *ret_result);

/* Makes the history a summary of itself. */
MUST_USE struct err *agent_compact(struct agent *a, struct str instructions,
                                   struct run_result *ret_result);

/* The rest may be changed between and during runs; it counts from the next round. */

/* Asks this model from now on, with the fallbacks that there were; NULL: the first. */
MUST_USE struct err *agent_set_model(struct agent *a, const char *model);
void agent_set_mode(struct agent *a, enum permission_mode mode);
/* At most so many tokens of thoughts for an answer; 0: none, -1: as the model does by itself. */
void agent_set_thinking(struct agent *a, int64_t max_tokens);
/* Allows what this pattern matches for as long as the session lives; with `is_to_last` the person's
 * settings of the project say so, too. The error is theirs: the session has the rule. */
MUST_USE struct err *agent_allow(struct agent *a, struct str pattern, bool is_to_last);
/* What stands instead of keel's own prompt, and what after it, from the next run on; NULL: as it
 * was. Copied. */
MUST_USE struct err *agent_set_prompt(struct agent *a, const char *instead, const char *append);

/* The tools that the model will see; a new reference. */
struct tool_set *agent_exposed_tools(struct agent *a) MUST_USE;

#endif
