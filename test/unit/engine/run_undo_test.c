/* run_undo_test.c - a run tells what files were, and that is enough to take it all back. */
#include "engine/world.h"

#include "snapshot/scene.h"

/* What the run's events say of files, in their order. */
struct told {
    struct world world;
    struct scene scene;
    struct strbuf order;
    bool cancels_commands;
};

static struct err *toy_command(const struct tool *t, struct tool_context *c,
                               const struct json *args, struct tool_result *r)
{
    struct told *told = t->self;

    run_announced(&(struct announcer){.dir = told->scene.workspace, .observer = c->observer},
                  arena_cstr(&told->scene.arena, json_get_text(args, "command")));
    if (!told->cancels_commands)
        return NULL;
    loop_cancel(task_loop());
    return task_sleep(1000);
}

static void keep(struct told *t, const struct pre_image *image)
{
    struct arena *a = &t->scene.arena;
    struct pre_image copy = *image;

    copy.path = arena_str(a, copy.path);
    copy.content = arena_str(a, copy.content);
    copy.bytes = arena_str(a, copy.bytes);
    copy.why_not = arena_str(a, copy.why_not);
    copy.after = arena_str(a, copy.after);
    pre_images_add(&t->scene.images, a, copy);
}

static void on_event(void *self, const struct event *e)
{
    struct told *t = self;

    if (e->type == EVENT_TOOL_BEGIN)
        strbuf_add_cstr(&t->order, "begin ");
    if (e->type == EVENT_SNAPSHOT)
        strbuf_addf(&t->order, "snapshot(%s) ", e->body.snapshot.record->log.n ? "log" : "file");
    if (e->type == EVENT_PRE_IMAGE) {
        strbuf_addf(&t->order, "image ");
        keep(t, e->body.image.image);
    }
    if (e->type == EVENT_TOOL_RESULT)
        strbuf_addf(&t->order, "result ");
}

static struct err *run_it(void *arg)
{
    struct told *t = arg;
    struct world_gate gate = {{world_judge}, &t->world};
    struct event_subscriber subscriber = {.on_event = on_event, .self = t};
    struct world *w = &t->world;
    AUTO(message) struct message *prompt = message_new(ROLE_USER, S("m"));

    message_add_text(prompt, S("go"));
    w->plan = (struct run_plan){.targets = w->targets,
                                .n_targets = 1,
                                .tools = w->registry,
                                .filter = {.allows_all = true}};
    w->input = (struct run_input){.prompt = prompt};
    w->kit = (struct run_kit){.plan = world_plan,
                              .plan_self = w,
                              .gate = &gate.gate,
                              .launcher = &launcher_plain,
                              .snapshotter = t->scene.snapshotter};
    event_stream_subscribe(&w->conversation.stream, &subscriber);
    run_start(&w->conversation, &w->input, &w->kit, NULL, &w->result);
    event_stream_unsubscribe(&subscriber);
    return NULL;
}

static const struct tool bash_toy =
    TOY("Bash", toy_command, "\"command\":{\"type\":\"string\"}", "\"command\"", );

static void run_commands(struct told *t, const char *script)
{
    struct tool *bash = mem_copy(&bash_toy, sizeof *bash);
    struct err *e;

    bash->risk = RISK_EXECUTE;
    bash->needs = NEEDS_LAUNCHER;
    bash->self = t;
    bash->free = (void (*)(struct tool *))mem_free;
    world_open(&t->world);
    assert_ok(tool_registry_add(t->world.registry, bash, NULL));
    world_add_target(&t->world, 0, script);
    t->scene.snapshotter = snapshotter_new(&t->scene.options);
    e = loop_run_once(run_it, t);
    err_ignore(e, "the run's result tells");
}

static void told_close(struct told *t)
{
    world_close(&t->world);
    scene_close(&t->scene);
    strbuf_done(&t->order);
}
DEFINE_AUTO_VAL(told, told_close)

TEST(a_run_that_removes_a_tree_is_taken_back_from_its_events)
{
    AUTO(told) struct told t = {0};

    scene_open(&t.scene);
    put(&t.scene.dir, "ws/src/a.c", "int a;\n");
    put(&t.scene.dir, "ws/src/b.c", "int b;\n");
    scene_remember(&t.scene);
    run_commands(&t, "turns:\n"
                     " - [{tool: Bash, id: c1, args: {command: rm -rf src}}]\n"
                     " - [{tool: Bash, id: c2, args: {command: echo x > new}}]\n"
                     " - text: done\n");
    assert_str(strbuf_str(&t.order),
               "begin snapshot(log) image image image result begin snapshot(log) image result ");
    scene_restore(&t.scene);
    scene_assert_same(&t.scene);
}

TEST(what_a_cancelled_command_did_is_told)
{
    AUTO(told) struct told t = {.cancels_commands = true};

    scene_open(&t.scene);
    put(&t.scene.dir, "ws/a", "one");
    scene_remember(&t.scene);
    run_commands(&t, "turns:\n - [{tool: Bash, id: c1, args: {command: rm a}}]\n - text: done\n");
    assert_int_equal(t.world.result.outcome, RUN_INTERRUPTED);
    scene_restore(&t.scene);
    scene_assert_same(&t.scene);
}

RUN_TESTS(UNIT(a_run_that_removes_a_tree_is_taken_back_from_its_events),
          UNIT(what_a_cancelled_command_did_is_told))
