/* key_command_test.c */
#include "test.h"

#include "config/key_command.h"
#include "sys/loop.h"

struct world {
    struct key_command command;
    struct strbuf output;
    struct err *error;
};

static void world_done(struct world *w)
{
    strbuf_done(&w->output);
    err_free(w->error);
}
DEFINE_AUTO_VAL(world, world_done)

static struct err *run_in_task(void *arg)
{
    struct world *w = arg;

    w->error = key_command_run(&w->command, &w->output);
    return NULL;
}

static void run(struct world *w, const char *line)
{
    static const char *const environment[] = {"PATH=/usr/bin:/bin", "HOME=/", "KEY=of-mine", NULL};

    w->command.name = "theHelper";
    w->command.line = str_of(line);
    w->command.environment = environment;
    assert_ok(loop_run_once(run_in_task, w));
}

TEST(its_output_comes_with_the_environment_and_in_the_home_directory)
{
    AUTO(world) struct world w = {0};

    run(&w, "echo \"$KEY\"; pwd");
    assert_ok(TAKE(w.error));
    assert_str(strbuf_str(&w.output), "of-mine\n/\n");
}

TEST(one_that_does_not_end_is_ended)
{
    AUTO(world) struct world w = {.command.timeout_ms = 50};

    run(&w, "sleep 1000 & wait");
    assert_int_equal(w.error->kind, ERR_PROVIDER_AUTH);
    assert_string_equal(w.error->text, "theHelper took longer than 50 ms");
}

TEST(one_that_fails_says_why_and_what_it_printed_is_not_shown)
{
    AUTO(world) struct world w = {0}, v = {0}, u = {0};

    run(&w, "echo secret-half; echo locked >&2; exit 7");
    assert_string_equal(w.error->text, "theHelper failed with exit code 7: locked");
    run(&v, "kill -9 $$");
    assert_string_equal(v.error->text, "theHelper was killed by signal 9");
    run(&u, "echo '  '");
    assert_string_equal(u.error->text, "theHelper printed nothing");
}

RUN_TESTS(UNIT(its_output_comes_with_the_environment_and_in_the_home_directory),
          UNIT(one_that_does_not_end_is_ended),
          UNIT(one_that_fails_says_why_and_what_it_printed_is_not_shown))
