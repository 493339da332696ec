/* run_state.h - a run while it runs: what the files of the engine share, and only they.
 *
 *     run.c      from the prompt to the result
 *     turn.c     the rounds: ask, run the tools, again
 *     ask.c      one answer of the model: targets and attempts, and what came committed
 *     window.c   how full the context window is
 *     refused_media.c  files: as providers take them, and those that they refuse
 *     reserve.c  what a request may take
 *     account.c  what it took
 *     final.c    the forced last turn
 *     early.c    calls that run while the answer still comes
 *     news.c     what happened beside the run
 *     batch.c    the tool calls of one answer, in their order, results too
 *     call.c     one tool call: judged, run, its result
 *     child.c    runs that a call starts
 *     fit.c      results that are too long for the context
 *     shorten.c  a history that is told without some of it
 *     answer.c   an answer that must fit a schema
 *     hide.c     credentials are kept out of it
 *     plugins.c  plugins, around all of it
 *     hook_points.c  a person's hooks: at the prompt, after tools, at the end
 *     save_points.c  files as they were: before a call, after it
 *     emit.c     events */
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
    struct message *prompt;        /* as the run takes it; NULL: it continues */
    struct plugin **plugins;       /* by priority */
    struct arena arena;            /* as long as the run */
    struct owner call;             /* of the parent's that started it */
    struct owner node, agent, execution;
    struct event_place place;             /* what its events say; round and attempt of now */
    const struct secrets *secrets_before; /* of the stream */
    char id[UUID_TEXT_SIZE];
    uint64_t started_ms;
    int64_t total_microcents; /* with all child runs */
    bool is_stopping;         /* run_stop() */
    bool has_turn;            /* the history's last turn is this run's, not an earlier one's */

    /* of this round */
    const struct run_plan *plan;
    struct tool_set *tools;        /* what the model sees */
    struct tool_filter filter;     /* that made it */
    const struct json *told_tools; /* that `tools` are made of */
    const char *told_note;         /* of the plan; NULL: none */
    int64_t head_tokens;           /* what system text and tools take */
    struct str counted_system;     /* that is in it */
    /* of answers that reached the output limit, and go on in the next (unfinished.c) */
    unsigned n_continued;
    struct strbuf continued; /* their text */
    bool is_continuing;
    bool was_empty;     /* the last answer */
    unsigned n_unread;  /* answers in a row whose calls the provider could not read */
    unsigned n_misfits; /* answers in a row that did not fit their schema */
    bool has_made_room; /* for the overflow that a provider has told of */
    unsigned needs;     /* that can be met */
    struct chain chain;
    uint32_t told_unfit;     /* targets of which the person knows that they are too small */
    enum stop stop;          /* of the last answer */
    struct str stop_detail;  /* what its provider adds to that; empty: nothing */
    struct str call_answer;  /* that a call of the last batch gave (TOOL_ANSWER); empty: none did */
    struct early
        *early; /* calls of the answer that comes, or has just come; NULL: none may begin */

    /* guards */
    unsigned n_corrections;    /* wrong arguments in a row */
    bool called_unknown;       /* the last round called tools that are not there */
    struct str *unknown_names; /* of these rounds, each once */
    size_t n_unknown_names, unknown_names_room;
    bool stop_hook_active;         /* a hook has made the model go on */
    unsigned n_stop_blocks;        /* how often, in this run */
    enum final_reason must_finish; /* the next turn is the last */
    bool is_ended;                 /* a call has ended the run: no other one begins */
};

/* emit.c */
void run_emit(struct run *r, enum event_type type, struct event *e); /* fills in all but the body */
/* Has the recorder begin to make what was emitted so safe, and continues. */
void run_hurry(struct run *r, enum recorder_safety safety);
/* Waits until all that was emitted is durable. */
MUST_USE struct err *run_sync(struct run *r);
/* Waits until all that was emitted is as safe as that. */
MUST_USE struct err *run_wait(struct run *r, enum recorder_safety safety);
void run_emit_message(struct run *r, enum event_type type, const struct message *m);
/* Appends to the history and tells so. */
void run_append(struct run *r, struct message *m);
int64_t run_unix_ms(void);
struct str run_new_id(struct run *r, char id[UUID_TEXT_SIZE]);
/* Tells of credentials that were taken out of a message, if there were any. */
void run_tell_hidden(struct run *r, uint64_t found, struct str where);

/* plugins.c */
void plugins_sort(struct run *r);
/* May refuse the prompt (an error) or replace its text. */
MUST_USE struct err *plugins_before_run(struct run *r, struct message **prompt);
void plugins_after_run(struct run *r);
void plugins_on_error(struct run *r, const struct err *e);
void plugins_on_chunk(struct run *r, const struct delta *d);
/* And the budget, which counts the call then. */
MUST_USE struct err *plugins_before_tool(struct run *r, const struct event_tool *call);
void plugins_after_tool(struct run *r, const struct event_tool *result);

/* hook_points.c */
/* Another text, and the same files. */
void run_replace_prompt(struct run *r, struct message **prompt, struct str text);
/* May block the prompt (an error) or add to it. */
MUST_USE struct err *hook_prompt(struct run *r, struct message **prompt);
/* What they said before it ran: an error ends the run. */
MUST_USE struct err *hook_tool_judged(struct call *c);
/* What they say of a call goes to the model with its result. */
MUST_USE struct err *hook_tool_done(struct call *c);
/* The model has answered; *ret_reason is set when it must go on. */
MUST_USE struct err *hook_stop(struct run *r, struct str answer, struct str *ret_reason);
/* The same for a forced last turn: nothing can follow it. */
MUST_USE struct err *hook_last_stop(struct run *r, struct str answer);
void hook_failure(struct run *r, const struct err *e);

/* refused_media.c */
struct media_limits run_media_limits(const struct run_plan *plan); /* of its first target */
/* Files of a tool's result as the provider takes them. */
MUST_USE struct err *run_fit_result(const struct run_plan *plan, struct tool_result *result);

/* save_points.c */
/* An error keeps the call from running: it was cancelled, or the journal is not durable. */
void call_show_progress(struct call *c, struct str text); /* for people */
MUST_USE struct err *save_before(struct call *c);
void save_after(struct call *c);
void save_at_end(struct run *r);

/* turn.c */
MUST_USE struct err *turn_run(struct run *r);
/* Targets, mode and tools, as they are now. */
void run_refresh_plan(struct run *r);
unsigned run_max_rounds(const struct run *r);         /* RUN_UNLIMITED: no cap */
struct compactor *run_compactor(const struct run *r); /* NULL: this run has none */
/* Lets the compactor look at the history, with the plan of the coming round. */
MUST_USE struct err *run_compact(struct run *r);

/* unfinished.c */
/* Is an answer without calls the end of the turn? An error: it is a bad one; *ret_goes_on: the
 * model was asked to continue, or to mend it. The result's text is all of the answer. */
MUST_USE struct err *unfinished_check(struct run *r, const struct message *answer,
                                      bool *ret_goes_on);
/* Does the result's text fit its schema? If not, the model is asked again, as often as the policy
 * lets it. */
MUST_USE struct err *unfinished_fit(struct run *r, bool *ret_goes_on);

/* What was cut off or empty is behind: the model has called tools, or its answer was taken. */
void unfinished_reset(struct run *r);
/* For a run without a prompt: finds in the history what an earlier process had asked again for. */
void unfinished_resume(struct run *r);

/* news.c */
/* Before the model is asked: what it should know by then. Was there something? */
bool news_tell(struct run *r);
/* The model has answered: waits for what is under way. *ret_goes_on: there is news, it has been
 * told, and `may_ask` and the limit of rounds let the model answer once more. */
MUST_USE struct err *news_await(struct run *r, bool may_ask, bool *ret_goes_on);

/* ask.c */
struct final_turn {
    enum final_reason reason;
    struct str instruction;
};
/* Asks and commits what came; `final` is NULL in an ordinary round. The message is borrowed from
 * the history. With an error it is what had come, or NULL. */
MUST_USE struct err *ask_model(struct run *r, const struct final_turn *final,
                               const struct message **ret_message);
int64_t target_window(const struct target *t);
struct token_estimate run_estimate(struct run *r);
/* What system text and tools take of a window. */
int64_t plan_head_tokens(const struct run_plan *plan, const struct tool_set *tools);
/* Would a request of so many tokens be sent to this target? */
bool run_fits(const struct run *r, const struct target *t, int64_t n_tokens);
void run_emit_context(struct run *r);

/* final.c */
MUST_USE struct err *final_turn(struct run *r, enum final_reason reason);

/* batch.c */
MUST_USE struct err *batch_run(struct run *r, const struct message *answer);
/* Ends the open calls of the last answer without running any: it did not come whole, the run ends,
 * or a new prompt has overtaken them. */
void batch_close(struct run *r);

/* early.c; see there */
/* An attempt begins; it ends with early_end(), at the latest when its round does. */
void early_begin(struct run *r);
/* A call of the answer has come whole. May wait, for whoever judges it. */
void early_offer(struct run *r, const struct part *part, size_t index);
/* No further call of the answer is begun. */
void early_close(struct run *r);
/* The answer is in the history: what was begun counts, if these are its calls. */
void early_accept(struct run *r, const struct message *answer);
/* Was a call that may run now begun, as it was judged now? */
bool early_has(const struct call *c);
/* Instead of running such a call: waits for what it gives. */
MUST_USE struct err *early_take(struct call *c, bool *ret_expired);
/* Ends what is under way, and drops what was not taken. */
void early_end(struct run *r, enum err_kind why);

/* call.c */
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
    bool is_requested, has_begun, has_ended; /* events that were told */
    bool is_ready;                           /* was allowed and shall run */
    bool is_early;                           /* runs already: early.c has it */
    struct tool_state *draft;                /* instead of the session, of one that does */
    bool was_executed, is_suspended;
    bool is_held;         /* was allowed, and stays open: one before it waits for an answer */
    struct str hook_text; /* what hooks have added to what the tool gave */
    size_t hook_text_at;  /* where it begins in the result */
    bool stops_run;       /* a hook said so */
    struct str refusal;   /* see struct event_tool */
    const char *refusal_code;
    const char *code;      /* error code of a result that is no success */
    struct json *metadata; /* in the arena */
    uint64_t duration_ms;
    const struct answer *answer;         /* to what it asked before, or NULL */
    const struct given_outcome *outcome; /* of an earlier process's try, or NULL */
    struct err *ends_run;                /* a hook has said so */
    struct secrets_stream progress;
    struct snapshot *snapshot;       /* while it runs; NULL: nothing was saved */
    struct write_observer *observer; /* of the commands it starts; a reference, or NULL */
    size_t n_children;               /* that it has begun */
};
void call_init(struct call *c, struct run *r, struct str batch_id, size_t index,
               const struct part *part);
void call_done(struct call *c);
/* Judges it and tells of it, whatever the verdict; if it is held it does not run. An error ends the
 * run. */
MUST_USE struct err *call_prepare(struct call *c, bool is_held);
/* It was to run, and one before it waits for an answer. */
void call_hold(struct call *c);
/* Judges it without anybody hearing of it; *ret_runs: it would run now, without a question, and
 * only look. */
MUST_USE struct err *call_foresee(struct call *c, bool *ret_runs);
/* Runs its tool, and nothing else: no event tells of it. */
MUST_USE struct err *call_run_tool(struct call *c, bool *ret_expired);
/* A task: runs it. One that was interrupted before has not begun. */
MUST_USE struct err *call_run(void *call);
/* Instead of both: tells of it, if that was not done; it may have a result of an earlier process.
 */
void call_request(struct call *c);
/* Gives a call that has no result yet one that says that it was not run. */
void call_skip(struct call *c, bool is_interrupted);
struct event_tool call_event(struct call *c);
struct part call_result_part(struct call *c); /* borrows from the call */
/* The result becomes a failure with this code. */
void call_fail(struct call *c, const char *code, struct str text);
struct json *call_metadata(struct call *c);
/* Takes credentials out of the result. */
void call_hide_secrets(struct call *c);

/* child.c */
struct run *run_root(struct run *r); /* the outermost one */
/* May there be one more run inside of these? `parent` may be NULL. */
bool can_delegate_below(const struct run *parent);
bool run_can_delegate(const struct run *r);
/* For a struct runner, whose `self` is the call. */
MUST_USE struct err *call_run_child(void *call, const struct child_spec *spec,
                                    struct run_result *ret_result);

/* fit.c */
struct result_budget {
    int64_t used, window; /* tokens */
    /* Of the window: so far results may fill it, as the ledger counts them and if they are dense */
    int likely_per_mille, most_per_mille;
    bool is_strict; /* after the first one that does not fit, the others are only named */
    bool is_spent;  /* there was one */
};
/* For the results of these calls. Where they need more room than there is and a compaction can make
 * it, they get what there is after it: it comes before the next request. */
struct result_budget fit_budget(struct run *r, const struct call *calls, size_t n);
void fit_result(struct call *c, struct result_budget *budget);

/* answer.c */
MUST_USE struct err *answer_check(struct run *r, struct str text);

/* account.c */
void account_attempt(struct run *r, const struct attempt *attempt, const struct settlement *s);
/* What a child took in this process counts as its parent's. */
void account_child(struct run *r, const struct run_result *x);

/* accounting, in emit.c */
struct accounting_entry *run_account(struct run *r);

#endif
