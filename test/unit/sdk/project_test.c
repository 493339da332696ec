/* project_test.c - a directory and its settings, and what several of them share. */
#include "sdk/project.h"

#include "files.h"
#include "sys/loop.h"
#include "sys/tasks.h"

struct world {
    struct temp_dir dir;
    struct arena arena;
    struct host *host;
};

static void world_done(struct world *w)
{
    host_unref(w->host);
    arena_done(&w->arena);
    temp_dir_done(&w->dir);
}
DEFINE_AUTO_VAL(world, world_done)

static const char *path_of(struct world *w, const char *name)
{
    return arena_format(&w->arena, "%s/%s", w->dir.path, name).p;
}

static struct world new_world(void)
{
    struct world w = {.dir = temp_dir_make()};
    const char **environment = ARENA_ARRAY(&w.arena, 3, const char *);

    put(&w.dir, "home/", "");
    put(&w.dir, "a/", "");
    put(&w.dir, "b/", "");
    environment[0] = arena_format(&w.arena, "HOME=%s/home", w.dir.path).p;
    environment[1] = "ANTHROPIC_API_KEY=k";
    w.host = host_new(&(struct host_options){.environment = environment});
    return w;
}

static struct project *open_at(struct world *w, const char *name)
{
    struct project *p;

    assert_ok(project_open(w->host, &(struct project_options){.cwd = path_of(w, name)}, &p));
    return p;
}

TEST(the_project_of_a_directory_is_the_repository_around_it)
{
    AUTO(world) struct world w = new_world();
    AUTO(project) struct project *plain = open_at(&w, "a");
    AUTO(project) struct project *inner = NULL;

    put(&w.dir, "r/.git/HEAD", "ref: refs/heads/main\n");
    put(&w.dir, "r/src/", "");
    inner = open_at(&w, "r/src");
    assert_string_equal(plain->place.dir, path_of(&w, "a"));
    assert_false(plain->is_repository);
    assert_string_equal(inner->place.dir, path_of(&w, "r"));
    assert_string_equal(inner->place.cwd, path_of(&w, "r/src"));
    assert_string_equal(inner->place.home, path_of(&w, "home"));
    assert_string_equal(inner->place.keel_home, path_of(&w, "home/.keel"));
    assert_true(inner->is_repository);
}

TEST(each_project_of_a_host_has_its_own_settings)
{
    AUTO(world) struct world w = new_world();
    AUTO(project) struct project *a = NULL, *b = NULL;

    put(&w.dir, "home/.keel/settings.json", "{\"maxTurns\": 3}");
    a = open_at(&w, "a");
    assert_ok(project_open(
        w.host,
        &(struct project_options){.cwd = path_of(&w, "b"), .settings_file = "{\"maxTurns\": 4}"},
        &b));
    assert_int_equal(settings_int(a->settings, "maxTurns", 0), 3);
    assert_int_equal(settings_int(b->settings, "maxTurns", 0), 4);
}

TEST(what_is_written_to_the_settings_later_counts_for_a_project_that_is_opened_later)
{
    AUTO(world) struct world w = new_world();
    AUTO(project) struct project *before = open_at(&w, "a"), *after = NULL;

    put(&w.dir, "home/.keel/settings.json", "{\"maxTurns\": 3}");
    after = open_at(&w, "a");
    assert_int_equal(settings_int(before->settings, "maxTurns", 0), 0);
    assert_int_equal(settings_int(after->settings, "maxTurns", 0), 3);
}

TEST(settings_that_cannot_be_used_open_no_project)
{
    AUTO(world) struct world w = new_world();
    struct project *p = NULL;

    put(&w.dir, "home/.keel/settings.json", "{\"maxTurns\": \"three\"}");
    assert_err(project_open(w.host, &(struct project_options){.cwd = path_of(&w, "a")}, &p),
               ERR_VALIDATION);
    assert_null(p);
}

/* --- what is shared --- */

struct pair {
    struct project *a, *b;
};

static struct err *have_one_client(void *arg)
{
    struct pair *x = arg;
    struct http_client *of_b;

    TRY(x->b->http.get(x->b->http.self, &of_b));
    EXPECT(project_provider_call(x->a, NULL).http == of_b);
    EXPECT(project_provider_call(x->a, NULL).credentials !=
           project_provider_call(x->b, NULL).credentials);
    return NULL;
}

TEST(two_projects_of_a_host_share_its_client_and_not_their_keys)
{
    AUTO(world) struct world w = new_world();
    AUTO(project) struct project *a = open_at(&w, "a"), *b = open_at(&w, "b");
    struct pair x = {a, b};

    assert_ok(loop_run_once(have_one_client, &x));
}

static struct err *have_two_clients(void *arg)
{
    struct pair *x = arg;

    EXPECT(project_provider_call(x->a, NULL).http != project_provider_call(x->b, NULL).http);
    return NULL;
}

TEST(a_project_that_trusts_other_authorities_has_another_client)
{
    AUTO(world) struct world w = new_world();
    AUTO(project) struct project *a = open_at(&w, "a"), *b = NULL;
    struct pair x;

    assert_ok(project_open(w.host,
                           &(struct project_options){.cwd = path_of(&w, "b"),
                                                     .settings_file = "{\"caFile\": \"/x.pem\"}"},
                           &b));
    x = (struct pair){a, b};
    assert_ok(loop_run_once(have_two_clients, &x));
}

TEST(who_chooses_the_same_model_gets_the_same)
{
    AUTO(world) struct world w = new_world();
    AUTO(project) struct project *a = open_at(&w, "a"), *b = open_at(&w, "b");
    AUTO(model_choice) struct model_choice *one = NULL, *two = NULL, *other = NULL, *far = NULL;
    AUTO(model_choice) struct model_choice *first = NULL, *again = NULL;

    assert_ok(project_choose_model(a, "anthropic/m", &one));
    assert_ok(project_choose_model(a, "anthropic/m", &two));
    assert_ok(project_choose_model(a, "anthropic/n", &other));
    assert_ok(project_choose_model(b, "anthropic/m", &far));
    assert_ok(project_choose_model(a, NULL, &first));
    assert_ok(project_choose_model(a, NULL, &again));
    assert_ptr_equal(one, two);
    assert_ptr_equal(first, again);
    assert_ptr_not_equal(one, other);
    assert_ptr_not_equal(one, far);
    assert_str(one->profile.model, "m");
    assert_str(other->profile.model, "n");
}

TEST(a_model_that_cannot_be_asked_is_not_chosen)
{
    AUTO(world) struct world w = new_world();
    AUTO(project) struct project *a = open_at(&w, "a");
    struct model_choice *m = NULL;

    assert_err(project_choose_model(a, "openai/m", &m), ERR_CONFIGURATION);
    assert_err(project_choose_model(a, "openai/m", &m), ERR_CONFIGURATION);
    assert_null(m);
}

/* --- order --- */

TEST(host_project_and_model_may_be_given_back_in_any_order)
{
    for (unsigned order = 0; order < 6; order++) {
        static const unsigned char orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                                   {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
        AUTO(world) struct world w = new_world();
        struct project *p = open_at(&w, "a");
        struct model_choice *m;

        assert_ok(project_choose_model(p, "anthropic/m", &m));
        for (unsigned i = 0; i < 3; i++) {
            if (orders[order][i] == 0)
                host_unref(TAKE(w.host));
            else if (orders[order][i] == 1)
                project_unref(p);
            else
                model_choice_unref(m);
            if (i < 2 && orders[order][2] == 2) /* the model is still there, and all it needs */
                assert_string_equal(m->project->place.cwd, path_of(&w, "a"));
        }
    }
}

TEST(a_project_without_a_host_has_one_of_its_own)
{
    AUTO(project) struct project *p = NULL;

    assert_ok(project_open(NULL, &(struct project_options){.cwd = "/"}, &p));
    assert_ptr_equal(host_environment(p->host), environ);
}

RUN_TESTS(UNIT(the_project_of_a_directory_is_the_repository_around_it),
          UNIT(each_project_of_a_host_has_its_own_settings),
          UNIT(what_is_written_to_the_settings_later_counts_for_a_project_that_is_opened_later),
          UNIT(settings_that_cannot_be_used_open_no_project),
          UNIT(two_projects_of_a_host_share_its_client_and_not_their_keys),
          UNIT(a_project_that_trusts_other_authorities_has_another_client),
          UNIT(who_chooses_the_same_model_gets_the_same),
          UNIT(a_model_that_cannot_be_asked_is_not_chosen),
          UNIT(host_project_and_model_may_be_given_back_in_any_order),
          UNIT(a_project_without_a_host_has_one_of_its_own))
