/* gate.h - may this call run? Asked for every tool call, answered in eight steps.
 *
 *     1 exposure   2 registered   3 grant   4 arguments   5 hard policy
 *     6 hooks      7 rules, then the mode's table         8 the person
 *
 * The gate walks them in this order and says at which one it stopped. A refusal is a verdict, not
 * an error. */
#ifndef KEEL_PORT_GATE_H
#define KEEL_PORT_GATE_H

#include "model/message.h"
#include "port/tool_set.h"

enum permission_mode { MODE_PLAN, MODE_DEFAULT, MODE_ACCEPT_EDITS, MODE_BYPASS };
#define PERMISSION_MODES "plan, default, acceptEdits, bypassPermissions"   /* in texts */
#define PERMISSION_MODE_WORDS "plan default acceptEdits bypassPermissions" /* for completion */
const char *permission_mode_name(enum permission_mode m); /* "plan", "acceptEdits", ... */
/* By name, or by the trust it stands for: safe, moderate, full. */
bool permission_mode_find(struct str name, enum permission_mode *ret_mode);

/* The steps that can end the walk. Exposure and grant are in the set of tools. */
enum gate_step {
    GATE_STEP_TOOL = 2,
    GATE_STEP_ARGUMENTS = 4,
    GATE_STEP_POLICY = 5,
    GATE_STEP_HOOKS = 6,
    GATE_STEP_RULES = 7,
    GATE_STEP_PERSON = 8,
};

enum verdict_kind {
    VERDICT_ALLOW,
    VERDICT_DENY,         /* `reason` is for the model */
    VERDICT_UNKNOWN_TOOL, /* not registered: never run, never guessed */
    VERDICT_BAD_ARGUMENTS,
    VERDICT_LATER, /* `ask` waits for its answer */
};

struct gate_call {
    const struct part *call; /* PART_TOOL_CALL as the model sent it */
    struct tool_set *tools;  /* of this round: exposure and grant are in it */
    enum permission_mode mode;
    struct tool_state *state;
    struct asker *asker;
    /* To an earlier VERDICT_LATER for this call, or NULL. It counts for the arguments that were
     * asked about then; if hooks change them otherwise now, it is asked again. */
    const struct answer *answer;
    /* Tells that a person is asked and what was answered; may be NULL. */
    void (*on_ask)(void *self, const struct ask *ask, const struct answer *answer);
    void *self;
};

#define VERDICT_BY_PERSON "person"

struct verdict {
    enum verdict_kind kind;
    enum gate_step step;      /* at which it was decided */
    struct tool_entry *entry; /* NULL: unknown tool */
    const struct json *args;  /* the effective ones; what came, when they are wrong */
    /* The file or directory that was decided about: absolute, links and ".." resolved as far as it
     * exists. NULL: the call is not about one. */
    const char *target;
    /* What decided: a pattern, the mode's cell ("mode:plan/execute"), "hook:EVENT", or
     * VERDICT_BY_PERSON; empty: the hard policy, or what has no name. */
    struct str rule;
    /* The tool's, unless the call runs a line that changes nothing, as far as its text shows, not
     * even the working directory. */
    struct call_risk risk;
    /* It is allowed for that alone: it must run where nothing can be changed (run_kit.looker).
     */
    bool must_only_look;
    struct str reason;
    struct ask ask;
    /* What hooks add: for the model with the result, and for the person; may be empty. The latter
     * also says that an answer could not be kept. */
    struct str hook_context, hook_message;
    bool stops_run; /* a hook ends the run here */
    struct str stop_reason;
};

/* The class that decides about a call with an entry. */
enum risk verdict_class(const struct verdict *v);

/* What the model reads about a tool that does not exist. */
struct str gate_unknown_tool(struct arena *a, const struct tool_set *tools,
                             struct str name) MUST_USE;

struct gate {
    /* Required; may wait. What the verdict points at lives in `a`. */
    struct err *(*judge)(struct gate *g, const struct gate_call *call, struct arena *a,
                         struct verdict *ret_verdict);
    /* Would it run and only look, without a hook or a person being asked? The same steps, without
     * events. May wait. NULL: that is never known beforehand. */
    struct err *(*foresee)(struct gate *g, const struct gate_call *call, struct arena *a,
                           struct verdict *ret_verdict, bool *ret_runs);
};

/* NULL is a gate that lets nothing through. */
MUST_USE struct err *gate_judge(struct gate *g, const struct gate_call *call, struct arena *a,
                                struct verdict *ret_verdict);
MUST_USE struct err *gate_foresee(struct gate *g, const struct gate_call *call, struct arena *a,
                                  struct verdict *ret_verdict, bool *ret_runs);

#endif
