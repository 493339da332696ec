/* map.c - the table of all views, with the reasons for what they omit. */
#include "view/map.h"

#define NOT_SHOWN ""

static const char *const names[EVENT_N_TYPES][VIEW_N] = {
    [EVENT_SESSION_BEGIN] =
        {
            [VIEW_SESSION_LOG] = "session_init",
            [VIEW_INTERACTIVE] = NOT_SHOWN, /* the client opened it */
            [VIEW_EMITTER] = "agent.session_start",
            [VIEW_LIBRARY] = NOT_SHOWN, /* the library has only runs */
            [VIEW_RUN_EVENTS] = "session:started",
            [VIEW_STREAM_JSON] = NOT_SHOWN, /* each run begins with its own init */
            [VIEW_OPERATOR_LOG] = "session_begin",
        },
    [EVENT_RUN_BEGIN] =
        {
            [VIEW_SESSION_LOG] = "run_begin",
            [VIEW_INTERACTIVE] = "thinking",
            [VIEW_EMITTER] = "agent.created task.started execution.start",
            [VIEW_LIBRARY] = "progress",
            [VIEW_RUN_EVENTS] = "run:started node:started session:turn_started",
            [VIEW_STREAM_JSON] = "system/init",
            [VIEW_OPERATOR_LOG] = "run_begin",
        },
    [EVENT_USER_INPUT] =
        {
            [VIEW_SESSION_LOG] = "user_input",
            [VIEW_INTERACTIVE] = NOT_SHOWN, /* the client submitted it */
            [VIEW_EMITTER] = "user.input",
            [VIEW_LIBRARY] = NOT_SHOWN,      /* the caller's own words */
            [VIEW_RUN_EVENTS] = NOT_SHOWN,   /* run:started has the input */
            [VIEW_STREAM_JSON] = NOT_SHOWN,  /* the reference repeats no prompt */
            [VIEW_OPERATOR_LOG] = NOT_SHOWN, /* it has no texts of people */
        },
    [EVENT_PRE_RUN] =
        {
            [VIEW_SESSION_LOG] = "pre_run",
            [VIEW_INTERACTIVE] =
                NOT_SHOWN, /* nothing that a person waits for, as the run has begun before this */
            [VIEW_EMITTER] = "execution.ready",
            [VIEW_LIBRARY] = NOT_SHOWN,      /* no such name there */
            [VIEW_RUN_EVENTS] = NOT_SHOWN,   /* run:started has the input */
            [VIEW_STREAM_JSON] = NOT_SHOWN,  /* init came before */
            [VIEW_OPERATOR_LOG] = NOT_SHOWN, /* it has no texts of people */
        },
    [EVENT_TOOLS_CHANGED] =
        {
            [VIEW_SESSION_LOG] = "tools_changed",
            [VIEW_INTERACTIVE] = NOT_SHOWN, /* no news for a person */
            [VIEW_EMITTER] = "agent.tools_changed",
            [VIEW_LIBRARY] = NOT_SHOWN,      /* each request lists its tools */
            [VIEW_RUN_EVENTS] = NOT_SHOWN,   /* no such name there */
            [VIEW_STREAM_JSON] = NOT_SHOWN,  /* init lists the tools */
            [VIEW_OPERATOR_LOG] = NOT_SHOWN, /* useful in the session's log */
        },
    [EVENT_CONTEXT] =
        {
            [VIEW_SESSION_LOG] = "context",
            [VIEW_INTERACTIVE] = "context_update",
            [VIEW_EMITTER] = "execution.context",
            [VIEW_LIBRARY] = NOT_SHOWN,      /* its log warns when a limit is near */
            [VIEW_RUN_EVENTS] = NOT_SHOWN,   /* no such name there */
            [VIEW_STREAM_JSON] = NOT_SHOWN,  /* readers sum up the usage */
            [VIEW_OPERATOR_LOG] = NOT_SHOWN, /* useful in the session's log */
        },
    [EVENT_COMPACTED] =
        {
            [VIEW_SESSION_LOG] = "context_compact",
            [VIEW_INTERACTIVE] = "context_update",
            [VIEW_EMITTER] = "execution.compacted",
            [VIEW_LIBRARY] = "log",
            [VIEW_RUN_EVENTS] = "session:compacted",
            [VIEW_STREAM_JSON] = "system/compact_boundary",
            [VIEW_OPERATOR_LOG] = "compacted",
        },
    [EVENT_FINAL_TURN] =
        {
            [VIEW_SESSION_LOG] = "final_turn",
            [VIEW_INTERACTIVE] = NOT_SHOWN, /* only the answer matters */
            [VIEW_EMITTER] = "execution.final_turn",
            [VIEW_LIBRARY] = "log",
            [VIEW_RUN_EVENTS] = NOT_SHOWN,   /* no such name there */
            [VIEW_STREAM_JSON] = NOT_SHOWN,  /* the result has forced_final_reason */
            [VIEW_OPERATOR_LOG] = NOT_SHOWN, /* the end of the run has it */
        },
    [EVENT_ATTEMPT_BEGIN] =
        {
            [VIEW_SESSION_LOG] = "attempt_begin",
            [VIEW_INTERACTIVE] = NOT_SHOWN, /* attempts do not concern a person */
            [VIEW_EMITTER] = "execution.attempt_start",
            [VIEW_LIBRARY] = "turn_started",
            [VIEW_RUN_EVENTS] = NOT_SHOWN,  /* cost:updated reports each attempt at its end */
            [VIEW_STREAM_JSON] = NOT_SHOWN, /* the request follows at once */
            [VIEW_OPERATOR_LOG] = "attempt_begin",
        },
    [EVENT_PROVIDER_REQUEST] =
        {
            [VIEW_SESSION_LOG] = "provider_request",
            [VIEW_INTERACTIVE] = NOT_SHOWN, /* wire */
            [VIEW_EMITTER] = "execution.provider_request",
            [VIEW_LIBRARY] = "log",
            [VIEW_RUN_EVENTS] = NOT_SHOWN, /* wire */
            [VIEW_STREAM_JSON] = "system/status",
            [VIEW_OPERATOR_LOG] = NOT_SHOWN, /* it has no contents */
        },
    [EVENT_NATIVE_PAYLOAD] =
        {
            [VIEW_SESSION_LOG] = "provider_native_raw_payload",
            [VIEW_INTERACTIVE] = NOT_SHOWN, /* wire */
            [VIEW_EMITTER] = "execution.provider_payload",
            [VIEW_LIBRARY] = "log",          /* TRC, on request */
            [VIEW_RUN_EVENTS] = NOT_SHOWN,   /* wire */
            [VIEW_STREAM_JSON] = NOT_SHOWN,  /* wire */
            [VIEW_OPERATOR_LOG] = NOT_SHOWN, /* it has no contents */
        },
    [EVENT_DELTA] =
        {
            [VIEW_SESSION_LOG] = "provider_stream_raw_delta text_delta server_tool",
            [VIEW_INTERACTIVE] = "text_delta",
            [VIEW_EMITTER] = "execution.stream_chunk",
            [VIEW_LIBRARY] = "output thinking",
            [VIEW_RUN_EVENTS] = "agent:token agent:reasoning",
            [VIEW_STREAM_JSON] = "assistant stream_event",
            [VIEW_OPERATOR_LOG] = NOT_SHOWN, /* it has no contents */
        },
    [EVENT_RESPONSE_RAW] =
        {
            [VIEW_SESSION_LOG] = "provider_response_raw",
            [VIEW_INTERACTIVE] = NOT_SHOWN, /* wire */
            [VIEW_EMITTER] = "execution.provider_response",
            [VIEW_LIBRARY] = NOT_SHOWN,    /* the attempt's end is logged */
            [VIEW_RUN_EVENTS] = NOT_SHOWN, /* wire */
            [VIEW_STREAM_JSON] = "stream_event",
            [VIEW_OPERATOR_LOG] = NOT_SHOWN, /* it has no contents */
        },
    [EVENT_ATTEMPT_END] =
        {
            [VIEW_SESSION_LOG] = "attempt_end",
            [VIEW_INTERACTIVE] = NOT_SHOWN, /* attempts do not concern a person */
            [VIEW_EMITTER] = "execution.attempt_end",
            [VIEW_LIBRARY] = "log accounting",
            [VIEW_RUN_EVENTS] = "cost:updated",
            [VIEW_STREAM_JSON] = "stream_event", /* ends an interrupted message */
            [VIEW_OPERATOR_LOG] = "attempt_end",
        },
    [EVENT_RETRY] =
        {
            [VIEW_SESSION_LOG] = "retry",
            [VIEW_INTERACTIVE] = NOT_SHOWN, /* attempts do not concern a person */
            [VIEW_EMITTER] = "execution.retry",
            [VIEW_LIBRARY] = "log",
            [VIEW_RUN_EVENTS] = NOT_SHOWN, /* node:retrying is the workflow's, above the chain */
            [VIEW_STREAM_JSON] = "system/assistant_dropped system/api_retry",
            [VIEW_OPERATOR_LOG] = "retry",
        },
    [EVENT_FALLBACK] =
        {
            [VIEW_SESSION_LOG] = "fallback",
            [VIEW_INTERACTIVE] = NOT_SHOWN, /* attempts do not concern a person */
            [VIEW_EMITTER] = "execution.fallback",
            [VIEW_LIBRARY] = "log",
            [VIEW_RUN_EVENTS] = NOT_SHOWN, /* cost:updated names each attempt's model */
            [VIEW_STREAM_JSON] = "system/assistant_dropped",
            [VIEW_OPERATOR_LOG] = "fallback",
        },
    [EVENT_TEXT_DROPPED] =
        {
            [VIEW_SESSION_LOG] = "text_dropped",
            [VIEW_INTERACTIVE] = NOT_SHOWN, /* clients that cannot revoke text are not offered it */
            [VIEW_EMITTER] = "execution.text_dropped",
            [VIEW_LIBRARY] = "log",
            [VIEW_RUN_EVENTS] = NOT_SHOWN,   /* as for interactive clients */
            [VIEW_STREAM_JSON] = NOT_SHOWN,  /* the broken message has ended; it is not committed */
            [VIEW_OPERATOR_LOG] = NOT_SHOWN, /* the retry has it */
        },
    [EVENT_RESPONSE_NORMALIZED] =
        {
            [VIEW_SESSION_LOG] = "provider_response_normalized",
            [VIEW_INTERACTIVE] = NOT_SHOWN, /* its pieces were shown */
            [VIEW_EMITTER] = "execution.response",
            [VIEW_LIBRARY] = "log",          /* THK: the whole reasoning */
            [VIEW_RUN_EVENTS] = NOT_SHOWN,   /* its pieces were shown */
            [VIEW_STREAM_JSON] = NOT_SHOWN,  /* the committed message is shown */
            [VIEW_OPERATOR_LOG] = NOT_SHOWN, /* it has no contents */
        },
    [EVENT_ASSISTANT_COMMITTED] =
        {
            [VIEW_SESSION_LOG] = "assistant_message_committed",
            [VIEW_INTERACTIVE] = NOT_SHOWN, /* its pieces were shown */
            [VIEW_EMITTER] = "execution.assistant_message",
            [VIEW_LIBRARY] = NOT_SHOWN,                    /* its pieces were shown */
            [VIEW_RUN_EVENTS] = NOT_SHOWN,                 /* its pieces were shown */
            [VIEW_STREAM_JSON] = "stream_event assistant", /* ends the streamed message */
            [VIEW_OPERATOR_LOG] = NOT_SHOWN,               /* it has no contents */
        },
    [EVENT_HISTORY] =
        {
            [VIEW_SESSION_LOG] = "history_mutation",
            [VIEW_INTERACTIVE] = NOT_SHOWN, /* complete has the history */
            [VIEW_EMITTER] = "execution.history_mutation",
            [VIEW_LIBRARY] = NOT_SHOWN,      /* the result has the conversation */
            [VIEW_RUN_EVENTS] = NOT_SHOWN,   /* no such name there */
            [VIEW_STREAM_JSON] = NOT_SHOWN,  /* messages have lines of their own */
            [VIEW_OPERATOR_LOG] = NOT_SHOWN, /* it has no contents */
        },
    [EVENT_TOOL_EARLY] =
        {
            [VIEW_SESSION_LOG] = "tool_early",
            [VIEW_INTERACTIVE] = NOT_SHOWN, /* tool_start follows after the answer */
            [VIEW_EMITTER] = "tool.execute_early",
            [VIEW_LIBRARY] = NOT_SHOWN,      /* its progress begins with the batch */
            [VIEW_RUN_EVENTS] = NOT_SHOWN,   /* agent:tool_call follows */
            [VIEW_STREAM_JSON] = NOT_SHOWN,  /* the assistant's line has the call */
            [VIEW_OPERATOR_LOG] = NOT_SHOWN, /* its result has it */
        },
    [EVENT_TOOL_DROPPED] =
        {
            [VIEW_SESSION_LOG] = "tool_dropped",
            [VIEW_INTERACTIVE] = NOT_SHOWN, /* nothing of it was shown */
            [VIEW_EMITTER] = "tool.execute_dropped",
            [VIEW_LIBRARY] = NOT_SHOWN,      /* the attempt's end is logged */
            [VIEW_RUN_EVENTS] = NOT_SHOWN,   /* nothing of it was reported */
            [VIEW_STREAM_JSON] = NOT_SHOWN,  /* the retry is reported */
            [VIEW_OPERATOR_LOG] = NOT_SHOWN, /* it had no effect */
        },
    [EVENT_BATCH_BEGIN] =
        {
            [VIEW_SESSION_LOG] = "tool_batch_started",
            [VIEW_INTERACTIVE] = NOT_SHOWN, /* each call is shown */
            [VIEW_EMITTER] = "execution.tool_batch_start",
            [VIEW_LIBRARY] = NOT_SHOWN,      /* each call is shown */
            [VIEW_RUN_EVENTS] = NOT_SHOWN,   /* each call is shown */
            [VIEW_STREAM_JSON] = NOT_SHOWN,  /* each call is shown */
            [VIEW_OPERATOR_LOG] = NOT_SHOWN, /* its calls have it */
        },
    [EVENT_TOOL_REQUEST] =
        {
            [VIEW_SESSION_LOG] = "tool_execution_request",
            [VIEW_INTERACTIVE] = NOT_SHOWN, /* it may still be refused */
            [VIEW_EMITTER] = "tool.execute_request",
            [VIEW_LIBRARY] = NOT_SHOWN, /* it may still be refused */
            [VIEW_RUN_EVENTS] = "agent:tool_call",
            [VIEW_STREAM_JSON] = NOT_SHOWN,  /* the assistant's line has the call */
            [VIEW_OPERATOR_LOG] = NOT_SHOWN, /* its result has it */
        },
    [EVENT_TOOL_BEGIN] =
        {
            [VIEW_SESSION_LOG] = "tool_begin",
            [VIEW_INTERACTIVE] = "tool_start",
            [VIEW_EMITTER] = "tool.execute_start",
            [VIEW_LIBRARY] = "progress log",
            [VIEW_RUN_EVENTS] = NOT_SHOWN,  /* agent:tool_call came before */
            [VIEW_STREAM_JSON] = NOT_SHOWN, /* the assistant's line has the call */
            [VIEW_OPERATOR_LOG] = "tool_begin",
        },
    [EVENT_SNAPSHOT] =
        {
            [VIEW_SESSION_LOG] = "snapshot",
            [VIEW_INTERACTIVE] = NOT_SHOWN, /* nothing has happened yet */
            [VIEW_EMITTER] = "tool.snapshot",
            [VIEW_LIBRARY] = NOT_SHOWN,      /* its "snapshot" means something else */
            [VIEW_RUN_EVENTS] = NOT_SHOWN,   /* handles of contents do not concern remote readers */
            [VIEW_STREAM_JSON] = NOT_SHOWN,  /* nothing has happened yet */
            [VIEW_OPERATOR_LOG] = NOT_SHOWN, /* useful in the session's log */
        },
    [EVENT_PRE_IMAGE] =
        {
            [VIEW_SESSION_LOG] = "pre_image",
            [VIEW_INTERACTIVE] = NOT_SHOWN, /* not one of the eight */
            [VIEW_EMITTER] = "tool.pre_image",
            [VIEW_LIBRARY] = NOT_SHOWN,      /* no such name there */
            [VIEW_RUN_EVENTS] = NOT_SHOWN,   /* handles of contents do not concern remote readers */
            [VIEW_STREAM_JSON] = NOT_SHOWN,  /* the call's result shows what it did */
            [VIEW_OPERATOR_LOG] = NOT_SHOWN, /* useful in the session's log */
        },
    [EVENT_TOOL_PROGRESS] =
        {
            [VIEW_SESSION_LOG] = "tool_progress",
            [VIEW_INTERACTIVE] = NOT_SHOWN, /* not one of the eight */
            [VIEW_EMITTER] = "tool.progress",
            [VIEW_LIBRARY] = "progress status",
            [VIEW_RUN_EVENTS] = NOT_SHOWN,   /* no such name there */
            [VIEW_STREAM_JSON] = NOT_SHOWN,  /* one line per piece of output is too many */
            [VIEW_OPERATOR_LOG] = NOT_SHOWN, /* it has no contents */
        },
    [EVENT_TOOL_END] =
        {
            [VIEW_SESSION_LOG] = "tool_end",
            [VIEW_INTERACTIVE] = NOT_SHOWN, /* the result comes in the order of the calls */
            [VIEW_EMITTER] = "tool.execute_end",
            [VIEW_LIBRARY] = NOT_SHOWN,      /* likewise */
            [VIEW_RUN_EVENTS] = NOT_SHOWN,   /* likewise */
            [VIEW_STREAM_JSON] = NOT_SHOWN,  /* likewise */
            [VIEW_OPERATOR_LOG] = NOT_SHOWN, /* its result has it */
        },
    [EVENT_TOOL_RESULT] =
        {
            [VIEW_SESSION_LOG] = "tool_execution_result",
            [VIEW_INTERACTIVE] = "tool_end",
            [VIEW_EMITTER] = "tool.execute_success tool.execute_error",
            [VIEW_LIBRARY] = "progress log accounting",
            [VIEW_RUN_EVENTS] = "agent:tool_result",
            [VIEW_STREAM_JSON] = "user",
            [VIEW_OPERATOR_LOG] = "tool",
        },
    [EVENT_TOOL_COMMITTED] =
        {
            [VIEW_SESSION_LOG] = "tool_message_committed",
            [VIEW_INTERACTIVE] = NOT_SHOWN, /* the result was shown */
            [VIEW_EMITTER] = "tool.message_committed",
            [VIEW_LIBRARY] = NOT_SHOWN,      /* the result was shown */
            [VIEW_RUN_EVENTS] = NOT_SHOWN,   /* the result was shown */
            [VIEW_STREAM_JSON] = NOT_SHOWN,  /* the result was shown */
            [VIEW_OPERATOR_LOG] = NOT_SHOWN, /* its result has it */
        },
    [EVENT_CHILD_BEGIN] =
        {
            [VIEW_SESSION_LOG] = "child_begin",
            [VIEW_INTERACTIVE] = NOT_SHOWN, /* the call is shown */
            [VIEW_EMITTER] = "task.child_start",
            [VIEW_LIBRARY] = NOT_SHOWN,     /* its run reports the same */
            [VIEW_RUN_EVENTS] = NOT_SHOWN,  /* its run reports the same */
            [VIEW_STREAM_JSON] = NOT_SHOWN, /* its lines name the call */
            [VIEW_OPERATOR_LOG] = "child_begin",
        },
    [EVENT_CHILD_END] =
        {
            [VIEW_SESSION_LOG] = "child_end",
            [VIEW_INTERACTIVE] = NOT_SHOWN, /* the call is shown */
            [VIEW_EMITTER] = "task.child_end",
            [VIEW_LIBRARY] = NOT_SHOWN,     /* its run reports the same */
            [VIEW_RUN_EVENTS] = NOT_SHOWN,  /* its run reports the same */
            [VIEW_STREAM_JSON] = NOT_SHOWN, /* the result of the call follows */
            [VIEW_OPERATOR_LOG] = "child_end",
        },
    [EVENT_STATE] =
        {
            [VIEW_SESSION_LOG] = "tool_state",
            [VIEW_INTERACTIVE] = NOT_SHOWN, /* internal state of tools */
            [VIEW_EMITTER] = "tool.state",
            [VIEW_LIBRARY] = NOT_SHOWN,    /* internal state of tools */
            [VIEW_RUN_EVENTS] = NOT_SHOWN, /* internal state of tools */
            [VIEW_STREAM_JSON] = "system/task_started system/task_notification",
            [VIEW_OPERATOR_LOG] = "background_command mode",
        },
    [EVENT_ASKED] =
        {
            [VIEW_SESSION_LOG] = "asked",
            [VIEW_INTERACTIVE] = NOT_SHOWN, /* the asker shows it */
            [VIEW_EMITTER] = "user.asked",
            [VIEW_LIBRARY] = NOT_SHOWN, /* a report run asks no questions */
            [VIEW_RUN_EVENTS] = "agent:approval_requested human_gate:paused budget:paused",
            [VIEW_STREAM_JSON] = NOT_SHOWN, /* the result lists refused and waiting calls */
            [VIEW_OPERATOR_LOG] = "asked",
        },
    [EVENT_ANSWERED] =
        {
            [VIEW_SESSION_LOG] = "answered",
            [VIEW_INTERACTIVE] = NOT_SHOWN, /* the asker shows it */
            [VIEW_EMITTER] = "user.answered",
            [VIEW_LIBRARY] = NOT_SHOWN, /* a report run asks no questions */
            [VIEW_RUN_EVENTS] = "human_gate:resumed",
            [VIEW_STREAM_JSON] = NOT_SHOWN, /* the call's result shows it */
            [VIEW_OPERATOR_LOG] = "answered",
        },
    [EVENT_NOTICE] =
        {
            [VIEW_SESSION_LOG] = "notice",
            [VIEW_INTERACTIVE] = NOT_SHOWN, /* not one of the eight */
            [VIEW_EMITTER] = "agent.notice",
            [VIEW_LIBRARY] = "log",
            [VIEW_RUN_EVENTS] = "budget:warning",
            [VIEW_STREAM_JSON] = NOT_SHOWN, /* goes to standard error */
            [VIEW_OPERATOR_LOG] = "notice",
        },
    [EVENT_ERROR] =
        {
            [VIEW_SESSION_LOG] = "error",
            [VIEW_INTERACTIVE] = NOT_SHOWN, /* reported once, at the run's end */
            [VIEW_EMITTER] = "execution.error",
            [VIEW_LIBRARY] = "log",
            [VIEW_RUN_EVENTS] = NOT_SHOWN,   /* reported once, at the run's end */
            [VIEW_STREAM_JSON] = NOT_SHOWN,  /* reported once, in the result */
            [VIEW_OPERATOR_LOG] = NOT_SHOWN, /* the end of the run has it */
        },
    [EVENT_RUN_END] =
        {
            [VIEW_SESSION_LOG] = "assistant run_end",
            [VIEW_INTERACTIVE] = "thinking complete error interrupted",
            [VIEW_EMITTER] = ("execution.complete execution.failed execution.interrupted "
                              "execution.suspended task.completed task.failed agent.completion"),
            [VIEW_LIBRARY] = "progress final_report handoff log accounting_flush op_tree snapshot",
            [VIEW_RUN_EVENTS] =
                ("node:completed node:failed run:completed run:failed run:cancelled "
                 "run:timeout run:paused session:turn_completed session:cancelled"),
            [VIEW_STREAM_JSON] = "stream_event result",
            [VIEW_OPERATOR_LOG] = "run_end",
        },
    [EVENT_REWOUND] =
        {
            [VIEW_SESSION_LOG] = "rewound",
            [VIEW_INTERACTIVE] = NOT_SHOWN, /* between runs */
            [VIEW_EMITTER] = "agent.rewound",
            [VIEW_LIBRARY] = NOT_SHOWN,     /* the library has only runs */
            [VIEW_RUN_EVENTS] = NOT_SHOWN,  /* no such name there */
            [VIEW_STREAM_JSON] = NOT_SHOWN, /* between runs */
            [VIEW_OPERATOR_LOG] = "rewound",
        },
    [EVENT_CHECKPOINT] =
        {
            [VIEW_SESSION_LOG] = "checkpoint",
            [VIEW_INTERACTIVE] = NOT_SHOWN, /* nothing has happened */
            [VIEW_EMITTER] = "agent.checkpoint",
            [VIEW_LIBRARY] = NOT_SHOWN,      /* nothing has happened */
            [VIEW_RUN_EVENTS] = NOT_SHOWN,   /* nothing has happened */
            [VIEW_STREAM_JSON] = NOT_SHOWN,  /* nothing has happened */
            [VIEW_OPERATOR_LOG] = NOT_SHOWN, /* nothing has happened */
        },
    [EVENT_SESSION_CHANGED] =
        {
            [VIEW_SESSION_LOG] = "session_changed",
            [VIEW_INTERACTIVE] = NOT_SHOWN, /* not one of the eight */
            [VIEW_EMITTER] = "agent.session_changed",
            [VIEW_LIBRARY] = NOT_SHOWN,     /* the library has only runs */
            [VIEW_RUN_EVENTS] = NOT_SHOWN,  /* no such name there */
            [VIEW_STREAM_JSON] = NOT_SHOWN, /* the next run's init has it */
            [VIEW_OPERATOR_LOG] = "session_changed",
        },
    [EVENT_SESSION_END] =
        {
            [VIEW_SESSION_LOG] = "session_shutdown",
            [VIEW_INTERACTIVE] = NOT_SHOWN, /* the client closed it */
            [VIEW_EMITTER] = "agent.session_end",
            [VIEW_LIBRARY] = NOT_SHOWN,     /* the library has only runs */
            [VIEW_RUN_EVENTS] = NOT_SHOWN,  /* no such name there */
            [VIEW_STREAM_JSON] = NOT_SHOWN, /* the end of the output shows it */
            [VIEW_OPERATOR_LOG] = "session_end",
        },
};

const char *view_names(enum view v, enum event_type t)
{
    return names[t][v];
}

bool view_has_name(enum view v, enum event_type t, struct str name)
{
    struct str rest = str_of(view_names(v, t)), one;

    while (rest.n && str_split(&rest, ' ', &one))
        if (str_eq(one, name))
            return true;
    return false;
}
