/* agent_sandbox.h - the launcher of an agent's commands: each runs in the sandbox or not at all.
 *
 * Nothing is made before the first command: then the policy, in a worker, and a private directory
 * for temporary files, which goes with the agent. Every later command has a policy of its own, made
 * from what is there when it starts. "sandbox.enabled": false turns it off; only a person's own
 * settings or a trusted project's can say so, and only files written for keel. */
#ifndef KEEL_SDK_SANDBOX_AGENT_SANDBOX_H
#define KEEL_SDK_SANDBOX_AGENT_SANDBOX_H

#include "config/settings.h"
#include "port/event_stream.h"
#include "sandbox/proxy/proxy.h"
#include "sdk/sandbox/policy.h"
#include "sys/task.h"

struct agent_sandbox_options {
    struct policy_source source;
    struct event_stream *notices; /* for the person; may be NULL */
    /* The directory for temporary files is there; may be NULL. */
    void (*on_tmp_dir)(void *self, const char *path);
    void *tmp_self;
    /* Where it cannot be built, a model reads why: what it is to know besides, and the person is
     * told as well. NULL: the person reads the error itself. */
    const char *remedy;
    const struct net_rules *network; /* what commands may speak to, borrowed; NULL: nothing */
    const char *const *environment;  /* with the person's own proxy */
    /* Starts supervisors ahead, and has ended before agent_sandbox_done(). NULL: they are not. */
    struct group *tasks;
    bool is_off;
    bool require_full;  /* where a protection cannot be had, no command runs */
    bool is_for_one;    /* no second command will come */
    bool no_namespaces; /* as if they could not be made */
};

/* One of two ways in which commands are confined, with the policy in use. */
struct agent_walls;

/* For commands that only look: they change nothing, send nothing, and see what Read shows
 * without a question (docs/sandbox.md). There is none where the sandbox is off. */
struct agent_looker {
    struct launcher launcher;
    struct agent_sandbox *of;
    bool is_explained; /* what it does not see, to the model */
};

struct agent_sandbox {
    struct launcher launcher; /* what tools are given */
    struct agent_looker looker;
    struct agent_sandbox_options options;
    /* the rest is private */
    struct dir_watches *watches;            /* the directories, for all that have to know them */
    struct policy_maker *maker;             /* NULL: none is needed yet, or any more */
    char *tmp_dir;                          /* NULL: no command was started yet */
    struct proxy *proxy;                    /* NULL: no command needs one */
    struct group proxy_tasks;               /* its connections */
    bool proxy_rests;                       /* its tasks are cancelled */
    struct agent_walls *walls, *look_walls; /* the same */
    struct agent_walls *last;               /* that a command was started in; NULL: none was */
    enum sandbox_way way, look_way; /* how commands are confined: once one has run, as it was */
    bool has_started;               /* a command, since the last answer */
    bool has_told_weakness, has_told_tmp_dir;
    char *told_refusal; /* to the person: why a command did not run; NULL: nothing yet */
    unsigned explained; /* refusals, to the model */
    struct chan *turn;  /* holds something while a command is started or looked after */
};

/* Starts nothing and looks at nothing. What the options borrow must outlive it. */
void agent_sandbox_init(struct agent_sandbox *s, const struct agent_sandbox_options *options);
/* The directories as its commands know them, for others to share; live as long as the sandbox. */
struct dir_watches *agent_sandbox_watches(struct agent_sandbox *s);
/* Finishes what keels that ended while a command ran could not, and tells the person. In a task. */
void agent_sandbox_recover(struct agent_sandbox *s);
/* No command will come for a while: gives back walls, watches, the proxy and what is known of
 * directories. The next one is prepared like the first. False: commands run. */
bool agent_sandbox_rest(struct agent_sandbox *s);
/* After the last command has ended. In a task; waits even when that is cancelled. */
void agent_sandbox_done(struct agent_sandbox *s);
DEFINE_AUTO_VAL(agent_sandbox, agent_sandbox_done)

/* Can commands be confined here, and are they to be? May block for some milliseconds. */
bool sandbox_is_there(const struct settings *s);

#endif
