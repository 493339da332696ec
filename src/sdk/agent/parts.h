/* parts.h - what an agent is, and the steps of agent_open(), a file each. Only they, and what
 * they are made of, include this. */
#ifndef KEEL_SDK_AGENT_PARTS_H
#define KEEL_SDK_AGENT_PARTS_H

#include "sdk/agent/agent.h"
#include "sdk/agent/base.h"
#include "sdk/agent/plan.h"
#include "sdk/sandbox/agent_sandbox.h"

struct agent_hooks;
struct model_lookup;

struct agent {
    struct project *project;
    struct agent_base *base;    /* what it has in common with other agents */
    struct model_choice *model; /* that it began with; NULL: the caller has brought a provider */
    struct agent_plan *plan;
    struct arena arena;
    struct session session;
    struct permission_gate gate;
    enum permission_mode mode;
    struct plan_mode plan_mode;
    struct blob_store *blobs;        /* the store's */
    struct snapshotter *snapshotter; /* NULL: nothing is saved before tools change it */
    struct asker *asker;
    struct reattacher reattachers[4];
    struct event_stream opening; /* until the session's is there */
    struct group background;     /* commands that outlive their call */
    struct store *store;
    bool is_kept; /* the store outlives the process */
    struct agent_sandbox sandbox;
    const char *tmp_dir;       /* of commands, without links; NULL: there is none yet */
    struct agent_hooks *hooks; /* NULL: there are none */
    bool has_tasks;            /* the groups are begun */
    struct news news;
    uint64_t wait_background_ms, wait_left_ms;
    bool stops_background;
    struct denied_paths *denied; /* what searches leave out, in a run; NULL: nothing */
    struct path_filter hidden;
    struct model_lookup *lookups; /* of unknown models */
    struct model_lookup *asked;   /* of the one whose request is made; NULL: of none */
    struct group lookup;          /* asks about them */
    struct host_warm warm;        /* what is kept for the next run */
    struct event_subscriber log_writer, *subscribers[2];
    size_t n_subscribers;
    struct event_subscriber lookup_starter;
    bool names_tools; /* of the plan's filter: agent_options */
    enum native_wish search_wish, fetch_wish;
    bool has_prefix;         /* the plan's is that of the prompts that were set last */
    bool tells_surroundings; /* who writes all of the system text writes those, too */
    struct strbuf context;   /* for the model, beside the next prompt */
    struct strbuf typed;     /* by the person, and not looked at yet */
    uint64_t retry_max_ms;
};

/* A list of texts in an arena. */
struct texts {
    struct str *items;
    size_t n, room;
};
static inline void texts_add(struct texts *list, struct arena *a, struct str text)
{
    list->items = arena_grow(a, list->items, list->n, &list->room, sizeof *list->items);
    list->items[list->n++] = text;
}

/* An event for the person, also before the session is open. */
void agent_notice(struct agent *a, enum severity severity, const char *source, struct str text);

/* From now on this is the plan; a run under way uses it from its next round on. */
void agent_swap_plan(struct agent *a, struct agent_plan *take_next);

/* The chain: the model of the options (or the caller's provider), then the fallbacks. */
MUST_USE struct err *agent_add_targets(struct agent *a, const struct agent_options *options);

/* Asks providers about the models of the chain that are unknown, beside the run that begins: about
 * each once its first request is on its way. */
void agent_look_up_models(struct agent *a);
/* Between rounds: what has become known of one goes into the plan. */
void agent_use_learned(struct agent *a);
void agent_end_lookups(struct agent *a);

/* Rules of settings and flags, the mode, and the tools that are not shown. */
MUST_USE struct err *agent_set_rules(struct agent *a, const struct agent_options *options);

/* Opens the store and the session in it. After the rules, whose mode the session may bring back. */
MUST_USE struct err *agent_open_session(struct agent *a, const struct agent_options *options);
/* The permission mode comes back with the session, too. */
void agent_note_mode(struct agent *a);
void agent_close_session(struct agent *a); /* after the background commands have ended */

/* Whether the provider's own web search is among the tools. After the session is open: what was
 * allowed in it counts. */
void agent_choose_native(struct agent *a);

/* Adds this to the next prompt, once. Copied. */
void agent_add_context(struct agent *a, struct str text);
/* The prompt with that, and with what has changed around the model since its last prompt. */
struct message *agent_with_context(struct agent *a, struct message *input) MUST_USE;
/* Appends what has changed around the model since its last prompt; nothing, if nothing has. */
void agent_tell_surroundings(struct agent *a, struct strbuf *out);
/* What is put back after a summary. */
void agent_choose_reattachers(struct agent *a, struct compact_options *o);

/* The person's hooks: those of its base, put around the agent. There may be none. */
void agent_hooks_open(struct agent *a);
void agent_hooks_done(struct agent *a);
struct hooks *agent_hooks_port(struct agent *a); /* NULL: there are none */
/* SessionStart, before the first run. What the hooks say is added to the first prompt. */
MUST_USE struct err *agent_hooks_begin(struct agent *a);
/* SessionEnd, once. Waits even when the session was cancelled before, as long as the hooks may
 * take; cancelling it now ends them. */
void agent_hooks_end(struct agent *a);

/* What the model hears of background commands, anew for each run. */
void agent_news_begin(struct agent *a);
/* After they have ended, and before the session is closed. */
void agent_news_end(struct agent *a);

/* Looks at what agent_note_typed() was given. After the session has begun. */
void agent_remember_typed(struct agent *a);

/* What is saved before tools change files, and what a crash has left of that. After the blobs are
 * there. */
MUST_USE struct err *agent_add_snapshots(struct agent *a);
/* Before the session is closed, when no command runs any more. */
void agent_settle_snapshots(struct agent *a);

#endif
