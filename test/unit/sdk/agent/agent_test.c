/* agent_test.c - agents put together: what comes back with a session, and what agents share. */
#include "sdk/agent/parts.h"

#include "files.h"
#include "provider/script.h"
#include "sys/loop.h"
#include "sys/tasks.h"

#ifdef __SANITIZE_ADDRESS__
size_t __sanitizer_get_current_allocated_bytes(void);
#else
#include <malloc.h>
#endif

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
    const char **environment = ARENA_ARRAY(&w.arena, 4, const char *);
    struct project_options options;

    put(&w.dir, "home/", "");
    put(&w.dir, "work/", "");
    environment[0] = arena_format(&w.arena, "HOME=%s/home", w.dir.path).p;
    environment[1] = "PATH=/usr/bin:/bin";
    environment[2] = "ANTHROPIC_API_KEY=x";
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
    AUTO(agent) struct agent *a = NULL;

    TRY(agent_open(x->world->project,
                   &(struct agent_options){.provider = provider, .mode = x->mode}, &a));
    TRY(say_hello(a));
    strcpy(ret_id, a->session.conversation.id);
    return NULL;
}

static struct err *resume_with_mode(void *arg)
{
    struct resumed *x = arg;
    AUTO(provider) struct provider *provider = NULL;
    AUTO(agent) struct agent *again = NULL;
    char id[64];

    TRY(script_provider_new(S("m"), S("turns:\n - text: Hello.\n"), &provider));
    TRY(use_mode(x, provider, id));
    TRY(agent_open(x->world->project,
                   &(struct agent_options){.provider = provider, .session.resume = id}, &again));
    EXPECT(again->mode == x->want);
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
    AUTO(agent) struct agent *a = NULL, *b = NULL;
    struct agent_options options;

    TRY(script_provider_new(S("m"), S("turns:\n - text: One.\n - text: Two.\n"), &provider));
    options = (struct agent_options){.provider = provider};
    TRY(agent_open(w->project, &options, &a));
    TRY(agent_open(w->project, &options, &b));
    EXPECT(a->store == b->store && a->is_kept);
    EXPECT(a->base == b->base);
    EXPECT(strcmp(a->session.conversation.id, b->session.conversation.id) != 0);
    TRY(say_hello(a));
    return say_hello(b);
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
    AUTO(agent) struct agent *a = NULL, *b = NULL;

    TRY(script_provider_new(S("m"), S("turns:\n - text: One.\n"), &provider));
    TRY(agent_open(w->project, &(struct agent_options){.provider = provider}, &a));
    TRY(say_hello(a));
    EXPECT_ERR(agent_open(w->project,
                          &(struct agent_options){.provider = provider,
                                                  .session.resume = a->session.conversation.id},
                          &b),
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
    AUTO(agent) struct agent *a = NULL, *b = NULL;
    AUTO(strbuf) struct strbuf shown = {0};
    struct agent_options options;

    TRY(script_provider_new(S("m"), S("turns:\n - text: One.\n"), &provider));
    options = (struct agent_options){.provider = provider};
    TRY(agent_open(w->project, &options, &a));
    TRY(agent_open(w->project, &options, &b));
    EXPECT(w->project->credentials.secrets == project_secrets(w->project, NULL));
    agent_close(TAKE(b));
    secrets_learn(w->project->credentials.secrets, &(struct secret_value){S("KEY"), S(FETCHED)});
    EXPECT(str_is(secrets_hide(a->project->secrets, S(FETCHED), &shown, NULL), "[REDACTED]"));
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
    AUTO(agent) struct agent *a = NULL, *b = NULL, *again = NULL, *other = NULL;
    struct agent_options options;
    char id[64];

    TRY(script_provider_new(
        S("m"), S("turns:\n - text: One.\n - text: Two.\n - text: Three.\n - text: Four.\n"),
        &provider));
    options = (struct agent_options){.provider = provider};
    TRY(agent_open(w->project, &options, &a));
    TRY(agent_open(w->project, &options, &b));
    TRY(say_hello(a));
    TRY(say_hello(b));
    EXPECT(prefix_of(a) && prefix_of(a) == prefix_of(b));
    EXPECT(a->plan->plan.system.p == b->plan->plan.system.p &&
           a->plan->plan.told_tools == b->plan->plan.told_tools);

    strcpy(id, b->session.conversation.id);
    agent_close(TAKE(b));
    options.session.resume = id;
    TRY(agent_open(w->project, &options, &again));
    TRY(say_hello(again));
    EXPECT(prefix_of(a) == prefix_of(again));

    options.session.resume = NULL;
    options.system_prompt = "Be brief.";
    TRY(agent_open(w->project, &options, &other));
    TRY(say_hello(other));
    EXPECT(prefix_of(a) != prefix_of(other));
    return NULL;
}

TEST(sessions_that_begin_alike_hold_one_prefix)
{
    AUTO(world) struct world w = new_world();

    assert_ok(loop_run_once(begin_alike, &w));
}

/* --- switches --- */

static size_t live_bytes(void)
{
#ifdef __SANITIZE_ADDRESS__
    return __sanitizer_get_current_allocated_bytes();
#else
    return mallinfo2().uordblks;
#endif
}

static struct err *switch_often(struct agent *a, int n)
{
    for (int i = 0; i < n; i++) {
        TRY(agent_set_model(a,
                            i % 2 ? "anthropic/claude-sonnet-4-5" : "anthropic/claude-opus-4-1"));
        TRY(agent_set_prompt(a, i % 2 ? "Be brief." : "Say all there is to say.", "Be polite."));
        agent_set_thinking(a, i % 2);
    }
    return NULL;
}

static struct err *switch_for_ever(void *arg)
{
    struct world *w = arg;
    AUTO(agent) struct agent *a = NULL;
    AUTO(model_choice) struct model_choice *first = NULL;
    size_t before;

    TRY(project_choose_model(w->project, "anthropic/claude-sonnet-4-5", &first));
    TRY(agent_open(w->project, &(struct agent_options){.model = first}, &a));
    TRY(switch_often(a, 100));
    before = live_bytes();
    TRY(switch_often(a, 10000));
    EXPECT(live_bytes() == before);
    return NULL;
}

TEST(ten_thousand_switches_of_model_and_prompt_leave_nothing_behind)
{
    AUTO(world) struct world w = new_world();

    assert_ok(loop_run_once(switch_for_ever, &w));
}

/* --- by any task --- */

struct handed {
    struct world *world;
    struct provider *provider;
    struct agent *agent;
};

static struct err *open_it(void *arg)
{
    struct handed *h = arg;

    return agent_open(h->world->project, &(struct agent_options){.provider = h->provider},
                      &h->agent);
}

static struct err *use_it(void *arg)
{
    return say_hello(((struct handed *)arg)->agent);
}

static struct err *end_it(void *arg)
{
    agent_close(((struct handed *)arg)->agent);
    return NULL;
}

static struct err *run_alone(task_fn fn, struct handed *h)
{
    struct group g;

    group_begin(&g, 0, 0);
    group_spawn(&g, "one of many", fn, h);
    return group_end(&g);
}

static struct err *hand_around(void *arg)
{
    struct handed h = {.world = arg};
    struct err *e;

    TRY(script_provider_new(S("m"), S("turns:\n - text: One.\n - text: Two.\n"), &h.provider));
    e = run_alone(open_it, &h);
    if (!e)
        e = run_alone(use_it, &h);
    if (!e)
        e = run_alone(use_it, &h);
    err_ignore(run_alone(end_it, &h), "it does not fail");
    provider_free(h.provider);
    return e;
}

TEST(an_agent_is_opened_used_and_ended_by_different_tasks)
{
    AUTO(world) struct world w = new_world();

    assert_ok(loop_run_once(hand_around, &w));
}

RUN_TESTS(UNIT(every_mode_comes_back_with_a_session_but_bypass_permissions),
          UNIT(two_agents_of_a_project_share_one_store),
          UNIT(two_agents_of_a_project_cannot_have_the_same_session),
          UNIT(a_key_that_is_fetched_when_another_agent_has_ended_is_hidden),
          UNIT(sessions_that_begin_alike_hold_one_prefix),
          UNIT(ten_thousand_switches_of_model_and_prompt_leave_nothing_behind),
          UNIT(an_agent_is_opened_used_and_ended_by_different_tasks))
