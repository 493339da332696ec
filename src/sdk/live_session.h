/* live_session.h - a session while people or programs work in it: prompts that arrive during a run,
 * interrupts, questions that are answered elsewhere, settings that change.
 *
 * Every face is a caller of this: one prompt of `keel -p` (cli/print/print.c), lines on standard
 * input (cli/lines/input.h), a terminal, a client over the network. A face reads what its person
 * does and calls a function; how it looks is not known here. One loop; any task of it may call at
 * any time.
 *
 *     live_session_open()       the session is there, and idle: it has no task
 *     live_session_submit()     prompts are answered one after another, each by a run
 *     live_session_interrupt()  the run under way ends, the conversation continues
 *     live_session_answer()     to a question, by its id
 *     live_session_finish()     no more prompts or answers come; until all prompts are answered
 *     live_session_done()       also in the middle of a run
 *
 * Events come through the session's one stream (port/event_stream.h), whoever caused them: to
 * agent_options.subscriber from the opening on, to others from session_subscribe() on. They tell
 * what a run does, its questions and their answers (asked, answered), its result, and what changes
 * between runs: mode (tool_state), model and name (session_changed), commands in the background,
 * notices. The queue is not in there: a prompt is an event when its run begins, and one that is
 * dropped leaves no trace. */
#ifndef KEEL_SDK_LIVE_SESSION_H
#define KEEL_SDK_LIVE_SESSION_H

#include "port/question_board.h"
#include "sdk/agent/agent.h"

/* What a face does at the borders of a run, in its task. Each may be NULL. */
struct live_face {
    void (*on_begin)(void *self);
    /* The last event was heard before this, and what is not durable by now will never be. An error
     * of the result may be taken. */
    void (*on_end)(void *self, struct run_result *result);
    void *self;
};

struct live_options {
    struct agent_options agent;
    struct live_face face;
    /* Who shows questions; `refuses` says which it cannot. NULL: agent.asker answers them. */
    const struct question_face *questions;
    /* live_session_set_mode() may switch permissions off; also where the session begins so. */
    bool allows_bypass;
};

/* A prompt that waits for the runs before it. */
struct live_prompt {
    struct message *message; /* NULL: continue where the last run stopped */
    const struct live_prompt *next;
};

struct live_session {
    struct agent *agent;
    /* What every run is asked besides its prompt: schema, limits, answers. Filled in by the owner
     * before the first prompt, and borrowed. */
    struct run_input input;
    /* the rest is private */
    struct live_face face;
    struct question_board board;
    struct queued_prompt *first, *last;
    size_t n_queued, n_queued_bytes;
    struct live_submitter *submitters; /* that wait for room, in the order in which they came */
    struct group tasks;                /* one task while there are prompts to answer */
    struct group *run;                 /* of the run under way; NULL: none is */
    bool allows_bypass, is_answering, is_finishing, has_tasks;
};

/* In a task. Whatever comes of it, live_session_done() must follow. */
MUST_USE struct err *live_session_open(struct live_session *l, struct project *project,
                                       const struct live_options *options);
/* In any task, when no other one waits in a call. Ends the run under way as an interrupt does,
 * and drops prompts that wait; then ends the agent and its session. */
void live_session_done(struct live_session *l);
DEFINE_AUTO_VAL(live_session, live_session_done)

/* Takes a prompt, in any case, for its turn. Waits while 256 prompts or 64 MiB of them wait, so
 * that a face stops reading; one always may. NULL: continue where the last run stopped. `typed` is
 * what of it the person typed (agent_note_typed()), and may be empty. ERR_VALIDATION: the session
 * is finishing. */
MUST_USE struct err *live_session_submit(struct live_session *l, struct message *take_message,
                                         struct str typed);
/* The first prompt whose run has not begun; NULL: none waits. Until the next wait. */
const struct live_prompt *live_session_queue(const struct live_session *l);

/* Ends the run under way, whatever it waits for: a hook, the model, a tool, an answer. Its
 * questions are withdrawn, its calls get results that say so, and its result is RUN_INTERRUPTED.
 * Prompts that wait stay, and the next one begins. Without a run, nothing happens: a prompt that
 * was submitted just now is not interrupted. */
void live_session_interrupt(struct live_session *l);

/* What was said to a question, for the face's read(); copied. False: it was answered already, or
 * withdrawn. */
bool live_session_answer(struct live_session *l, struct str question_id, const struct json *said);

/* Counts from the next round. ERR_VALIDATION: there is no such mode, or permissions may not be
 * switched off. What else may be changed during a run is in agent.h. */
MUST_USE struct err *live_session_set_mode(struct live_session *l, struct str name);

/* The face has gone: no prompt comes any more, and questions, open ones too, are answered by
 * nobody. Returns when the prompts that were submitted are answered. Interrupted, it ends the run
 * under way and leaves the rest; nothing runs when it returns. */
MUST_USE struct err *live_session_finish(struct live_session *l);

#endif
