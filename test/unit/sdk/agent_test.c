/* agent_test.c - agents put together: what comes back with a session, and what agents share. */
#include "sdk/agent.h"

#include "files.h"
#include "provider/script.h"
#include "sys/loop.h"
#include "sys/tasks.h"

struct world {
    struct temp_dir dir;
    struct arena arena;
    struct host *host;
    struct project *project;
};

static void world_done(struct world *w)
{
    project_unref(w->project);
    host_unref(w->host);
    arena_done(&w->arena);
    temp_dir_done(&w->dir);
}
DEFINE_AUTO_VAL(world, world_done)

static struct world new_world(void)
{
    struct world w = {.dir = temp_dir_make()};
    const char **environment = ARENA_ARRAY(&w.arena, 3, const char *);
    struct project_options options;

    put(&w.dir, "home/", "");
    put(&w.dir, "work/", "");
    environment[0] = arena_format(&w.arena, "HOME=%s/home", w.dir.path).p;
    environment[1] = "PATH=/usr/bin:/bin";
    w.host = host_new(&(struct host_options){.environment = environment});
    options = (struct project_options){.cwd = arena_format(&w.arena, "%s/work", w.dir.path).p};
    assert_ok(project_open(w.host, &options, &w.project));
    return w;
}

static struct err *say_hello(struct agent *a)
{
    AUTO(message) struct message *input = message_new(ROLE_USER, S("input"));
    AUTO(run_result) struct run_result result = {0};

    message_add_text(input, S("Hello."));
    TRY(agent_run(a, &(struct run_input){.prompt = input}, &result));
    return TAKE(result.error);
}

/* --- modes --- */

struct resumed {
    struct world *world;
    const char *mode;
    enum permission_mode want;
};

static struct err *use_mode(struct resumed *x, const struct provider *provider, char *ret_id)
{
    AUTO(agent) struct agent a = {0};

    TRY(agent_open(&a, x->world->project,
                   &(struct agent_options){.provider = provider, .mode = x->mode}));
    TRY(say_hello(&a));
    strcpy(ret_id, a.session.conversation.id);
    return NULL;
}

static struct err *resume_with_mode(void *arg)
{
    struct resumed *x = arg;
    AUTO(provider) struct provider *provider = NULL;
    AUTO(agent) struct agent again = {0};
    char id[64];

    TRY(script_provider_new(S("m"), S("turns:\n - text: Hello.\n"), &provider));
    TRY(use_mode(x, provider, id));
    TRY(agent_open(&again, x->world->project,
                   &(struct agent_options){.provider = provider, .session.resume = id}));
    EXPECT(again.mode == x->want);
    return NULL;
}

TEST(every_mode_comes_back_with_a_session_but_bypass_permissions)
{
    static const struct {
        const char *mode;
        enum permission_mode want;
    } cases[] = {{"plan", MODE_PLAN},
                 {"default", MODE_DEFAULT},
                 {"acceptEdits", MODE_ACCEPT_EDITS},
                 {"bypassPermissions", MODE_DEFAULT}};

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(world) struct world w = new_world();
        struct resumed x = {&w, cases[i].mode, cases[i].want};

        assert_ok(loop_run_once(resume_with_mode, &x));
    }
}

/* --- what is shared --- */

static struct err *open_two(void *arg)
{
    struct world *w = arg;
    AUTO(provider) struct provider *provider = NULL;
    AUTO(agent) struct agent a = {0}, b = {0};
    struct agent_options options;

    TRY(script_provider_new(S("m"), S("turns:\n - text: One.\n - text: Two.\n"), &provider));
    options = (struct agent_options){.provider = provider};
    TRY(agent_open(&a, w->project, &options));
    TRY(agent_open(&b, w->project, &options));
    EXPECT(a.store == b.store && a.is_kept);
    EXPECT(strcmp(a.session.conversation.id, b.session.conversation.id) != 0);
    TRY(say_hello(&a));
    return say_hello(&b);
}

TEST(two_agents_of_a_project_share_one_store)
{
    AUTO(world) struct world w = new_world();

    assert_ok(loop_run_once(open_two, &w));
}

static struct err *open_twice(void *arg)
{
    struct world *w = arg;
    AUTO(provider) struct provider *provider = NULL;
    AUTO(agent) struct agent a = {0}, b = {0};

    TRY(script_provider_new(S("m"), S("turns:\n - text: One.\n"), &provider));
    TRY(agent_open(&a, w->project, &(struct agent_options){.provider = provider}));
    TRY(say_hello(&a));
    EXPECT_ERR(agent_open(&b, w->project,
                          &(struct agent_options){.provider = provider,
                                                  .session.resume = a.session.conversation.id}),
               ERR_STORAGE);
    return NULL;
}

TEST(two_agents_of_a_project_cannot_have_the_same_session)
{
    AUTO(world) struct world w = new_world();

    assert_ok(loop_run_once(open_twice, &w));
}

/* --- secrets --- */

#define FETCHED "fetched-later-4711"

static struct err *end_the_first(void *arg)
{
    struct world *w = arg;
    AUTO(provider) struct provider *provider = NULL;
    AUTO(agent) struct agent a = {0}, b = {0};
    AUTO(strbuf) struct strbuf shown = {0};
    struct agent_options options;

    TRY(script_provider_new(S("m"), S("turns:\n - text: One.\n"), &provider));
    options = (struct agent_options){.provider = provider};
    TRY(agent_open(&a, w->project, &options));
    TRY(agent_open(&b, w->project, &options));
    EXPECT(w->project->credentials.secrets == a.secrets && a.secrets == b.secrets);
    agent_done(&b);
    secrets_learn(w->project->credentials.secrets, &(struct secret_value){S("KEY"), S(FETCHED)});
    EXPECT(str_is(secrets_hide(a.secrets, S(FETCHED), &shown, NULL), "[REDACTED]"));
    return NULL;
}

TEST(a_key_that_is_fetched_when_another_agent_has_ended_is_hidden)
{
    AUTO(world) struct world w = new_world();

    assert_ok(loop_run_once(end_the_first, &w));
}

/* --- what requests begin with --- */

static const struct json *prefix_of(const struct agent *a)
{
    return tool_state_get(a->session.conversation.state, STATE_PREFIX, STATE_UNNAMED);
}

static struct err *begin_alike(void *arg)
{
    struct world *w = arg;
    AUTO(provider) struct provider *provider = NULL;
    AUTO(agent) struct agent a = {0}, b = {0}, again = {0}, other = {0};
    struct agent_options options;
    char id[64];

    TRY(script_provider_new(
        S("m"), S("turns:\n - text: One.\n - text: Two.\n - text: Three.\n - text: Four.\n"),
        &provider));
    options = (struct agent_options){.provider = provider};
    TRY(agent_open(&a, w->project, &options));
    TRY(agent_open(&b, w->project, &options));
    TRY(say_hello(&a));
    TRY(say_hello(&b));
    EXPECT(prefix_of(&a) && prefix_of(&a) == prefix_of(&b));
    EXPECT(a.plan.system.p == b.plan.system.p && a.plan.told_tools == b.plan.told_tools);

    strcpy(id, b.session.conversation.id);
    agent_done(&b);
    options.session.resume = id;
    TRY(agent_open(&again, w->project, &options));
    TRY(say_hello(&again));
    EXPECT(prefix_of(&a) == prefix_of(&again));

    options.session.resume = NULL;
    options.system_prompt = "Be brief.";
    TRY(agent_open(&other, w->project, &options));
    TRY(say_hello(&other));
    EXPECT(prefix_of(&a) != prefix_of(&other));
    return NULL;
}

TEST(sessions_that_begin_alike_hold_one_prefix)
{
    AUTO(world) struct world w = new_world();

    assert_ok(loop_run_once(begin_alike, &w));
}

RUN_TESTS(UNIT(every_mode_comes_back_with_a_session_but_bypass_permissions),
          UNIT(two_agents_of_a_project_share_one_store),
          UNIT(two_agents_of_a_project_cannot_have_the_same_session),
          UNIT(a_key_that_is_fetched_when_another_agent_has_ended_is_hidden),
          UNIT(sessions_that_begin_alike_hold_one_prefix))
