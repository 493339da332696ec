/* map_test.c - the table of views is whole, and the views say what stands in it. */
#include "view/samples.h"

#include "view/event_emitter.h"
#include "view/interactive.h"
#include "view/library.h"
#include "view/map.h"
#include "view/operator_log.h"
#include "view/run_events.h"
#include "view/session_log.h"
#include "view/stream_json.h"

TEST(every_event_has_a_sample)
{
    static const struct event none;
    struct samples s;

    samples_init(&s);
    for (int t = 0; t < EVENT_N_TYPES; t++)
        if (t != EVENT_TEXT_DROPPED && memcmp(&s.events[t].body, &none.body, sizeof none.body) == 0)
            fail_msg("samples.h has no body for %s", event_type_name((enum event_type)t));
    samples_done(&s);
}

TEST(no_cell_is_missing)
{
    for (int t = 0; t < EVENT_N_TYPES; t++)
        for (int v = 0; v < VIEW_N; v++)
            if (!view_names((enum view)v, (enum event_type)t))
                fail_msg("view %d has no word for %s", v, event_type_name((enum event_type)t));
}

/* What the views must be able to say, as their readers know it. */
static const char *const expected[VIEW_N] = {
    [VIEW_SESSION_LOG] =
        "provider_request provider_stream_raw_delta provider_response_raw "
        "provider_response_normalized assistant_message_committed tool_batch_started "
        "tool_execution_request tool_execution_result tool_message_committed history_mutation "
        "session_init server_tool pre_run provider_native_raw_payload text_delta assistant "
        "session_shutdown context_compact error",
    [VIEW_INTERACTIVE] =
        "text_delta tool_start tool_end thinking complete error context_update interrupted",
    [VIEW_EMITTER] = "execution.start execution.complete execution.error tool.execute_start "
                     "tool.execute_success tool.execute_error agent.completion agent.created "
                     "task.started task.completed user.input",
    [VIEW_LIBRARY] = "output thinking turn_started progress status final_report handoff log "
                     "accounting snapshot accounting_flush op_tree",
    [VIEW_RUN_EVENTS] =
        "agent:token agent:reasoning agent:tool_call agent:tool_result agent:approval_requested "
        "cost:updated node:started node:completed node:failed human_gate:paused "
        "human_gate:resumed run:started run:paused run:completed run:failed run:cancelled "
        "run:timeout budget:warning budget:paused session:started session:turn_started "
        "session:turn_completed session:cancelled session:compacted",
    [VIEW_OPERATOR_LOG] =
        "session_begin session_end run_begin run_end attempt_end retry fallback tool "
        "notice child_begin child_end",
    [VIEW_STREAM_JSON] = "system/init assistant user stream_event result",
};

static bool is_in_view(enum view v, struct str name)
{
    for (int t = 0; t < EVENT_N_TYPES; t++)
        if (view_has_name(v, (enum event_type)t, name))
            return true;
    return false;
}

TEST(every_name_that_readers_know_occurs)
{
    for (int v = 0; v < VIEW_N; v++) {
        struct str rest = str_of(expected[v]), name;

        while (rest.n && str_split(&rest, ' ', &name))
            if (!is_in_view((enum view)v, name))
                fail_msg("view %d never says %" STR_FMT, v, STR_ARG(name));
    }
}

/* --- what the views really say --- */

/* The samples again and again, each time as another kind of run. */
static const struct variant {
    enum run_outcome outcome;
    enum err_kind error; /* when it failed */
    enum delta_kind delta;
    enum ask_kind ask;
    bool is_separator, tool_fails, is_child, of_session, has_handoff;
    const char *shell; /* a state of one in the background */
    const char *mode;  /* instead of that */
} variants[] = {
    {RUN_DONE, 0, DELTA_TEXT, ASK_PERMISSION},
    {RUN_DONE, 0, DELTA_REASONING, ASK_QUESTION, .has_handoff = true},
    {RUN_DONE, 0, DELTA_SERVER_TOOL, ASK_BUDGET, .is_child = true},
    {RUN_DONE, 0, DELTA_END, ASK_PERMISSION},
    {RUN_FAILED, ERR_NETWORK, DELTA_TEXT, ASK_PERMISSION, .tool_fails = true},
    {RUN_FAILED, ERR_TIMEOUT, DELTA_TEXT, ASK_PERMISSION, .is_separator = true},
    {RUN_FAILED, ERR_NETWORK, DELTA_TEXT, ASK_PERMISSION, .is_child = true},
    {RUN_SUSPENDED, 0, DELTA_TEXT, ASK_PERMISSION,
     .shell = "{\"state\":\"running\",\"seen\":false}"},
    {RUN_SUSPENDED, 0, DELTA_TEXT, ASK_PERMISSION, .shell = "{\"state\":\"ended\",\"seen\":false}"},
    {RUN_INTERRUPTED, 0, DELTA_TEXT, ASK_PERMISSION, .mode = "\"plan\""},
    {RUN_DONE, 0, DELTA_TEXT, ASK_PERMISSION, .of_session = true},
    {RUN_INTERRUPTED, 0, DELTA_TEXT, ASK_PERMISSION, .of_session = true},
};

static void vary(struct samples *s, const struct variant *v)
{
    s->delta.kind = v->delta;
    if (v->delta == DELTA_END) {
        s->delta.part = 0;
        s->events[EVENT_DELTA].body.delta.part = &s->answer->parts[0];
    }
    s->ask.kind = v->ask;
    s->events[EVENT_DELTA].body.delta.is_separator = v->is_separator;
    s->events[EVENT_TOOL_RESULT].body.tool.is_ok = !v->tool_fails;
    if (v->shell)
        s->events[EVENT_STATE].body.state =
            (struct event_state){S("shell:bash_1"), sample_json(s, v->shell)};
    if (v->mode)
        s->events[EVENT_STATE].body.state =
            (struct event_state){S("mode"), sample_json(s, v->mode)};
    s->run_result.outcome = v->outcome;
    if (v->outcome == RUN_FAILED)
        s->run_result.error = err_new(v->error, "why");
    for (int t = 0; v->is_child && t < EVENT_N_TYPES; t++)
        s->events[t].parent_stream = S("s0");
}

static void add_name(struct strbuf *said, struct str name)
{
    strbuf_add_char(said, ' ');
    strbuf_add(said, name);
    strbuf_add_char(said, ' ');
}

static void check_line(struct samples *s, enum view v, enum event_type t, struct str line,
                       struct strbuf *said)
{
    const struct json *value = sample_json(s, arena_cstr(&s->arena, line));
    struct str name =
        json_get_text(value, v == VIEW_SESSION_LOG || v == VIEW_OPERATOR_LOG ? "event" : "type");
    struct str subtype = json_get_text(value, "subtype");

    if (v == VIEW_LIBRARY)
        name = json_get_text(json_get(value, "event"), "type");
    if (v == VIEW_STREAM_JSON && str_is(name, "system"))
        name = arena_format(&s->arena, "system/%" STR_FMT, STR_ARG(subtype));
    if (!view_has_name(v, t, name))
        fail_msg("view %d says %" STR_FMT " to %s", v, STR_ARG(name), event_type_name(t));
    add_name(said, name);
}

struct views {
    struct stream_json *stream_json;
    struct interactive_view interactive;
    struct library_view library;
    struct run_events run_events;
    struct log *log;
    struct strbuf *log_lines;
};

static bool add_log_line(void *self, struct str line)
{
    strbuf_add(((struct views *)self)->log_lines, line);
    return true;
}

static void show(struct views *views, enum view v, const struct event *e, struct strbuf *out)
{
    switch (v) {
    case VIEW_SESSION_LOG:
        session_log_write(e, out);
        break;
    case VIEW_INTERACTIVE:
        interactive_event(&views->interactive, e, out);
        break;
    case VIEW_LIBRARY:
        library_event(&views->library, e, out);
        break;
    case VIEW_RUN_EVENTS:
        run_events_event(&views->run_events, e, out);
        break;
    case VIEW_OPERATOR_LOG:
        views->log_lines = out;
        operator_log_event(views->log, e);
        break;
    case VIEW_STREAM_JSON:
        stream_json_event(views->stream_json, e, out);
        break;
    default:
        break;
    }
}

static void show_emitted(const struct event *e, struct strbuf *said)
{
    const char *names[EVENT_EMITTER_MAX_NAMES];
    size_t n = event_emitter_names(e, names);

    for (size_t i = 0; i < n; i++) {
        if (!names[i] || !view_has_name(VIEW_EMITTER, e->type, str_of(names[i])))
            fail_msg("the emitter says %s to %s", names[i], event_type_name(e->type));
        add_name(said, str_of(names[i]));
    }
}

static void show_all(struct samples *s, struct views *views, struct strbuf said[VIEW_N])
{
    AUTO(strbuf) struct strbuf out = {0};

    for (int t = 0; t < EVENT_N_TYPES; t++) {
        show_emitted(&s->events[t], &said[VIEW_EMITTER]);
        for (int v = 0; v < VIEW_N; v++) {
            struct str rest, line;

            strbuf_clear(&out);
            show(views, (enum view)v, &s->events[t], &out);
            rest = strbuf_str(&out);
            if (rest.n)
                assert_int_equal(rest.p[--rest.n], '\n');
            while (rest.n && str_split(&rest, '\n', &line))
                check_line(s, (enum view)v, (enum event_type)t, line, &said[v]);
        }
    }
}

static void assert_said(enum view v, enum event_type t, const struct strbuf *said)
{
    struct str rest = str_of(view_names(v, t)), name;

    while (rest.n && str_split(&rest, ' ', &name)) {
        AUTO(strbuf) struct strbuf padded = {0};

        add_name(&padded, name);
        if (str_find(strbuf_str(said), strbuf_str(&padded)) == STR_NONE)
            fail_msg("view %d never said %" STR_FMT, v, STR_ARG(name));
    }
}

TEST(views_say_only_what_the_table_says_and_all_of_it)
{
    const struct stream_json_options options = {.session_id = "s1", .include_partial = true};
    struct strbuf said[VIEW_N] = {0};

    for (size_t i = 0; i < ARRAY_LEN(variants); i++) {
        AUTO(samples) struct samples s;
        struct views views = {
            .stream_json = stream_json_new(&options),
            .library = {.trace_llm = true, .has_handoff = variants[i].has_handoff},
            .run_events = {.of_session = variants[i].of_session}};

        views.log = log_new(LOG_DEBUG, NULL, (struct log_sink){add_log_line, &views});
        samples_init(&s);
        vary(&s, &variants[i]);
        show_all(&s, &views, said);
        stream_json_free(views.stream_json);
        log_free(views.log);
        run_events_done(&views.run_events);
    }
    for (int v = 0; v < VIEW_N; v++) {
        for (int t = 0; t < EVENT_N_TYPES; t++)
            assert_said((enum view)v, (enum event_type)t, &said[v]);
        strbuf_done(&said[v]);
    }
}

RUN_TESTS(UNIT(every_event_has_a_sample), UNIT(no_cell_is_missing),
          UNIT(every_name_that_readers_know_occurs),
          UNIT(views_say_only_what_the_table_says_and_all_of_it))
