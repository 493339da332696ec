/* run_state.h - a run while it runs: what the files of the engine share, and only they.
 *
 *     run.c             from the prompt to the result
 *     turn.c            the rounds: ask, run the tools, repeat
 *     plan.c            the plan of a round: targets, tools, mode
 *     window.c          how full the context window is
 *     ask.c             one answer of the model: targets and attempts (ask_state.h)
 *     reserve.c         what a request may take
 *     account.c         what it took
 *     refused_media.c   files as providers take them, and those that they refuse
 *     answer.c          is an answer the end of the turn?
 *     final.c           the forced last turn
 *     early.c           calls that run while their answer still streams in
 *     batch.c           the tool calls of one answer, in their order
 *     call_judge.c      may a call run?
 *     call.c            one call: run, and its result
 *     child.c           runs that a call starts
 *     fit.c             results that are too long for the context
 *     shorten.c         a history without some of its messages
 *     news.c            what happened beside the run
 *     hide.c            credentials, kept out of everything
 *     hook_points.c     a person's hooks: at the prompt, after tools, at the end
 *     plugins.c         plugins, around all of it
 *     save_points.c     files as they were before a call, and after it
 *     emit.c            events, and the history that follows from them */
#ifndef KEEL_ENGINE_RUN_STATE_H
#define KEEL_ENGINE_RUN_STATE_H

#include "base/uuid.h"
#include "engine/hide.h"
#include "engine/ledger.h"
#include "engine/run.h"
#include "port/runner.h"

struct call;
struct early;

struct run {
    struct conversation *conversation;
    const struct run_input *input;
    const struct run_kit *kit;
    const struct run_keeper *keeper;
    const struct run_policy *policy;
    struct run_result *result;
    const struct random *random;
    const struct secrets *secrets; /* the kit's; NULL: none are known */
    struct message *prompt;        /* without credentials; NULL: the run continues the history */
    struct plugin **plugins;       /* by priority */
    struct arena arena;            /* as long as the run */
    struct owner call;             /* of the parent's that started it */
    struct owner node, agent, execution;
    struct event_place place;             /* what its events say; round and attempt of now */
    const struct secrets *secrets_before; /* of the stream */
    char id[UUID_TEXT_SIZE];
    uint64_t started_ms;
    int64_t total_microcents; /* with all child runs */
    bool is_stopping;         /* run_stop() was called */
    bool has_turn;            /* the history's last turn is this run's, not an earlier one's */

    /* of this round */
    const struct run_plan *plan;
    struct tool_set *tools;        /* what the model sees */
    struct tool_filter filter;     /* that made it */
    const struct json *told_tools; /* that `tools` are made of */
    const char *told_note;         /* of the plan; NULL: none */
    int64_t head_tokens;           /* what system text and tools take */
    struct str counted_system;     /* that is in it */
    /* of answers that reached the output limit, and that the next ones continue (answer.c) */
    unsigned n_continued;
    struct strbuf continued; /* their text */
    bool is_continuing;
    bool was_empty;     /* the last answer */
    unsigned n_unread;  /* answers in a row whose calls the provider could not read */
    unsigned n_misfits; /* answers in a row that did not fit their schema */
    bool has_made_room; /* for an overflow that a provider has reported */
    unsigned needs;     /* of tools, that can be met */
    struct chain chain;
    uint32_t told_unfit;    /* targets that were reported as too small */
    enum stop stop;         /* of the last answer */
    struct str stop_detail; /* what its provider adds to that; empty: nothing */
    struct str call_answer; /* that a call of the last batch gave (TOOL_ANSWER); empty: none did */
    struct early
        *early; /* calls of the answer that comes, or has just come; NULL: none may begin */

    /* guards */
    unsigned n_corrections;    /* wrong arguments in a row */
    bool called_unknown;       /* the last round called tools that are not there */
    struct str *unknown_names; /* of these rounds, each once */
    size_t n_unknown_names, unknown_names_room;
    bool stop_hook_active;         /* a hook has made the model continue */
    unsigned n_stop_blocks;        /* how often, in this run */
    enum final_reason must_finish; /* the next round is the last */
    bool is_ended;                 /* a call has ended the run: no other call begins */
};

/* --- emit.c --- */

/* Fills in all of the event but its body. */
void run_emit(struct run *r, enum event_type type, struct event *e);
void run_emit_message(struct run *r, enum event_type type, const struct message *m);
/* A warning that credentials were removed from `where`, if there were any. */
void run_report_hidden(struct run *r, uint64_t found, struct str where);
/* The recorder begins to make what was emitted that safe. Does not wait for it. */
void run_hurry(struct run *r, enum recorder_safety safety);
/* Waits until all that was emitted is that safe. */
MUST_USE struct err *run_wait(struct run *r, enum recorder_safety safety);
MUST_USE struct err *run_sync(struct run *r); /* until it is durable */
/* Emits the message and appends it to the history. */
void run_append(struct run *r, struct message *m);
int64_t run_unix_ms(void);
struct str run_new_id(struct run *r, char id[UUID_TEXT_SIZE]);
/* A new entry in the result's accounting. */
struct accounting_entry *run_account(struct run *r);

/* --- plugins.c --- */

void plugins_sort(struct run *r);
/* May refuse the prompt (an error) or replace its text. */
MUST_USE struct err *plugins_before_run(struct run *r, struct message **prompt);
void plugins_after_run(struct run *r);
void plugins_on_error(struct run *r, const struct err *e);
void plugins_on_chunk(struct run *r, const struct delta *d);
/* The budget too, which then counts the call. */
MUST_USE struct err *plugins_before_tool(struct run *r, const struct event_tool *call);
void plugins_after_tool(struct run *r, const struct event_tool *result);

/* --- hook_points.c --- */

/* Another text and the same files. */
void run_replace_prompt(struct run *r, struct message **prompt, struct str text);
/* May block the prompt (an error) or add to it. */
MUST_USE struct err *hook_prompt(struct run *r, struct message **prompt);
/* What hooks said of it before it ran. An error ends the run. */
MUST_USE struct err *hook_tool_judged(struct call *c);
/* What hooks say of its result goes to the model with it. */
MUST_USE struct err *hook_tool_done(struct call *c);
/* The model has answered. *ret_reason: why it must continue; empty: it need not. */
MUST_USE struct err *hook_stop(struct run *r, struct str answer, struct str *ret_reason);
/* The same in a forced last turn, which nothing can follow. */
MUST_USE struct err *hook_last_stop(struct run *r, struct str answer);
void hook_failure(struct run *r, const struct err *e);

/* --- refused_media.c --- */

struct media_limits run_media_limits(const struct run_plan *plan); /* of its first target */
/* Files of a tool's result as the provider takes them. */
MUST_USE struct err *run_fit_result(const struct run_plan *plan, struct tool_result *result);

/* --- save_points.c --- */

/* An error keeps the call from running: it was cancelled. */
MUST_USE struct err *save_before(struct call *c);
void save_after(struct call *c);
void save_at_end(struct run *r);

/* --- turn.c --- */

MUST_USE struct err *turn_run(struct run *r);
unsigned run_max_rounds(const struct run *r);         /* RUN_UNLIMITED: no limit */
struct compactor *run_compactor(const struct run *r); /* NULL: this run has none */
/* Has the compactor look at the history, with the plan of the coming round. */
MUST_USE struct err *run_compact(struct run *r);

/* --- plan.c --- */

/* Reads targets, mode and tools as they are now. */
void run_refresh_plan(struct run *r);

/* --- window.c --- */

int64_t target_window(const struct target *t);
struct token_estimate run_estimate(struct run *r);
/* What system text and tools take of a window. */
int64_t plan_head_tokens(const struct run_plan *plan, const struct tool_set *tools);
/* Would a request of that many tokens be sent to this target? */
bool run_fits(const struct run *r, const struct target *t, int64_t n_tokens);
void run_emit_context(struct run *r);
/* ERR_CONTEXT_OVERFLOW: the next request fits no target, and is not sent. */
MUST_USE struct err *window_check(struct run *r);
/* Is there only room for one last answer? */
bool window_needs_reserve(struct run *r);

/* --- answer.c --- */

/* Is an answer without calls the end of the turn? *ret_continues: no, the model was asked to go on
 * or to mend it. An error: it never can be. The result's text is all of the answer. */
MUST_USE struct err *answer_check(struct run *r, const struct message *answer, bool *ret_continues);
/* Does the result's text fit its schema? If not, the model is asked again, as often as the policy
 * allows. */
MUST_USE struct err *answer_fit(struct run *r, bool *ret_continues);
/* The same without asking again. */
MUST_USE struct err *answer_validate(struct run *r, struct str text);
/* What was cut off or empty is over: the model has called tools, or its answer was taken. */
void answer_reset(struct run *r);
/* For a run without a prompt: finds in the history what an earlier process had asked again for. */
void answer_resume(struct run *r);

/* --- news.c --- */

/* Before the model is asked: adds what it should know. Was there anything? */
bool news_add(struct run *r);
/* The model has answered: waits for what is under way. *ret_continues: there is news for the model,
 * which `may_ask` and the limit of rounds let answer once more. */
MUST_USE struct err *news_await(struct run *r, bool may_ask, bool *ret_continues);

/* --- ask.c --- */

struct final_turn {
    enum final_reason reason;
    struct str instruction;
};
/* Asks, and commits what came; `final` is NULL in an ordinary round. The message is borrowed from
 * the history. With an error it is what had come, or NULL. */
MUST_USE struct err *ask_model(struct run *r, const struct final_turn *final,
                               const struct message **ret_message);

/* --- final.c --- */

MUST_USE struct err *final_turn(struct run *r, enum final_reason reason);

/* --- batch.c --- */

MUST_USE struct err *batch_run(struct run *r, const struct message *answer);
/* Ends the open calls of the last answer without running any: it did not come whole, the run ends,
 * or a new prompt has overtaken them. */
void batch_close(struct run *r);

/* --- early.c --- */

/* An attempt begins; early_end() follows, at the latest at the end of its round. */
void early_begin(struct run *r);
/* A call of the answer has come whole. May wait while it is judged. */
void early_offer(struct run *r, const struct part *part, size_t index);
/* No further call of the answer is begun. */
void early_close(struct run *r);
/* The answer is in the history: what was begun counts, if these are its calls. */
void early_accept(struct run *r, const struct message *answer);
/* Was this call, which may run now, begun with the same verdict? */
bool early_has(const struct call *c);
/* Instead of running such a call: waits for its result. */
MUST_USE struct err *early_take(struct call *c, bool *ret_expired);
/* Ends what is under way, and drops what was not taken. */
void early_end(struct run *r, enum err_kind why);

/* --- call.c, call_judge.c --- */

struct call {
    struct run *run;
    struct str batch_id;
    size_t index;
    const struct part *part;
    struct owner owner;
    struct arena arena;
    struct verdict verdict;
    const struct json *shown_args; /* the verdict's, without credentials */
    struct tool_result result;
    bool is_requested, has_begun, has_ended; /* events that were emitted */
    bool is_ready;                           /* was allowed and is to run */
    bool is_early;                           /* already runs: early.c has it */
    struct tool_state *draft;                /* of an early one; NULL: the conversation's */
    bool was_executed, is_suspended;
    bool is_held;         /* was allowed, and stays open: one before it waits for an answer */
    struct str hook_text; /* what hooks have added to the tool's result */
    size_t hook_text_at;  /* where it begins in the result */
    bool stops_run;       /* a hook said so */
    struct str refusal;   /* see struct event_tool */
    const char *refusal_code;
    const char *code;      /* error code; NULL: success */
    struct json *metadata; /* in the arena */
    uint64_t duration_ms;
    const struct answer *answer;         /* to what it asked before, or NULL */
    const struct given_outcome *outcome; /* of an earlier process's try, or NULL */
    struct err *not_begun;               /* why its tool must not begin: the journal failed */
    struct err *ends_run;                /* why the run ends with it; NULL: it does not */
    struct secrets_stream progress;
    struct snapshot *snapshot;       /* while it runs; NULL: nothing was saved */
    struct write_observer *observer; /* of the commands it starts; a reference, or NULL */
    size_t n_children;               /* that it has begun */
};
void call_init(struct call *c, struct run *r, struct str batch_id, size_t index,
               const struct part *part);
void call_done(struct call *c);

/* Judges it and emits its request, whatever the verdict. One that is held does not run. An error
 * ends the run. */
MUST_USE struct err *call_prepare(struct call *c, bool is_held);
/* It was to run, and one before it waits for an answer. */
void call_hold(struct call *c);
/* Judges it without any event; *ret_runs: it would run now, without a question. */
MUST_USE struct err *call_foresee(struct call *c, bool *ret_runs);
/* Instead of judging and running it: emits its request, unless that was done. It may have a result
 * of an earlier process. */
void call_request(struct call *c);

/* A task: runs it. One that was interrupted before has not begun. */
MUST_USE struct err *call_run(void *call);
/* Runs its tool and nothing else, without any event. */
MUST_USE struct err *call_run_tool(struct call *c, bool *ret_expired);
/* A call without a result gets one that says that it was not run. */
void call_skip(struct call *c, bool is_interrupted);
/* Its result becomes a failure with this code. */
void call_fail(struct call *c, enum err_kind code, struct str text);
void call_fail_with(struct call *c, const char *code, struct str text);
void call_show_progress(struct call *c, struct str text); /* for people */
struct event_tool call_event(struct call *c);
struct part call_result_part(struct call *c); /* borrows from the call */
struct json *call_metadata(struct call *c);
/* Takes credentials out of the result. */
void call_hide_secrets(struct call *c);

/* --- child.c --- */

struct run *run_root(struct run *r); /* the outermost one */
/* May a run below `parent` have child runs of its own? NULL: it has no parent. */
bool can_delegate_below(const struct run *parent);
bool run_can_delegate(const struct run *r);
/* For a struct runner, whose `self` is the call. */
MUST_USE struct err *call_run_child(void *call, const struct child_spec *spec,
                                    struct run_result *ret_result);

/* --- fit.c --- */

struct result_budget {
    int64_t used, window; /* tokens */
    /* Shares of the window that results may fill: as the ledger counts them, if they are dense */
    int likely_per_mille, most_per_mille;
    bool is_strict; /* after the first that does not fit, the others are only named */
    bool is_spent;  /* there was one */
};
/* For the results of these calls. Where a compaction can make the room that they need, they get
 * what there will be after it: it comes before the next request. */
struct result_budget fit_budget(struct run *r, const struct call *calls, size_t n);
void fit_result(struct call *c, struct result_budget *budget);

/* --- account.c --- */

void account_attempt(struct run *r, const struct attempt *attempt, const struct settlement *s);
/* What a child took in this process is counted with its parent. */
void account_child(struct run *r, const struct run_result *x);

#endif
