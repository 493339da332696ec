/* plan_test.c - which mounts and rules a policy becomes. */
#include "sandbox/plan.h"

#include "exec/policy.h"
#include "files.h"

static const char *const names[] = {
    [POLICY_WRITABLE] = "writable",     [POLICY_VISIBLE] = "visible",
    [POLICY_HIDDEN] = "hidden",         [POLICY_HOLDER] = "holder",
    [POLICY_READ_ONLY] = "read-only",   [POLICY_ANCHOR] = "anchor",
    [POLICY_GRANT_READ] = "read",       [POLICY_GRANT_WRITE] = "write",
    [POLICY_SPLIT_READ] = "split-read", [POLICY_SPLIT_WRITE] = "split-write",
    [POLICY_EXCEPT] = "  except",
};

static bool is_usual(const char *path)
{
    return strcmp(path, "/tmp") == 0 || strcmp(path, "/run") == 0 || strcmp(path, "/var/run") == 0;
}

/* The items as lines; those that every policy has, for /tmp and /run, are left out. */
static struct strbuf plan_text(const struct sandbox_policy *policy, bool namespaces)
{
    AUTO(strbuf) struct strbuf plan = {0};
    struct strbuf text = {0};
    size_t at = sizeof(struct policy_header);

    assert_ok(plan_write(policy, namespaces, &plan));
    while (at < plan.n) {
        const struct policy_item *item = (const struct policy_item *)(plan.p + at);

        if (!is_usual(item->text))
            strbuf_addf(&text, "%s %s\n", names[item->kind], item->text);
        at += item->n_bytes;
    }
    return text;
}

#define assert_plan(policy, namespaces, want)                                                      \
    do {                                                                                           \
        struct strbuf text_ = plan_text(policy, namespaces);                                       \
        assert_str(strbuf_str(&text_), want);                                                      \
        strbuf_done(&text_);                                                                       \
    } while (0)

/* --- mounts --- */

TEST(a_directory_sorts_before_what_is_in_it)
{
    assert_true(path_cmp("/a", "/a/b") < 0);
    assert_true(path_cmp("/a/b", "/a-b") < 0);
    assert_true(path_cmp("/a/z", "/a0") < 0);
    assert_int_equal(path_cmp("/a", "/a"), 0);
    assert_true(path_is_in("/a/b", "/a") && path_is_in("/a", "/a") && path_is_in("/a", "/"));
    assert_false(path_is_in("/ab", "/a"));
}

TEST(every_directory_above_a_protected_file_is_an_anchor)
{
    static const char *const read_only[] = {"/w/lib/a/.git/config", "/w/lib/a/.git/hooks"};

    assert_plan(
        (&(struct sandbox_policy){.workspace = "/w", .read_only = read_only, .n_read_only = 2}),
        true,
        "writable /w\nanchor /w/lib\nanchor /w/lib/a\nanchor /w/lib/a/.git\n"
        "read-only /w/lib/a/.git/config\nread-only /w/lib/a/.git/hooks\n");
}

TEST(a_workspace_in_a_hidden_place_is_held_there)
{
    static const char *const hidden[] = {"/home", "/home/me/.ssh", "/home/you/.ssh"};

    assert_plan(
        (&(struct sandbox_policy){
            .workspace = "/home/you/w", .home = "/home/me", .hidden = hidden, .n_hidden = 3}),
        true, "holder /home\nvisible /home/me\nhidden /home/me/.ssh\nwritable /home/you/w\n");
}

TEST(a_hidden_place_in_the_workspace_stays_hidden_and_where_it_is)
{
    static const char *const hidden[] = {"/w/conf/.env", "/w/conf/.env/x"};

    assert_plan((&(struct sandbox_policy){.workspace = "/w", .hidden = hidden, .n_hidden = 2}),
                true, "writable /w\nanchor /w/conf\nhidden /w/conf/.env\n");
}

TEST(what_is_the_same_is_said_once_and_the_workspace_wins)
{
    static const char *const hidden[] = {"/w", "/x"}, *const writable[] = {"/w/d", "/w", "/x/y"},
                             *const read_only[] = {"/elsewhere/.git/config", "/x/.keel"};

    assert_plan((&(struct sandbox_policy){.workspace = "/w",
                                          .hidden = hidden,
                                          .n_hidden = 2,
                                          .writable = writable,
                                          .n_writable = 3,
                                          .read_only = read_only,
                                          .n_read_only = 2}),
                true, "writable /w\nholder /x\nwritable /x/y\n");
}

/* --- rules --- */

TEST(rules_are_split_around_what_is_hidden)
{
    static const char *const hidden[] = {"/home/me/.ssh", "/home/me/.config/gh"};

    assert_plan((&(struct sandbox_policy){.workspace = "/w", .hidden = hidden, .n_hidden = 2}),
                false,
                "split-read /\n  except dev\n  except home\n  except run\n  except tmp\n"
                "  except var\n"
                "split-read /home\n  except me\n"
                "split-read /home/me\n  except .config\n  except .ssh\n"
                "split-read /home/me/.config\n  except gh\n"
                "split-read /var\n  except run\n"
                "write /w\n");
}

TEST(a_home_in_a_hidden_place_is_granted_by_itself)
{
    static const char *const hidden[] = {"/home", "/home/me/.ssh"};

    assert_plan((&(struct sandbox_policy){
                    .workspace = "/w", .home = "/home/me", .hidden = hidden, .n_hidden = 2}),
                false,
                "split-read /\n  except dev\n  except home\n  except run\n  except tmp\n"
                "  except var\n"
                "split-read /var\n  except run\n"
                "split-read /home/me\n  except .ssh\n"
                "write /w\n");
}

TEST(a_workspace_is_split_only_around_what_is_there)
{
    struct temp_dir d = temp_dir_make();
    const char *hidden[] = {temp_path(&d, ".env"), temp_path(&d, "none")};
    AUTO(arena) struct arena a = {0};
    struct sandbox_policy policy = {.workspace = d.path, .hidden = hidden, .n_hidden = 2};
    struct strbuf text;

    put(&d, ".env", "x");
    text = plan_text(&policy, false);
    assert_true(
        str_ends(strbuf_str(&text), arena_format(&a, "split-write %s\n  except .env\n", d.path)));
    strbuf_done(&text);
    temp_dir_done(&d);
}

/* --- errors --- */

TEST(items_are_found_by_their_number)
{
    AUTO(strbuf) struct strbuf plan = {0};

    assert_ok(plan_write(&(struct sandbox_policy){.workspace = "/w"}, true, &plan));
    assert_string_equal(plan_item_text(strbuf_str(&plan), 3), "/w");
    assert_null(plan_item_text(strbuf_str(&plan), 4));
}

TEST(a_workspace_must_be_a_directory_with_a_path_of_its_own)
{
    static const char *const all[] = {"/"};
    AUTO(strbuf) struct strbuf plan = {0};

    assert_err(plan_write(&(struct sandbox_policy){.workspace = "/"}, true, &plan), ERR_SANDBOX);
    assert_err(plan_write(&(struct sandbox_policy){.workspace = "w"}, true, &plan), ERR_SANDBOX);
    assert_err(
        plan_write(&(struct sandbox_policy){.workspace = "/w", .writable = all, .n_writable = 1},
                   false, &plan),
        ERR_SANDBOX);
}

RUN_TESTS(UNIT(a_directory_sorts_before_what_is_in_it),
          UNIT(every_directory_above_a_protected_file_is_an_anchor),
          UNIT(a_workspace_in_a_hidden_place_is_held_there),
          UNIT(a_hidden_place_in_the_workspace_stays_hidden_and_where_it_is),
          UNIT(what_is_the_same_is_said_once_and_the_workspace_wins),
          UNIT(rules_are_split_around_what_is_hidden),
          UNIT(a_home_in_a_hidden_place_is_granted_by_itself),
          UNIT(a_workspace_is_split_only_around_what_is_there),
          UNIT(items_are_found_by_their_number),
          UNIT(a_workspace_must_be_a_directory_with_a_path_of_its_own))
