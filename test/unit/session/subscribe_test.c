/* subscribe_test.c - whoever attaches, whenever: all hear the same. */
#include "session/stage.h"

#include "port/runner.h"
#include "view/session_log.h"

#define ID "s"
static const struct session_options fresh = {.start = SESSION_NEW, .id = {ID, 1}},
                                    again = {.start = SESSION_RESUME, .id = {ID, 1}};

/* --- somebody who listens --- */

#define MAX_STREAMS 8

/* Writes down every event, as a line of its stream's log. */
struct watcher {
    struct event_subscriber subscriber;
    struct arena arena;
    struct {
        struct str id;
        uint64_t next_seq; /* that comes next; 0: any */
        bool has_ended;
        struct strbuf log;
    } streams[MAX_STREAMS];
    size_t n_streams, n_events;
    size_t leaves_after;  /* unsubscribes with that many events; 0: never */
    uint64_t pause_ms;    /* after each stored event */
    bool pauses_at_calls; /* only at the end of a call */
    enum event_type last_type;
    size_t fails_after; /* stored events; 0: never */
    uint64_t durable_seq;
    bool skips; /* some events may be missing */
    uint64_t n_skipped;
};

static size_t watcher_stream(struct watcher *w, struct str id)
{
    size_t i = 0;

    while (i < w->n_streams && !str_eq(w->streams[i].id, id))
        i++;
    if (i < w->n_streams)
        return i;
    assert_true(i < MAX_STREAMS);
    w->streams[w->n_streams++].id = arena_str(&w->arena, id);
    return i;
}

static void watcher_event(void *self, const struct event *e)
{
    struct watcher *w = self;
    size_t i = watcher_stream(w, e->stream);
    struct strbuf *log = &w->streams[i].log;

    w->n_events++;
    w->last_type = e->type;
    assert_true(e->seq > 0);
    if (w->streams[i].next_seq && e->seq != w->streams[i].next_seq) {
        assert_true(w->skips && e->seq > w->streams[i].next_seq);
        w->n_skipped += e->seq - w->streams[i].next_seq;
    }
    w->streams[i].next_seq = e->seq + 1;
    assert_str(e->parent_stream, str_is(e->stream, ID) ? "" : ID);
    strbuf_addf(log, "%llu ", (unsigned long long)e->seq);
    if (e->type == EVENT_PROVIDER_REQUEST) /* its messages are told by others */
        strbuf_addf(log, "request to %" STR_FMT "\n", STR_ARG(e->body.request.request->model));
    else
        session_log_write(e, log);
    w->streams[i].has_ended |= e->type == EVENT_SESSION_END;
    if (e->type == EVENT_CHILD_END) /* all of the child has come before it */
        assert_true(w->streams[watcher_stream(w, e->body.child.id)].has_ended);
    if (w->n_events == w->leaves_after)
        event_stream_unsubscribe(&w->subscriber);
}

static void watcher_durable(void *self, uint64_t next_seq)
{
    struct watcher *w = self;

    assert_true(next_seq >= w->durable_seq);
    w->durable_seq = next_seq;
}

static struct err *watcher_pace(void *self)
{
    struct watcher *w = self;

    if (w->fails_after && w->n_events == w->fails_after)
        return err_new(ERR_NETWORK, "the reader is gone");
    if (w->pauses_at_calls && w->last_type != EVENT_TOOL_END)
        return NULL;
    return w->pause_ms ? task_sleep(w->pause_ms) : NULL;
}

static void watcher_init(struct watcher *w)
{
    *w = (struct watcher){.subscriber = {.on_event = watcher_event,
                                         .on_durable = watcher_durable,
                                         .pace = watcher_pace,
                                         .self = w}};
}

static void watcher_done(struct watcher *w)
{
    event_stream_unsubscribe(&w->subscriber);
    for (size_t i = 0; i < w->n_streams; i++)
        strbuf_done(&w->streams[i].log);
    arena_done(&w->arena);
}
DEFINE_AUTO_VAL(watcher, watcher_done)

/* From that number on. */
static struct str log_from(struct str log, uint64_t seq)
{
    struct str rest = log, line;

    for (;;) {
        struct str before = rest;

        if (!str_split(&rest, '\n', &line) || strtoull(line.p, NULL, 10) >= seq)
            return before;
    }
}

/* What one who has heard all from the beginning knows, from that event on. A child's stream comes
 * whole, or not at all. */
static void assert_heard(struct watcher *w, struct watcher *all, uint64_t from)
{
    size_t own = watcher_stream(w, S(ID));

    assert_string_equal(strbuf_cstr(&w->streams[own].log),
                        log_from(strbuf_str(&all->streams[0].log), from).p);
    for (size_t i = 0; i < w->n_streams; i++)
        if (i != own)
            assert_string_equal(
                strbuf_cstr(&w->streams[i].log),
                strbuf_cstr(&all->streams[watcher_stream(all, w->streams[i].id)].log));
}

/* --- a store that takes its time --- */

static const struct store_ops *quick;
static struct store_ops slow;

static struct err *slow_read(struct store *s, struct str stream, const struct store_query *q,
                             struct store_page *page)
{
    TRY(task_sleep(3));
    TRY(quick->read(s, stream, q, page));
    return task_sleep(1);
}

static struct err *slow_append(struct store *s, struct str stream, uint64_t expected_seq,
                               uint64_t fence, const struct store_record *records, size_t n,
                               const struct store_summary *update)
{
    struct err *e;

    TRY(task_sleep(5));
    e = quick->append(s, stream, expected_seq, fence, records, n, update);
    if (!e)
        e = task_sleep(4);
    return e;
}

static struct err *slow_find(struct store *s, struct str id, struct arena *a,
                             struct store_summary *ret_summary, bool *ret_found)
{
    TRY(task_sleep(2));
    return quick->find(s, id, a, ret_summary, ret_found);
}

static struct store *slow_store(void)
{
    struct store *s = store_memory_new();

    quick = s->ops;
    slow = *s->ops;
    slow.read = slow_read;
    slow.append = slow_append;
    slow.append_soon = NULL;
    slow.find = slow_find;
    s->ops = &slow;
    return s;
}

/* --- a tool that delegates --- */

static struct err *delegate_run(const struct tool *t, struct tool_context *c,
                                const struct json *args, struct tool_result *r)
{
    AUTO(run_result) struct run_result result = {0};
    struct child_spec spec = {.agent = S("Helper"),
                              .system = S("You help."),
                              .prompt = S("look"),
                              .tools = {.allows_all = true}};

    TRY(c->runner->run(c->runner->self, &spec, &result));
    tool_result_addf(r, "%" STR_FMT, STR_ARG(result.text));
    return NULL;
}

static struct tool delegate = {.name = "Delegate",
                               .description = "asks another agent",
                               .schema = "{\"type\":\"object\"}",
                               .risk = RISK_INSPECT,
                               .needs = NEEDS_RUNNER,
                               .delegates = true,
                               .begins_late = true,
                               .run = delegate_run};

/* --- a session, and those who attach to it --- */

/* Streams, calls tools, one of which prints more than a record holds, and asks a helper, who
 * streams as well. */
static const char script[] =
    "turns:\n"
    " - [{reasoning: hm, split: 1, delay_ms: 3},\n"
    "    {text: 'Let me look around here for a while.', split: 3, delay_ms: 7},\n"
    "    {tool: Echo, id: a, args: {text: x}}, {tool: Big, id: b, args: {lines: 6000}},\n"
    "    {tool: State, id: c, args: {value: 7}}]\n"
    " - [{text: I ask., split: 2, delay_ms: 9}, {tool: Delegate, id: d, args: {}},\n"
    "    {tool: Slow, id: f, args: {ms: 45}}, {tool: Slow, id: g, args: {ms: 90}}]\n"
    " - [{text: 'The helper looks as well.', split: 2, delay_ms: 6},\n"
    "    {tool: Echo, id: e, args: {text: y}}]\n"
    " - {text: 'Found.', split: 1, delay_ms: 11}\n"
    " - {text: 'Done, after all of this.', split: 2, delay_ms: 8}\n";

struct scene {
    struct stage stage;
    struct watcher all;    /* from the beginning */
    struct watcher joined; /* somewhere on the way */
    struct event_subscriber trigger;
    size_t n_events, n_open, joins_at; /* events of all streams; 0: nobody joins */
    size_t joins_later;                /* the same after a restart */
    uint64_t joins_from;               /* which event */
    uint64_t joins_back;               /* so many before the last; 0: as joins_from says */
    uint64_t pause_ms;                 /* of one who reads slowly */
    struct group joining;
    struct err *failure;
    bool has_joined;
    void (*play)(struct scene *s);
};

static struct err *join_task(void *arg)
{
    struct scene *s = arg;

    if (s->joins_back)
        s->joins_from = s->stage.session.conversation.stream.next_seq - s->joins_back;
    s->failure = session_subscribe(&s->stage.session, s->joins_from, &s->joined.subscriber);
    s->has_joined = true;
    return NULL;
}

static void trigger_event(void *self, const struct event *e)
{
    struct scene *s = self;

    if (++s->n_events == s->joins_at)
        group_spawn(&s->joining, "joins", join_task, s);
}

static void open_scene(struct scene *s, const struct session_options *how)
{
    stage_open(&s->stage, how);
    s->trigger = (struct event_subscriber){.on_event = trigger_event, .self = s};
    event_stream_subscribe(&s->stage.session.conversation.stream, &s->trigger);
}

static void begin_scene(struct scene *s)
{
    world_open(&s->stage.world);
    assert_ok(tool_registry_add(s->stage.world.registry, &delegate, NULL));
    open_scene(s, &fresh);
    event_stream_subscribe(&s->stage.session.conversation.stream, &s->all.subscriber);
}

/* Who joins must have joined. */
static void await_joining(struct scene *s)
{
    while (s->joins_at && s->n_events >= s->joins_at && !s->has_joined)
        assert_ok(task_sleep(1));
    s->n_open = s->n_events;
}

static void end_scene(struct scene *s)
{
    await_joining(s);
    stage_close(&s->stage);
}

/* In a virtual time, so that nothing takes any. */
static struct err *scene_task(void *arg)
{
    struct scene *s = arg;

    s->stage.store = slow_store();
    watcher_init(&s->all);
    group_begin(&s->joining, 0, GROUP_KEEP_GOING);
    s->play(s);
    assert_ok(group_end(&s->joining));
    return NULL;
}

static void scene_play(struct scene *s, void (*play)(struct scene *s))
{
    struct virtual_clock clock;
    AUTO(loop) struct loop *l = NULL;

    virtual_clock_init(&clock, 1000);
    l = loop_new(&clock.clock);
    s->play = play;
    assert_ok(loop_run(l, scene_task, s));
}

static void scene_done(struct scene *s)
{
    watcher_done(&s->all);
    watcher_done(&s->joined);
    stage_done(&s->stage);
}
DEFINE_AUTO_VAL(scene, scene_done)

/* --- while a run goes on --- */

static void play_run(struct scene *s)
{
    watcher_init(&s->joined);
    begin_scene(s);
    stage_run(&s->stage, script, "go");
    assert_int_equal(s->stage.world.result.outcome, RUN_DONE);
    end_scene(s);
}

static size_t count_events(void)
{
    AUTO(scene) struct scene s = {0};

    scene_play(&s, play_run);
    assert_int_equal(s.all.n_streams, 2);
    return s.n_open;
}

static void join_at(size_t at, uint64_t from)
{
    AUTO(scene) struct scene s = {.joins_at = at, .joins_from = from};

    scene_play(&s, play_run);
    assert_ok(s.failure);
    assert_true(s.has_joined);
    assert_heard(&s.joined, &s.all, MAX(from, (uint64_t)1));
    assert_int_equal(s.joined.durable_seq, s.all.durable_seq);
}

TEST(one_who_joins_at_any_event_hears_what_was_and_what_comes)
{
    size_t n = count_events();

    for (size_t at = 1; at <= n; at++)
        join_at(at, 1);
}

TEST(one_who_wants_a_part_hears_that_part)
{
    size_t n = count_events();

    for (size_t at = 1; at <= n; at += 13)
        for (uint64_t from = 2; from <= at / 2; from += 11)
            join_at(at, from);
}

/* All there is, is in memory. */
static struct err *refuse_append(struct store *s, struct str stream, uint64_t expected_seq,
                                 uint64_t fence, const struct store_record *records, size_t n,
                                 const struct store_summary *update)
{
    return err_new(ERR_STORAGE, "the disk is full");
}

static void play_full_disk(struct scene *s)
{
    struct session_options how = fresh;

    watcher_init(&s->joined);
    slow.append = refuse_append;
    how.on_failure = JOURNAL_WARNS;
    world_open(&s->stage.world);
    open_scene(s, &how);
    event_stream_subscribe(&s->stage.session.conversation.stream, &s->all.subscriber);
    stage_run(&s->stage, "turns:\n - {text: 'Not stored, but told.', split: 2, delay_ms: 9}\n",
              "go");
    assert_int_equal(s->stage.world.result.outcome, RUN_DONE);
    assert_non_null(strstr(strbuf_cstr(&s->stage.notices), "the session is not being stored"));
    await_joining(s);
    err_ignore(session_shutdown(&s->stage.session, "other"), "the disk is full");
    session_done(&s->stage.session);
}

TEST(what_the_store_does_not_take_is_heard_all_the_same)
{
    size_t n;
    {
        AUTO(scene) struct scene s = {0};

        scene_play(&s, play_full_disk);
        n = s.n_open;
    }
    for (size_t at = 1; at <= n; at++) {
        AUTO(scene) struct scene s = {.joins_at = at, .joins_from = 1};

        scene_play(&s, play_full_disk);
        assert_ok(s.failure);
        assert_heard(&s.joined, &s.all, 1);
    }
}

/* --- between runs, after a restart, twice --- */

static void subscribe(struct scene *s, struct watcher *w, uint64_t from)
{
    watcher_init(w);
    assert_ok(session_subscribe(&s->stage.session, from, &w->subscriber));
}

static const char short_run[] = "turns:\n - {text: 'Once more.', split: 4, delay_ms: 5}\n";

static void play_between(struct scene *s)
{
    AUTO(watcher) struct watcher twice = {0}, later = {0};

    begin_scene(s);
    stage_run(&s->stage, script, "go");
    subscribe(s, &s->joined, 1);
    subscribe(s, &twice, 1);
    assert_heard(&s->joined, &s->all, 1);
    assert_ok(session_rename(&s->stage.session, S("the maze")));
    session_note_model(&s->stage.session, S("m1"), S("larger"));
    tool_state_set_text(s->stage.session.conversation.state, STATE_MODE, S("plan"));
    assert_ok(session_inject(&s->stage.session, ROLE_USER, S("By the way.")));
    session_notice(&s->stage.session, SEVERITY_INFO, "test", S("Between runs."));
    subscribe(s, &later, 1);
    stage_run(&s->stage, short_run, "again");
    end_scene(s);
    assert_heard(&s->joined, &s->all, 1);
    assert_heard(&twice, &s->all, 1);
    assert_heard(&later, &s->all, 1);
    assert_non_null(strstr(strbuf_cstr(&s->all.streams[0].log), "\"name\":\"the maze\""));
    assert_non_null(strstr(strbuf_cstr(&s->all.streams[0].log), "\"model\":\"larger\""));
    assert_non_null(strstr(strbuf_cstr(&s->all.streams[0].log), "Between runs."));
    assert_non_null(strstr(strbuf_cstr(&s->all.streams[0].log), "session_shutdown"));
}

TEST(what_happens_between_runs_reaches_all_who_listen)
{
    AUTO(scene) struct scene s = {0};

    scene_play(&s, play_between);
}

/* What an earlier process has told is in the log of `all`, too. */
static void play_restart(struct scene *s)
{
    AUTO(watcher) struct watcher from_end = {0};
    uint64_t end;

    watcher_init(&s->joined);
    begin_scene(s);
    stage_run(&s->stage, script, "go");
    end_scene(s);
    open_scene(s, &again);
    s->n_events = 0;
    s->joins_at = s->joins_later;
    end = s->stage.session.conversation.stream.next_seq;
    assert_ok(session_subscribe(&s->stage.session, end, &s->all.subscriber));
    subscribe(s, &from_end, end);
    stage_run(&s->stage, short_run, "again");
    end_scene(s);
    assert_heard(&from_end, &s->all, end);
}

TEST(so_does_what_happened_before_a_restart)
{
    for (size_t at = 1; at < 20; at++) {
        AUTO(scene) struct scene s = {.joins_from = 1, .joins_later = at};

        scene_play(&s, play_restart);
        assert_ok(s.failure);
        assert_true(s.has_joined);
        assert_heard(&s.joined, &s.all, 1);
    }
}

/* --- a history that began anew --- */

static void play_compacted(struct scene *s)
{
    AUTO(watcher) struct watcher whole = {0};
    uint64_t base;

    begin_scene(s);
    stage_run(&s->stage, script, "go");
    stage_compact(&s->stage, "turns:\n - text: The summary.\n", "");
    base = journal_base_seq(s->stage.session.journal);
    assert_true(base > 1);
    stage_run(&s->stage, short_run, "again");
    subscribe(s, &whole, 1);
    subscribe(s, &s->joined, base + 3); /* reads from the base on */
    stage_run(&s->stage, short_run, "and again");
    end_scene(s);
    assert_heard(&whole, &s->all, 1);
    assert_heard(&s->joined, &s->all, base + 3);
}

TEST(a_reader_of_the_end_reads_from_where_the_history_began_anew)
{
    AUTO(scene) struct scene s = {0};

    scene_play(&s, play_compacted);
}

/* --- those who are slow, and those who leave --- */

static void play_slow_reader(struct scene *s)
{
    watcher_init(&s->joined);
    s->joined.pause_ms = s->pause_ms;
    s->joined.pauses_at_calls = s->pause_ms != 60;
    begin_scene(s);
    stage_run(&s->stage, script, "go");
    stage_run(&s->stage, short_run, "again");
    end_scene(s);
}

/* So slow that children begin and end while it reads one event of their parent. */
TEST(a_slow_reader_misses_nothing_and_stops_nobody)
{
    static const uint64_t pauses[] = {20, 60, 250};
    size_t n = count_events();

    for (size_t at = 20; at <= n; at += 4)
        for (uint64_t back = 1; back <= 13; back += 12)
            for (size_t i = 0; i < ARRAY_LEN(pauses); i++) {
                AUTO(scene)
                struct scene s = {.joins_at = at, .joins_back = back, .pause_ms = pauses[i]};

                scene_play(&s, play_slow_reader);
                assert_ok(s.failure);
                assert_heard(&s.joined, &s.all, s.joins_from);
            }
}

static void play_leaving(struct scene *s)
{
    AUTO(watcher) struct watcher fails = {0};
    AUTO(err) struct err *e = NULL;

    begin_scene(s);
    stage_run(&s->stage, short_run, "go");
    watcher_init(&s->joined);
    s->joined.leaves_after = 5;
    assert_ok(session_subscribe(&s->stage.session, 1, &s->joined.subscriber));
    assert_int_equal(s->joined.n_events, 5);
    assert_null(s->joined.subscriber.stream);
    watcher_init(&fails);
    fails.fails_after = 4;
    e = session_subscribe(&s->stage.session, 1, &fails.subscriber);
    assert_true(err_is(e, ERR_NETWORK));
    assert_int_equal(fails.n_events, 4);
    assert_null(fails.subscriber.stream);
    stage_run(&s->stage, short_run, "again");
    assert_int_equal(s->joined.n_events, 5);
    end_scene(s);
}

TEST(one_who_leaves_while_stored_events_are_told_hears_no_more)
{
    AUTO(scene) struct scene s = {0};

    scene_play(&s, play_leaving);
}

static void play_future(struct scene *s)
{
    AUTO(err) struct err *e = NULL;
    uint64_t next;

    begin_scene(s);
    stage_run(&s->stage, short_run, "go");
    next = s->stage.session.conversation.stream.next_seq;
    watcher_init(&s->joined);
    e = session_subscribe(&s->stage.session, next + 1, &s->joined.subscriber);
    assert_true(err_is(e, ERR_VALIDATION));
    assert_ok(session_subscribe(&s->stage.session, next, &s->joined.subscriber));
    assert_int_equal(s->joined.n_events, 0);
    stage_run(&s->stage, short_run, "again");
    end_scene(s);
    assert_heard(&s->joined, &s->all, next);
}

TEST(an_event_that_has_not_happened_cannot_be_wanted)
{
    AUTO(scene) struct scene s = {0};

    scene_play(&s, play_future);
}

/* --- what cannot be read --- */

static struct err *damaged_read(struct store *s, struct str stream, const struct store_query *q,
                                struct store_page *page)
{
    TRY(quick->read(s, stream, q, page));
    for (size_t i = 0; i < page->n; i++)
        if (str_is(page->records[i].type, "context"))
            page->records[i].body = S("{\"used");
    return NULL;
}

static void play_damaged(struct scene *s)
{
    struct str log;

    begin_scene(s);
    stage_run(&s->stage, short_run, "go");
    slow.read = damaged_read;
    watcher_init(&s->joined);
    s->joined.skips = true;
    assert_ok(session_subscribe(&s->stage.session, 1, &s->joined.subscriber));
    stage_run(&s->stage, short_run, "again");
    end_scene(s);
    log = strbuf_str(&s->joined.streams[0].log);
    assert_int_equal(s->joined.n_skipped, 2); /* of the first run; the second was heard */
    assert_true(str_find(log, S("run_begin")) != STR_NONE);
    assert_true(str_find(log, S("session_shutdown")) != STR_NONE);
}

TEST(a_record_that_cannot_be_read_is_left_out)
{
    AUTO(scene) struct scene s = {0};

    scene_play(&s, play_damaged);
}

RUN_TESTS(UNIT(one_who_joins_at_any_event_hears_what_was_and_what_comes),
          UNIT(one_who_wants_a_part_hears_that_part),
          UNIT(what_the_store_does_not_take_is_heard_all_the_same),
          UNIT(what_happens_between_runs_reaches_all_who_listen),
          UNIT(so_does_what_happened_before_a_restart),
          UNIT(a_reader_of_the_end_reads_from_where_the_history_began_anew),
          UNIT(a_slow_reader_misses_nothing_and_stops_nobody),
          UNIT(one_who_leaves_while_stored_events_are_told_hears_no_more),
          UNIT(an_event_that_has_not_happened_cannot_be_wanted),
          UNIT(a_record_that_cannot_be_read_is_left_out))
