/* event_emitter_test.c */
#include "view/samples.h"

#include "view/event_emitter.h"

/* An emitter, and listeners that write down what they hear: "a:tool.execute_start ". */
struct scene {
    struct samples s;
    struct event_emitter *emitter;
    struct strbuf heard, failures;
};

struct ear {
    struct scene *scene;
    const char *name;
    uint64_t id;      /* its own subscription */
    uint64_t removes; /* when it hears something; 0: nobody */
    const char *adds; /* a pattern for `added`; NULL: nothing */
    struct ear *added;
    bool fails;
};

static struct err *listen(void *self, const struct emitted *e)
{
    struct ear *ear = self;
    struct scene *scene = ear->scene;

    strbuf_addf(&scene->heard, "%s:%s ", ear->name, e->name);
    if (ear->removes)
        event_emitter_off(scene->emitter, ear->removes);
    if (ear->adds) {
        assert_ok(event_emitter_on(scene->emitter, ear->adds,
                                   (struct emitter_listener){listen, ear->added}, &ear->added->id));
        ear->adds = NULL;
    }
    return ear->fails ? err_new(ERR_NETWORK, "%s is deaf", ear->name) : NULL;
}

static void on_failure(void *self, const char *name, const struct err *e)
{
    struct scene *scene = self;

    strbuf_addf(&scene->failures, "%s: %s; ", name, e->text);
}

static void scene_init(struct scene *scene)
{
    *scene = (struct scene){0};
    samples_init(&scene->s);
    scene->emitter = event_emitter_new((struct emitter_failures){on_failure, scene});
}

static void scene_done(struct scene *scene)
{
    event_emitter_free(scene->emitter);
    strbuf_done(&scene->heard);
    strbuf_done(&scene->failures);
    samples_done(&scene->s);
}
DEFINE_AUTO_VAL(scene, scene_done)

static void subscribe(struct scene *scene, struct ear *ear, const char *name, const char *pattern)
{
    ear->scene = scene;
    ear->name = name;
    assert_ok(event_emitter_on(scene->emitter, pattern, (struct emitter_listener){listen, ear},
                               &ear->id));
}

static void happen(struct scene *scene, enum event_type t)
{
    struct event_subscriber *s = event_emitter_subscriber(scene->emitter);

    s->on_event(s->self, &scene->s.events[t]);
}

static void assert_heard(struct scene *scene, const char *want)
{
    assert_str(strbuf_str(&scene->heard), want);
    strbuf_clear(&scene->heard);
}

TEST(a_run_is_heard_by_dotted_names)
{
    AUTO(scene) struct scene scene;
    struct ear all = {0};

    scene_init(&scene);
    subscribe(&scene, &all, "all", "*");
    happen(&scene, EVENT_RUN_BEGIN);
    happen(&scene, EVENT_USER_INPUT);
    happen(&scene, EVENT_TOOL_BEGIN);
    happen(&scene, EVENT_TOOL_RESULT);
    scene.s.events[EVENT_TOOL_RESULT].body.tool.is_ok = false;
    happen(&scene, EVENT_TOOL_RESULT);
    happen(&scene, EVENT_RUN_END);
    assert_heard(&scene, "all:agent.created all:execution.start all:user.input "
                         "all:tool.execute_start all:tool.execute_success all:tool.execute_error "
                         "all:execution.complete all:agent.completion ");
}

TEST(a_child_run_is_a_task)
{
    AUTO(scene) struct scene scene;
    struct ear tasks = {0};

    scene_init(&scene);
    subscribe(&scene, &tasks, "t", "task.*");
    scene.s.events[EVENT_RUN_BEGIN].parent_stream = S("s0");
    scene.s.events[EVENT_RUN_END].owner = &scene.s.call;
    happen(&scene, EVENT_RUN_BEGIN);
    happen(&scene, EVENT_RUN_END);
    scene.s.run_result.outcome = RUN_INTERRUPTED;
    happen(&scene, EVENT_RUN_END);
    assert_heard(&scene, "t:task.started t:task.completed t:task.failed ");
}

TEST(an_agent_is_created_once)
{
    AUTO(scene) struct scene scene;
    struct ear agent = {0};

    scene_init(&scene);
    subscribe(&scene, &agent, "a", "agent.created");
    happen(&scene, EVENT_RUN_BEGIN);
    scene.s.events[EVENT_RUN_BEGIN].turn = 2;
    happen(&scene, EVENT_RUN_BEGIN);
    assert_heard(&scene, "a:agent.created ");
}

TEST(listeners_are_called_in_the_order_they_came_and_only_for_what_they_want)
{
    AUTO(scene) struct scene scene;
    struct ear one = {0}, two = {0}, three = {0}, other = {0};

    scene_init(&scene);
    subscribe(&scene, &one, "1", "tool.*");
    subscribe(&scene, &other, "x", "execution.*");
    subscribe(&scene, &two, "2", "tool.execute_start");
    subscribe(&scene, &three, "3", "*");
    happen(&scene, EVENT_TOOL_BEGIN);
    assert_heard(&scene, "1:tool.execute_start 2:tool.execute_start 3:tool.execute_start ");
}

static struct err *check_path(void *self, const struct emitted *e)
{
    struct strbuf *path = self;

    for (const struct owner *o = e->owner; o; o = o->parent)
        strbuf_addf(path, "%s/%" STR_FMT " ", o->type, STR_ARG(o->id));
    assert_int_equal(e->event->type, EVENT_TOOL_BEGIN);
    return NULL;
}

TEST(an_event_comes_with_its_owners)
{
    AUTO(scene) struct scene scene;
    AUTO(strbuf) struct strbuf path = {0};
    uint64_t id;

    scene_init(&scene);
    assert_ok(
        event_emitter_on(scene.emitter, "*", (struct emitter_listener){check_path, &path}, &id));
    happen(&scene, EVENT_TOOL_BEGIN);
    assert_str(strbuf_str(&path), "tool/c1 execution/r1 agent/main ");
}

TEST(who_unsubscribes_hears_no_more)
{
    AUTO(scene) struct scene scene;
    struct ear ear = {0};

    scene_init(&scene);
    subscribe(&scene, &ear, "a", "*");
    assert_true(event_emitter_off(scene.emitter, ear.id));
    assert_false(event_emitter_off(scene.emitter, ear.id));
    assert_false(event_emitter_off(scene.emitter, 0));
    happen(&scene, EVENT_USER_INPUT);
    assert_heard(&scene, "");
}

TEST(a_listener_may_unsubscribe_itself_while_it_is_called)
{
    AUTO(scene) struct scene scene;
    struct ear once = {0}, always = {0};

    scene_init(&scene);
    subscribe(&scene, &once, "once", "*");
    subscribe(&scene, &always, "always", "*");
    once.removes = once.id;
    happen(&scene, EVENT_USER_INPUT);
    happen(&scene, EVENT_USER_INPUT);
    assert_heard(&scene, "once:user.input always:user.input always:user.input ");
}

TEST(a_listener_may_unsubscribe_another_that_is_then_not_called)
{
    AUTO(scene) struct scene scene;
    struct ear first = {0}, second = {0}, third = {0};

    scene_init(&scene);
    subscribe(&scene, &first, "1", "*");
    subscribe(&scene, &second, "2", "*");
    subscribe(&scene, &third, "3", "*");
    first.removes = second.id;
    happen(&scene, EVENT_USER_INPUT);
    assert_heard(&scene, "1:user.input 3:user.input ");
}

TEST(who_subscribes_while_listeners_are_called_hears_the_next_event)
{
    AUTO(scene) struct scene scene;
    struct ear first = {0}, late = {.scene = &scene, .name = "late"};

    scene_init(&scene);
    subscribe(&scene, &first, "1", "*");
    first.adds = "*";
    first.added = &late;
    happen(&scene, EVENT_USER_INPUT);
    happen(&scene, EVENT_USER_INPUT);
    assert_heard(&scene, "1:user.input 1:user.input late:user.input ");
}

TEST(a_listener_that_fails_is_reported_and_stops_nobody)
{
    AUTO(scene) struct scene scene;
    struct ear bad = {.fails = true}, good = {0};
    struct emitter_metrics m;

    scene_init(&scene);
    subscribe(&scene, &bad, "bad", "*");
    subscribe(&scene, &good, "good", "*");
    happen(&scene, EVENT_USER_INPUT);
    assert_heard(&scene, "bad:user.input good:user.input ");
    assert_str(strbuf_str(&scene.failures), "user.input: bad is deaf; ");
    m = event_emitter_metrics(scene.emitter);
    assert_int_equal(m.n_failed, 1);
    assert_int_equal(m.n_handled, 2);
    assert_int_equal(m.n_listeners, 2);
}

TEST(events_are_counted_by_name_whether_or_not_somebody_listens)
{
    AUTO(scene) struct scene scene;

    scene_init(&scene);
    happen(&scene, EVENT_TOOL_BEGIN);
    happen(&scene, EVENT_TOOL_BEGIN);
    happen(&scene, EVENT_USER_INPUT);
    assert_int_equal(event_emitter_count(scene.emitter, "tool.execute_start"), 2);
    assert_int_equal(event_emitter_count(scene.emitter, "user.input"), 1);
    assert_int_equal(event_emitter_count(scene.emitter, "agent.completion"), 0);
    assert_int_equal(event_emitter_metrics(scene.emitter).n_emitted, 3);
}

TEST(what_can_be_no_name_is_refused)
{
    static const char *const bad[] = {"",      "tool",    ".x",      "tool.", "tool.*x", "*.start",
                                      "a.b.c", "tool. x", "tool.x*", "**",    "*x",      "to ol.x"};
    AUTO(scene) struct scene scene;
    uint64_t id;

    scene_init(&scene);
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        assert_err(
            event_emitter_on(scene.emitter, bad[i], (struct emitter_listener){listen, NULL}, &id),
            ERR_VALIDATION);
}

TEST(listeners_have_a_cap)
{
    AUTO(scene) struct scene scene;
    struct emitter_listener listener = {listen, NULL};
    uint64_t id;

    scene_init(&scene);
    for (int i = 0; i < EVENT_EMITTER_MAX_LISTENERS; i++)
        assert_ok(event_emitter_on(scene.emitter, "agent.created", listener, &id));
    assert_err(event_emitter_on(scene.emitter, "agent.created", listener, &id), ERR_PLUGIN);
    assert_true(event_emitter_off(scene.emitter, id));
    assert_ok(event_emitter_on(scene.emitter, "agent.created", listener, &id));
}

RUN_TESTS(UNIT(a_run_is_heard_by_dotted_names), UNIT(a_child_run_is_a_task),
          UNIT(an_agent_is_created_once),
          UNIT(listeners_are_called_in_the_order_they_came_and_only_for_what_they_want),
          UNIT(an_event_comes_with_its_owners), UNIT(who_unsubscribes_hears_no_more),
          UNIT(a_listener_may_unsubscribe_itself_while_it_is_called),
          UNIT(a_listener_may_unsubscribe_another_that_is_then_not_called),
          UNIT(who_subscribes_while_listeners_are_called_hears_the_next_event),
          UNIT(a_listener_that_fails_is_reported_and_stops_nobody),
          UNIT(events_are_counted_by_name_whether_or_not_somebody_listens),
          UNIT(what_can_be_no_name_is_refused), UNIT(listeners_have_a_cap))
