/* tool_state_test.c */
#include "test.h"

#include "port/tool_state.h"

/* --- the map --- */

static const struct json *get(const struct tool_state *s, const char *key)
{
    struct str name;
    enum state_key kind = state_key_find(str_of(key), &name);

    return tool_state_get(s, kind, kind < STATE_N_KEYS ? name : str_of(key));
}

/* What a listener was told, one line each: "key=value", "key=" for a removal. */
struct told {
    struct tool_state *state;
    struct strbuf text;
    bool was_applied_before;
};

static void note(void *self, struct str key, const struct json *value)
{
    struct told *t = self;
    AUTO_FREE char *text = str_dup(key);
    const struct json *now = get(t->state, text);

    strbuf_add(&t->text, key);
    strbuf_add_char(&t->text, '=');
    if (value)
        json_write(&t->text, value);
    strbuf_add_char(&t->text, '\n');
    t->was_applied_before |= now && value && json_equal(now, value);
}

static void set(struct tool_state *s, const char *key, const char *value)
{
    AUTO(arena) struct arena a = {0};
    struct str name;
    enum state_key kind = state_key_find(str_of(key), &name);

    assert_true(kind < STATE_N_KEYS);
    tool_state_set(s, kind, name, value ? json_new_str(&a, str_of(value)) : NULL);
}

static void restore(struct tool_state *s, const char *key, const char *value)
{
    AUTO(arena) struct arena a = {0};

    tool_state_restore(s, str_of(key), value ? json_new_str(&a, str_of(value)) : NULL);
}

static void add_entry(struct strbuf *out, const struct state_entry *x)
{
    strbuf_addf(out, "%" STR_FMT "=%" STR_FMT " ", STR_ARG(x->key), STR_ARG(x->value->text));
}

static void assert_keys(const struct tool_state *s, const char *want)
{
    AUTO(strbuf) struct strbuf got = {0};
    struct state_entry x;

    for (size_t at = 0; tool_state_walk(s, &at, &x);)
        add_entry(&got, &x);
    assert_str(strbuf_str(&got), want);
}

static void assert_files(const struct tool_state *s, const char *want)
{
    AUTO(strbuf) struct strbuf got = {0};
    struct state_entry x;

    for (size_t at = 0; tool_state_next(s, STATE_FILE, &at, &x);)
        add_entry(&got, &x);
    assert_str(strbuf_str(&got), want);
}

TEST(a_value_is_found_until_it_is_removed)
{
    AUTO(tool_state) struct tool_state *s = tool_state_new(S("/w"));

    assert_null(get(s, "todos"));
    set(s, "todos", "1");
    assert_str(json_str(get(s, "todos")), "1");
    set(s, "todos", "2");
    assert_str(json_str(get(s, "todos")), "2");
    set(s, "todos", NULL);
    assert_null(get(s, "todos"));
}

TEST(a_shared_value_is_held_and_not_copied)
{
    AUTO(arena) struct arena a = {0};
    AUTO(tool_state) struct tool_state *s = tool_state_new(S("/w")), *t = tool_state_new(S("/w"));
    struct shared_json *value = shared_json_new(json_new_str(&a, S("1")));
    struct told told = {.state = s};

    tool_state_listen(s, (struct state_listener){note, &told});
    tool_state_share(s, STATE_TODOS, STATE_UNNAMED, value);
    assert_ptr_equal(get(s, "todos"), value->value);
    assert_str(strbuf_str(&told.text), "todos=\"1\"\n");
    set(t, "todos", "1");
    tool_state_share(t, STATE_TODOS, STATE_UNNAMED, value);
    assert_ptr_equal(get(t, "todos"), value->value);
    shared_json_unref(value);
    set(s, "todos", "2");
    assert_str(json_str(get(s, "todos")), "2");
    assert_str(json_str(get(t, "todos")), "1");
    strbuf_done(&told.text);
}

TEST(sharing_an_equal_value_is_no_change)
{
    AUTO(arena) struct arena a = {0};
    AUTO(tool_state) struct tool_state *s = tool_state_new(S("/w"));
    AUTO(shared_json) struct shared_json *value = shared_json_new(json_new_str(&a, S("1")));
    struct told told = {.state = s};

    set(s, "todos", "1");
    tool_state_listen(s, (struct state_listener){note, &told});
    tool_state_share(s, STATE_TODOS, STATE_UNNAMED, value);
    assert_int_equal(told.text.n, 0);
    strbuf_done(&told.text);
}

TEST(keys_come_in_the_order_of_their_first_setting)
{
    AUTO(tool_state) struct tool_state *s = tool_state_new(S("/w"));

    set(s, "file:b", "1");
    set(s, "todos", "-");
    set(s, "file:a", "2");
    set(s, "file:c", "3");
    set(s, "file:b", "4");
    assert_files(s, "file:b=4 file:a=2 file:c=3 ");
    set(s, "file:b", NULL);
    assert_files(s, "file:a=2 file:c=3 ");
    set(s, "file:b", "5");
    assert_files(s, "file:b=5 file:a=2 file:c=3 ");
    assert_keys(s, "cwd=/w file:b=5 todos=- file:a=2 file:c=3 ");
}

TEST(the_listener_is_told_of_every_change_before_it_is_applied)
{
    AUTO(tool_state) struct tool_state *s = tool_state_new(S("/w"));
    struct told told = {.state = s};

    tool_state_listen(s, (struct state_listener){note, &told});
    set(s, "file:a", "1");
    set(s, "file:a", "2");
    set(s, "file:a", NULL);
    tool_state_set_cwd(s, "/w/x");
    assert_str(strbuf_str(&told.text), "file:a=\"1\"\nfile:a=\"2\"\nfile:a=\ncwd=\"/w/x\"\n");
    assert_false(told.was_applied_before);
    strbuf_done(&told.text);
}

TEST(nobody_is_told_of_a_key_that_was_not_there_to_be_removed)
{
    AUTO(tool_state) struct tool_state *s = tool_state_new(S("/w"));
    struct told told = {.state = s};

    tool_state_listen(s, (struct state_listener){note, &told});
    set(s, "file:a", NULL);
    assert_int_equal(told.text.n, 0);
    strbuf_done(&told.text);
}

TEST(restoring_applies_and_tells_nobody)
{
    AUTO(tool_state) struct tool_state *s = tool_state_new(S("/w"));
    struct told told = {.state = s};

    tool_state_listen(s, (struct state_listener){note, &told});
    restore(s, "file:a", "1");
    restore(s, "file:b", "2");
    restore(s, "file:b", NULL);
    restore(s, "file:c", NULL);
    restore(s, "cwd", "/elsewhere");
    assert_int_equal(told.text.n, 0);
    assert_keys(s, "cwd=/elsewhere file:a=1 ");
    assert_string_equal(tool_state_cwd(s), "/elsewhere");
    assert_string_equal(tool_state_workspace(s), "/w");
    strbuf_done(&told.text);
}

TEST(what_a_listener_was_told_makes_the_same_state_again)
{
    AUTO(tool_state) struct tool_state *s = tool_state_new(S("/w"));
    AUTO(tool_state) struct tool_state *again = tool_state_new(S("/w"));
    struct told told = {.state = s};
    AUTO(arena) struct arena a = {0};
    struct str rest, line, key;

    tool_state_listen(s, (struct state_listener){note, &told});
    set(s, "file:x", "1");
    set(s, "file:y", "2");
    set(s, "file:x", NULL);
    set(s, "file:z", "3");
    set(s, "file:x", "4");
    rest = str_trim(strbuf_str(&told.text));
    while (str_split(&rest, '\n', &line)) {
        struct json *value = NULL;

        str_split(&line, '=', &key);
        if (line.n)
            assert_ok(json_parse(&a, line, 0, &value));
        tool_state_restore(again, key, value);
    }
    assert_keys(s, "cwd=/w file:x=4 file:y=2 file:z=3 ");
    assert_keys(again, "cwd=/w file:x=4 file:y=2 file:z=3 ");
    strbuf_done(&told.text);
}

TEST(a_new_value_may_be_made_of_the_old_one)
{
    AUTO(tool_state) struct tool_state *s = tool_state_new(S("/w"));
    AUTO(arena) struct arena a = {0};
    struct json *list;

    assert_ok(json_parse(&a, S("[\"one\",[\"two\"]]"), 0, &list));
    tool_state_set(s, STATE_TODOS, STATE_UNNAMED, list);
    tool_state_set(s, STATE_TODOS, STATE_UNNAMED,
                   json_at(tool_state_get(s, STATE_TODOS, STATE_UNNAMED), 1));
    assert_str(json_str(json_at(tool_state_get(s, STATE_TODOS, STATE_UNNAMED), 0)), "two");
}

TEST(a_key_is_all_of_its_bytes)
{
    AUTO(tool_state) struct tool_state *s = tool_state_new(S("/w"));
    AUTO(arena) struct arena a = {0};

    tool_state_set(s, STATE_FILE, S("a\0b"), json_new_str(&a, S("1")));
    tool_state_set(s, STATE_FILE, S("a\0c"), json_new_str(&a, S("2")));
    tool_state_set(s, STATE_FILE, S("a\0b"), json_new_str(&a, S("3")));
    assert_str(json_str(tool_state_get(s, STATE_FILE, S("a\0b"))), "3");
    assert_str(json_str(tool_state_get(s, STATE_FILE, S("a\0c"))), "2");
    assert_null(tool_state_get(s, STATE_FILE, S("a")));
}

/* --- the working directory --- */

TEST(the_workspace_stays_when_the_working_directory_changes)
{
    AUTO(tool_state) struct tool_state *s = tool_state_new(S("/w"));

    assert_string_equal(tool_state_cwd(s), "/w");
    tool_state_set_cwd(s, "/w/sub");
    assert_string_equal(tool_state_cwd(s), "/w/sub");
    assert_string_equal(tool_state_workspace(s), "/w");
}

TEST(a_working_directory_that_is_no_absolute_path_is_not_used)
{
    static const char *const values[] = {"\"\"", "\"sub\"", "42", "null", "{}", "[\"/etc\"]"};

    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        AUTO(tool_state) struct tool_state *s = tool_state_new(S("/w"));
        AUTO(arena) struct arena a = {0};
        struct json *value;

        assert_ok(json_parse(&a, str_of(values[i]), 0, &value));
        tool_state_restore(s, S("cwd"), value);
        assert_string_equal(tool_state_cwd(s), "/w");
    }
}

/* --- paths --- */

static const char *const at_home[] = {"HOME=/home/me", NULL};
static const char *const no_home[] = {"PATH=/bin", NULL};

static void assert_path(const char *const *environment, const char *given, const char *want)
{
    AUTO(tool_state) struct tool_state *s = tool_state_new(S("/w"));
    AUTO(arena) struct arena a = {0};

    tool_state_set_cwd(s, "/w/src");
    assert_string_equal(tool_state_path(s, &a, environment, str_of(given)), want);
}

TEST(relative_paths_count_from_the_working_directory)
{
    assert_path(at_home, "a.c", "/w/src/a.c");
    assert_path(at_home, "lib/a.c", "/w/src/lib/a.c");
    assert_path(at_home, "./a.c", "/w/src/a.c");
    assert_path(at_home, "", "/w/src");
    assert_path(at_home, ".", "/w/src");
}

TEST(absolute_paths_stay)
{
    assert_path(at_home, "/etc/hosts", "/etc/hosts");
    assert_path(at_home, "/", "/");
}

TEST(dots_are_resolved_and_do_not_leave_the_root)
{
    assert_path(at_home, "../a.c", "/w/a.c");
    assert_path(at_home, "lib/../../a.c", "/w/a.c");
    assert_path(at_home, "../../../../a.c", "/a.c");
    assert_path(at_home, "../..", "/");
    assert_path(at_home, "/w/./x/../y/.", "/w/y");
    assert_path(at_home, "/..", "/");
    assert_path(at_home, "...", "/w/src/...");
    assert_path(at_home, "..a/.b", "/w/src/..a/.b");
}

TEST(slashes_that_say_nothing_go)
{
    assert_path(at_home, "lib//a.c", "/w/src/lib/a.c");
    assert_path(at_home, "//etc///hosts", "/etc/hosts");
    assert_path(at_home, "lib/", "/w/src/lib");
    assert_path(at_home, "///", "/");
}

TEST(a_tilde_is_the_home_directory)
{
    assert_path(at_home, "~", "/home/me");
    assert_path(at_home, "~/", "/home/me");
    assert_path(at_home, "~/notes/a.md", "/home/me/notes/a.md");
    assert_path(at_home, "~/../you", "/home/you");
}

TEST(other_tildes_are_names)
{
    assert_path(at_home, "~you/a", "/w/src/~you/a");
    assert_path(at_home, "a/~/b", "/w/src/a/~/b");
    assert_path(at_home, "a.c~", "/w/src/a.c~");
    assert_path(no_home, "~/a", "/w/src/~/a");
}

/* --- attachments --- */

struct cache {
    int n_uses;
    int *n_ended;
};

static void cache_done(void *block)
{
    struct cache *c = block;

    ++*c->n_ended;
}

TEST(an_attachment_is_made_once_and_ended_once)
{
    static const char owner, other;
    int n_ended = 0, n_other_ended = 0;
    struct tool_state *s = tool_state_new(S("/w"));
    struct cache *c = tool_state_attachment(s, &owner, sizeof *c, cache_done), *d;

    assert_int_equal(c->n_uses, 0);
    c->n_uses = 1;
    c->n_ended = &n_ended;
    d = tool_state_attachment(s, &other, sizeof *d, cache_done);
    assert_ptr_not_equal(c, d);
    assert_int_equal(d->n_uses, 0);
    d->n_ended = &n_other_ended;
    assert_ptr_equal(tool_state_attachment(s, &owner, sizeof *c, cache_done), c);
    assert_int_equal(c->n_uses, 1);
    assert_int_equal(n_ended, 0);
    tool_state_free(s);
    assert_int_equal(n_ended, 1);
    assert_int_equal(n_other_ended, 1);
}

TEST(an_attachment_may_have_nothing_to_end)
{
    static const char owner;
    AUTO(tool_state) struct tool_state *s = tool_state_new(S("/w"));
    int *n = tool_state_attachment(s, &owner, sizeof *n, NULL);

    assert_int_equal(*n, 0);
}

TEST(background_work_is_allowed_only_where_there_is_a_group_for_it)
{
    AUTO(tool_state) struct tool_state *s = tool_state_new(S("/w"));
    struct group g;

    assert_null(tool_state_tasks(s));
    tool_state_set_tasks(s, &g);
    assert_ptr_equal(tool_state_tasks(s), &g);
    tool_state_free(NULL);
}

/* --- the keys --- */

TEST(every_key_is_found_by_its_own_text)
{
    for (enum state_key kind = 0; kind < STATE_N_KEYS; kind++) {
        AUTO(arena) struct arena a = {0};
        struct str key = state_key_text(&a, kind, STATE_UNNAMED), name;
        bool has_names = str_ends(key, S(":"));

        if (has_names)
            key = state_key_text(&a, kind, S("x:y"));
        assert_int_equal(state_key_find(key, &name), kind);
        assert_str(name, has_names ? "x:y" : "");
        for (enum state_key other = 0; other < STATE_N_KEYS; other++)
            assert_int_equal(state_key_is(key, other, NULL), other == kind);
    }
}

TEST(a_key_without_names_is_not_the_beginning_of_another)
{
    struct str name;

    assert_int_equal(state_key_find(S("model"), &name), STATE_N_KEYS);
    assert_int_equal(state_key_find(S("cwd:x"), &name), STATE_N_KEYS);
    assert_int_equal(state_key_find(S("file"), &name), STATE_N_KEYS);
    assert_int_equal(state_key_find(S(""), &name), STATE_N_KEYS);
    assert_int_equal(name.n, 0);
}

TEST(keys_of_another_version_are_kept_apart_and_passed_on)
{
    AUTO(tool_state) struct tool_state *s = tool_state_new(S("/w"));
    AUTO(tool_state) struct tool_state *then = tool_state_new(S("/w"));

    restore(s, "new:a", "1");
    restore(s, "new:b", "2");
    restore(s, "new:a", "3");
    assert_keys(s, "cwd=/w new:a=3 new:b=2 ");
    restore(then, "new:a", "3");
    tool_state_rewind(s, then);
    assert_keys(s, "cwd=/w new:a=3 ");
}

TEST(all_keys_of_a_kind_go_at_once)
{
    AUTO(tool_state) struct tool_state *s = tool_state_new(S("/w"));
    struct told told = {.state = s};

    set(s, "allow:a", "1");
    set(s, "file:a", "1");
    set(s, "allow:b", "1");
    tool_state_listen(s, (struct state_listener){note, &told});
    tool_state_clear(s, STATE_ALLOWED);
    assert_keys(s, "cwd=/w file:a=1 ");
    assert_str(strbuf_str(&told.text), "allow:a=\nallow:b=\n");
    strbuf_done(&told.text);
}

TEST(a_rewind_leaves_grants_commands_and_itself)
{
    AUTO(tool_state) struct tool_state *s = tool_state_new(S("/w"));
    AUTO(tool_state) struct tool_state *then = tool_state_new(S("/w"));
    struct told told = {.state = s};

    set(then, "file:a", "1");
    set(then, "file:b", "1");
    set(then, "shell:bash_1", "running");
    set(then, "budget", "old");
    set(s, "file:b", "1");
    set(s, "file:c", "1");
    set(s, "allow:x", "1");
    set(s, "shell:bash_2", "running");
    set(s, "budget", "new");
    set(s, "rewind", "under way");
    tool_state_listen(s, (struct state_listener){note, &told});
    tool_state_rewind(s, then);
    assert_keys(s, "cwd=/w file:b=1 shell:bash_2=running budget=new rewind=under way file:a=1 ");
    assert_str(strbuf_str(&told.text), "file:c=\nallow:x=\nfile:a=\"1\"\n");
    strbuf_done(&told.text);
}

TEST(what_a_person_says_is_kept_at_the_root_of_a_tree)
{
    AUTO(tool_state) struct tool_state *root = tool_state_new(S("/w"));
    AUTO(tool_state) struct tool_state *child = tool_state_new(S("/w"));
    AUTO(tool_state) struct tool_state *draft = NULL;

    tool_state_set_root(child, root);
    draft = tool_state_draft(child);
    set(child, "allow:a", "1");
    set(draft, "typed:host:x.org", "1");
    set(child, "file:a", "1");
    assert_keys(root, "cwd=/w allow:a=1 typed:host:x.org=1 ");
    assert_keys(child, "cwd=/w file:a=1 ");
    assert_true(tool_state_has(draft, STATE_ALLOWED, S("a")));
    assert_true(tool_state_has(child, STATE_TYPED_HOST, S("x.org")));
    assert_false(tool_state_has(child, STATE_TYPED_PATH, S("x.org")));
}

/* --- drafts --- */

TEST(what_is_changed_in_a_draft_counts_when_it_is_accepted)
{
    AUTO(tool_state) struct tool_state *s = tool_state_new(S("/w"));
    AUTO(tool_state) struct tool_state *draft = NULL;

    set(s, "file:a", "1");
    set(s, "file:b", "2");
    draft = tool_state_draft(s);
    assert_string_equal(tool_state_cwd(draft), "/w");
    set(draft, "file:a", "3");
    set(draft, "file:b", NULL);
    set(draft, "file:c", "4");
    assert_files(draft, "file:a=3 file:c=4 ");
    assert_files(s, "file:a=1 file:b=2 ");
    tool_state_accept(draft);
    assert_files(s, "file:a=3 file:c=4 ");
    set(draft, "file:d", "5");
    assert_files(s, "file:a=3 file:c=4 file:d=5 ");
}

TEST(a_draft_that_is_not_accepted_leaves_nothing)
{
    static const char owner;
    AUTO(tool_state) struct tool_state *s = tool_state_new(S("/w"));
    struct tool_state *draft = tool_state_draft(s);
    int *n = tool_state_attachment(draft, &owner, sizeof *n, NULL);

    set(draft, "file:a", "1");
    tool_state_free(draft);
    assert_files(s, "");
    assert_ptr_equal(tool_state_attachment(s, &owner, sizeof *n, NULL), n);
}

RUN_TESTS(UNIT(a_value_is_found_until_it_is_removed), UNIT(a_shared_value_is_held_and_not_copied),
          UNIT(sharing_an_equal_value_is_no_change),
          UNIT(keys_come_in_the_order_of_their_first_setting),
          UNIT(the_listener_is_told_of_every_change_before_it_is_applied),
          UNIT(nobody_is_told_of_a_key_that_was_not_there_to_be_removed),
          UNIT(restoring_applies_and_tells_nobody),
          UNIT(what_a_listener_was_told_makes_the_same_state_again),
          UNIT(a_new_value_may_be_made_of_the_old_one), UNIT(a_key_is_all_of_its_bytes),
          UNIT(every_key_is_found_by_its_own_text),
          UNIT(a_key_without_names_is_not_the_beginning_of_another),
          UNIT(keys_of_another_version_are_kept_apart_and_passed_on),
          UNIT(all_keys_of_a_kind_go_at_once), UNIT(a_rewind_leaves_grants_commands_and_itself),
          UNIT(what_a_person_says_is_kept_at_the_root_of_a_tree),
          UNIT(the_workspace_stays_when_the_working_directory_changes),
          UNIT(a_working_directory_that_is_no_absolute_path_is_not_used),
          UNIT(relative_paths_count_from_the_working_directory), UNIT(absolute_paths_stay),
          UNIT(dots_are_resolved_and_do_not_leave_the_root), UNIT(slashes_that_say_nothing_go),
          UNIT(a_tilde_is_the_home_directory), UNIT(other_tildes_are_names),
          UNIT(an_attachment_is_made_once_and_ended_once),
          UNIT(an_attachment_may_have_nothing_to_end),
          UNIT(background_work_is_allowed_only_where_there_is_a_group_for_it),
          UNIT(what_is_changed_in_a_draft_counts_when_it_is_accepted),
          UNIT(a_draft_that_is_not_accepted_leaves_nothing))
