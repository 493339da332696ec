/* plan_test.c - which mounts and rules a policy becomes. */
#include "sandbox/plan/plan.h"

#include "base/mount_table.h"
#include "files.h"
#include "sandbox/plan/roots.h"

#include <sys/stat.h>
#include <unistd.h>

static const char *const names[] = {
    [POLICY_WRITABLE] = "writable",
    [POLICY_VISIBLE] = "visible",
    [POLICY_HIDDEN] = "hidden",
    [POLICY_HOLDER] = "holder",
    [POLICY_READ_ONLY] = "read-only",
    [POLICY_ANCHOR] = "anchor",
    [POLICY_OPEN] = "open",
    [POLICY_ROOT] = "root",
    [POLICY_NEVER] = "never",
    [POLICY_GRANT_READ] = "read",
    [POLICY_GRANT_WRITE] = "write",
    [POLICY_SPLIT_READ] = "split-read",
    [POLICY_SPLIT_WRITE] = "split-write",
    [POLICY_EXCEPT] = "  except",
    [POLICY_CWD] = "cwd",
};

static bool is_usual(const struct policy_item *item)
{
    static const char *const paths[] = {"/tmp", "/run", "/var/run", "/dev", "/proc"};

    for (size_t i = 0; i < ARRAY_LEN(paths); i++)
        if (strcmp(item->text, paths[i]) == 0)
            return true;
    return item->kind == POLICY_CWD;
}

static struct held_roots *held; /* what the plan looks at; NULL: nothing */

static const char *mountinfo; /* NULL: there are no mounts */

static struct err *write_plan(const struct sandbox_policy *policy, bool namespaces,
                              struct strbuf *plan)
{
    AUTO(arena) struct arena a = {0};
    struct mount_table mounts;

    mount_table_parse(&mounts, &a, str_of(mountinfo ? mountinfo : ""));
    return plan_write(&(struct plan_input){.policy = policy,
                                           .roots = held,
                                           .mounts = &mounts,
                                           .cwd = "/",
                                           .namespaces = namespaces},
                      plan);
}

/* The items as lines; those that every policy has, for /tmp and the like, are omitted. */
static struct strbuf plan_text(const struct sandbox_policy *policy, bool namespaces)
{
    AUTO(strbuf) struct strbuf plan = {0};
    struct strbuf text = {0};
    size_t at = sizeof(struct policy_header);

    assert_ok(write_plan(policy, namespaces, &plan));
    while (at < plan.n) {
        const struct policy_item *item = (const struct policy_item *)(plan.p + at);

        if (!is_usual(item))
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

TEST(in_a_sealed_directory_only_what_is_open_can_be_written)
{
    static const char *const read_only[] = {"/w/.git/modules/a/config",
                                            "/w/.git/modules/gone/config"};
    static const char *const sealed[] = {"/w/.git/modules", "/w/.git/modules/a/modules"};
    static const char *const open[] = {"/w/.git/modules/a", "/w/elsewhere"};

    assert_plan((&(struct sandbox_policy){.workspace = "/w",
                                          .read_only = read_only,
                                          .n_read_only = 2,
                                          .sealed = sealed,
                                          .n_sealed = 2,
                                          .open = open,
                                          .n_open = 2}),
                true,
                "writable /w\nanchor /w/.git\nread-only /w/.git/modules\nopen /w/.git/modules/a\n"
                "read-only /w/.git/modules/a/config\nread-only /w/.git/modules/a/modules\n");
}

TEST(what_a_rule_denies_stays_read_only_where_it_could_be_open)
{
    static const char *const read_only[] = {"/w/.git"};
    static const char *const sealed[] = {"/w/.git/modules"};
    static const char *const open[] = {"/w/.git/modules/a"};

    assert_plan((&(struct sandbox_policy){.workspace = "/w",
                                          .read_only = read_only,
                                          .n_read_only = 1,
                                          .sealed = sealed,
                                          .n_sealed = 1,
                                          .open = open,
                                          .n_open = 1}),
                true, "writable /w\nread-only /w/.git\n");
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

/* --- second paths --- */

#define BIND(place, of) "2 1 8:1 " of " " place " rw - ext4 /dev/a rw\n"

#define assert_plan_with(mounts, policy, namespaces, want)                                         \
    do {                                                                                           \
        mountinfo = "1 0 8:1 / / rw - ext4 /dev/a rw\n" mounts;                                    \
        assert_plan(policy, namespaces, want);                                                     \
        mountinfo = NULL;                                                                          \
    } while (0)

TEST(a_hidden_place_is_hidden_where_a_mount_shows_it_again)
{
    static const char *const hidden[] = {"/home/me/.ssh"};
    const struct sandbox_policy policy = {.workspace = "/w", .hidden = hidden, .n_hidden = 1};

    assert_plan_with(BIND("/srv/all", "/home"), &policy, true,
                     "hidden /home/me/.ssh\nhidden /srv/all/me/.ssh\nwritable /w\n");
    assert_plan_with(BIND("/w/all", "/"), &policy, true,
                     "hidden /home/me/.ssh\nwritable /w\nanchor /w/all\nanchor /w/all/home\n"
                     "anchor /w/all/home/me\nhidden /w/all/home/me/.ssh\nhidden /w/all/run\n"
                     "hidden /w/all/tmp\nanchor /w/all/var\nhidden /w/all/var/run\n");
    assert_plan_with(BIND("/etc/resolv.conf", "/run/resolve/resolv.conf"), &policy, true,
                     "hidden /home/me/.ssh\nwritable /w\n");
    assert_plan_with(BIND("/keys", "/home/me/.ssh/keys"), &policy, true,
                     "hidden /home/me/.ssh\nhidden /keys\nwritable /w\n");
    assert_plan_with(BIND("/srv/all", "/home"), &policy, false,
                     "root /w\nnever /home/me/.ssh\nnever /srv/all/me/.ssh\n"
                     "split-read /\n  except dev\n  except home\n  except proc\n  except run\n"
                     "  except srv\n  except tmp\n  except var\n"
                     "split-read /home\n  except me\nsplit-read /home/me\n  except .ssh\n"
                     "split-read /srv\n  except all\nsplit-read /srv/all\n  except me\n"
                     "split-read /srv/all/me\n  except .ssh\nsplit-read /var\n  except run\n"
                     "write /w\n");
}

TEST(what_may_be_seen_in_a_hidden_place_may_be_seen_elsewhere)
{
    static const char *const hidden[] = {"/home", "/home/me/.ssh"};
    const struct sandbox_policy policy = {
        .workspace = "/mnt/w", .home = "/home/me", .hidden = hidden, .n_hidden = 2};

    assert_plan_with(BIND("/mnt/w", "/home/me/project"), &policy, true,
                     "holder /home\nvisible /home/me\nhidden /home/me/.ssh\nwritable /mnt/w\n");
    assert_plan_with(BIND("/mnt/x", "/home/you"), &policy, true,
                     "holder /home\nvisible /home/me\nhidden /home/me/.ssh\nwritable /mnt/w\n"
                     "hidden /mnt/x\n");
}

#define VIRTUAL(type, place) "3 1 0:9 / " place " rw - " type " none rw\n"

TEST(what_the_kernel_makes_up_is_hidden_outside_of_its_usual_places)
{
    const struct sandbox_policy policy = {.workspace = "/w"}, in_dev = {.workspace = "/dev/shm/w"};

    assert_plan_with(VIRTUAL("proc", "/proc") VIRTUAL("sysfs", "/sys") VIRTUAL("devtmpfs", "/dev"),
                     &policy, true, "writable /w\n");
    assert_plan_with(VIRTUAL("proc", "/srv/root/proc") VIRTUAL("sysfs", "/w/root/sys"), &policy,
                     true,
                     "hidden /srv/root/proc\nwritable /w\nanchor /w/root\nhidden /w/root/sys\n");
    assert_plan_with(VIRTUAL("proc", "/w/proc"), &policy, false,
                     "root /w\nnever /w/proc\n"
                     "split-read /\n  except dev\n  except proc\n  except run\n  except tmp\n"
                     "  except var\n  except w\n"
                     "split-read /var\n  except run\n"
                     "split-read /w\n  except proc\nsplit-write /w\n  except proc\n");
    assert_plan_with(VIRTUAL("devtmpfs", "/dev") "4 3 0:8 / /dev/shm rw - tmpfs none rw\n"
                                                 "5 4 0:7 / /dev/shm/w/proc rw - proc none rw\n",
                     &in_dev, true, "writable /dev/shm/w\nhidden /dev/shm/w/proc\n");
}

TEST(a_workspace_that_the_kernel_makes_up_is_refused)
{
    static const char *const bad[] = {"/proc", "/proc/sys/kernel", "/sys"}, *const good[] = {"/w"};
    AUTO(arena) struct arena a = {0};
    struct mount_table mounts;
    struct sandbox_policy p = {.workspace = "/w", .writable = good, .n_writable = 1};

    mount_table_parse(
        &mounts, &a,
        S("1 0 8:1 / / rw - ext4 /dev/a rw\n" VIRTUAL("proc", "/proc") VIRTUAL("sysfs", "/sys")));
    assert_ok(plan_check_places(&p, &mounts));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        p = (struct sandbox_policy){.workspace = bad[i]};
        assert_err(plan_check_places(&p, &mounts), ERR_SANDBOX);
        p = (struct sandbox_policy){.workspace = "/w", .writable = &bad[i], .n_writable = 1};
        assert_err(plan_check_places(&p, &mounts), ERR_SANDBOX);
    }
}

/* --- rules --- */

TEST(rules_are_split_around_what_is_hidden)
{
    static const char *const hidden[] = {"/home/me/.ssh", "/home/me/.config/gh"};

    assert_plan(
        (&(struct sandbox_policy){.workspace = "/w", .hidden = hidden, .n_hidden = 2}), false,
        "root /w\nnever /home/me/.config/gh\nnever /home/me/.ssh\n"
        "split-read /\n  except dev\n  except home\n  except proc\n  except run\n  except tmp\n"
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

    assert_plan(
        (&(struct sandbox_policy){
            .workspace = "/w", .home = "/home/me", .hidden = hidden, .n_hidden = 2}),
        false,
        "root /w\nnever /home\nnever /home/me/.ssh\n"
        "split-read /\n  except dev\n  except home\n  except proc\n  except run\n  except tmp\n"
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
    held = held_roots_new();
    assert_ok(held_roots_update(held, &policy));
    text = plan_text(&policy, false);
    held_roots_free(TAKE(held));
    assert_true(
        str_ends(strbuf_str(&text), arena_format(&a, "split-write %s\n  except .env\n", d.path)));
    strbuf_done(&text);
    temp_dir_done(&d);
}

/* --- what is expected where --- */

struct planned {
    struct temp_dir dir;
    struct held_roots *roots;
    struct strbuf plan;
};

static struct planned plan_in(const char *const *read_only, const char *const *hidden,
                              const char *cwd)
{
    struct planned p = {.dir = temp_dir_make(), .roots = held_roots_new()};
    const char *paths[2][8] = {{0}};
    struct sandbox_policy policy = {
        .workspace = p.dir.path, .read_only = paths[0], .hidden = paths[1]};

    assert_ok(fs_make_dirs(temp_path(&p.dir, "a/.git"), 0755));
    put(&p.dir, "a/.git/config", "[core]");
    put(&p.dir, ".env", "secret");
    assert_int_equal(symlink("a", temp_path(&p.dir, "link")), 0);
    for (; read_only && *read_only; read_only++)
        paths[0][policy.n_read_only++] = temp_path(&p.dir, *read_only);
    for (; hidden && *hidden; hidden++)
        paths[1][policy.n_hidden++] = temp_path(&p.dir, *hidden);
    assert_ok(held_roots_update(p.roots, &policy));
    assert_ok(plan_write(
        &(struct plan_input){
            .policy = &policy, .roots = p.roots, .cwd = temp_path(&p.dir, cwd), .namespaces = true},
        &p.plan));
    return p;
}

static void planned_done(struct planned *p)
{
    held_roots_free(p->roots);
    strbuf_done(&p->plan);
    temp_dir_done(&p->dir);
}

static const struct policy_item *find_item(const struct planned *p, enum policy_kind kind,
                                           const char *path)
{
    size_t at = sizeof(struct policy_header);

    while (at < p->plan.n) {
        const struct policy_item *item = (const struct policy_item *)(p->plan.p + at);

        if (item->kind == kind && strcmp(item->text, path) == 0)
            return item;
        at += item->n_bytes;
    }
    fail_msg("there is no item for %s", path);
    return NULL;
}

static void assert_this(const struct planned *p, enum policy_kind kind, const char *name,
                        const char *below)
{
    const char *path = *name ? temp_path((struct temp_dir *)&p->dir, name) : p->dir.path;
    const struct policy_item *item = find_item(p, kind, path);
    struct stat st;

    assert_int_equal(lstat(path, &st), 0);
    assert_int_equal(item->expect, POLICY_THIS);
    assert_true(item->device == st.st_dev && item->inode == st.st_ino);
    assert_string_equal(item->text + item->at, below);
}

TEST(an_item_says_what_was_seen_in_the_workspace)
{
    static const char *const read_only[] = {"a/.git/config", "a/.git/hooks", NULL};
    static const char *const hidden[] = {".env", NULL};
    struct planned p = plan_in(read_only, hidden, "a");
    const struct policy_item *absent =
        find_item(&p, POLICY_READ_ONLY, temp_path(&p.dir, "a/.git/hooks"));

    assert_this(&p, POLICY_ANCHOR, "a/.git", "a/.git");
    assert_this(&p, POLICY_READ_ONLY, "a/.git/config", "a/.git/config");
    assert_this(&p, POLICY_HIDDEN, ".env", ".env");
    assert_this(&p, POLICY_CWD, "a", "a");
    assert_int_equal(absent->expect, POLICY_ABSENT);
    planned_done(&p);
}

TEST(an_item_begins_at_the_root_that_it_lies_in)
{
    struct planned p = plan_in(NULL, NULL, "a");
    const struct policy_item *root = find_item(&p, POLICY_WRITABLE, p.dir.path);
    const struct policy_item *cwd = find_item(&p, POLICY_CWD, temp_path(&p.dir, "a"));
    const struct policy_item *outside = find_item(&p, POLICY_HIDDEN, "/run");

    assert_string_equal(root->text + root->at, strrchr(p.dir.path, '/') + 1); /* in /tmp */
    assert_int_equal(cwd->root, root->root + 1);
    assert_string_equal(cwd->text + cwd->at, "a");
    assert_int_equal(outside->root, 0);
    assert_int_equal(outside->expect, POLICY_ANY);
    planned_done(&p);
}

TEST(behind_a_link_nothing_is_seen)
{
    static const char *const read_only[] = {"link/.git/config", NULL};
    struct planned p = plan_in(read_only, NULL, "a");
    const struct policy_item *behind =
        find_item(&p, POLICY_READ_ONLY, temp_path(&p.dir, "link/.git/config"));

    assert_int_equal(behind->expect, POLICY_ABSENT);
    planned_done(&p);
}

/* --- errors --- */

TEST(items_are_found_by_their_number)
{
    AUTO(strbuf) struct strbuf plan = {0};

    assert_ok(write_plan(&(struct sandbox_policy){.workspace = "/w"}, true, &plan));
    assert_string_equal(plan_item_text(strbuf_str(&plan), 3), "/w");
    assert_string_equal(plan_item_text(strbuf_str(&plan), 4), "/"); /* where the command starts */
    assert_null(plan_item_text(strbuf_str(&plan), 5));
}

TEST(a_workspace_must_be_a_directory_with_a_path_of_its_own)
{
    static const char *const all[] = {"/"};
    AUTO(strbuf) struct strbuf plan = {0};

    assert_err(write_plan(&(struct sandbox_policy){.workspace = "/"}, true, &plan), ERR_SANDBOX);
    assert_err(write_plan(&(struct sandbox_policy){.workspace = "w"}, true, &plan), ERR_SANDBOX);
    assert_err(
        write_plan(&(struct sandbox_policy){.workspace = "/w", .writable = all, .n_writable = 1},
                   false, &plan),
        ERR_SANDBOX);
}

/* --- nothing is writable --- */

/* A workspace in a home, in a directory that is closed; another path leads into the home. */
static const char *const look_hidden[] = {"/home/me", "/home/me/w/secret"};
static const char *const look_closed[] = {"/home", "/srv", "/var"};
static const char *const look_visible[] = {"/var/lib/dpkg"};
static const char *const look_open[] = {"/home/me/w/.git/modules/a"};
static const struct sandbox_policy look = {
    .workspace = "/home/me/w",
    .nothing_is_writable = true,
    .hidden = look_hidden,
    .n_hidden = ARRAY_LEN(look_hidden),
    .closed = look_closed,
    .n_closed = ARRAY_LEN(look_closed),
    .visible = look_visible,
    .n_visible = ARRAY_LEN(look_visible),
    .read_only = look_open,
    .n_read_only = 1,
    .sealed = look_open,
    .n_sealed = 1,
    .open = look_open,
    .n_open = 1,
};

TEST(where_nothing_is_writable_all_is_only_visible)
{
    assert_plan(&look, true,
                "holder /home\nvisible /home/me/w\nhidden /home/me/w/secret\nhidden /srv\n"
                "holder /var\nvisible /var/lib/dpkg\n");
}

TEST(without_namespaces_nothing_is_granted_for_writing_either)
{
    struct strbuf text = plan_text(&look, false);

    assert_int_equal(str_find(strbuf_str(&text), S("write")), STR_NONE);
    assert_int_equal(str_find(strbuf_str(&text), S("root ")), STR_NONE);
    assert_int_not_equal(str_find(strbuf_str(&text), S("split-read /home/me/w\n")), STR_NONE);
    assert_int_not_equal(str_find(strbuf_str(&text), S("  except home\n")), STR_NONE);
    assert_int_not_equal(str_find(strbuf_str(&text), S("  except srv\n")), STR_NONE);
    strbuf_done(&text);
}

TEST(what_is_closed_is_seen_by_other_paths_and_what_is_hidden_is_not)
{
    assert_plan_with("2 1 8:1 /home/me /opt/me rw - ext4 /dev/a rw\n"
                     "3 1 8:1 /srv/site /usr/site rw - ext4 /dev/a rw\n",
                     &look, true,
                     "holder /home\nvisible /home/me/w\nhidden /home/me/w/secret\n"
                     "hidden /opt/me\nhidden /srv\nholder /var\nvisible /var/lib/dpkg\n");
}

TEST(a_workspace_that_is_closed_itself_is_seen)
{
    static const char *const closed[] = {"/srv"};

    assert_plan(
        (&(struct sandbox_policy){
            .workspace = "/srv", .nothing_is_writable = true, .closed = closed, .n_closed = 1}),
        true, "");
}

/* keel-exec makes /dev/shm anew. */
TEST(a_workspace_in_shared_memory_is_seen)
{
    static const char *const hidden[] = {"/dev/shm/w/secret", "/dev/shm/other"};

    assert_plan((&(struct sandbox_policy){.workspace = "/dev/shm/w",
                                          .nothing_is_writable = true,
                                          .hidden = hidden,
                                          .n_hidden = ARRAY_LEN(hidden)}),
                true, "visible /dev/shm/w\nhidden /dev/shm/w/secret\n");
}

RUN_TESTS(UNIT(where_nothing_is_writable_all_is_only_visible),
          UNIT(a_workspace_in_shared_memory_is_seen),
          UNIT(without_namespaces_nothing_is_granted_for_writing_either),
          UNIT(what_is_closed_is_seen_by_other_paths_and_what_is_hidden_is_not),
          UNIT(a_workspace_that_is_closed_itself_is_seen),
          UNIT(a_directory_sorts_before_what_is_in_it),
          UNIT(every_directory_above_a_protected_file_is_an_anchor),
          UNIT(in_a_sealed_directory_only_what_is_open_can_be_written),
          UNIT(what_a_rule_denies_stays_read_only_where_it_could_be_open),
          UNIT(a_workspace_in_a_hidden_place_is_held_there),
          UNIT(a_hidden_place_in_the_workspace_stays_hidden_and_where_it_is),
          UNIT(what_is_the_same_is_said_once_and_the_workspace_wins),
          UNIT(a_hidden_place_is_hidden_where_a_mount_shows_it_again),
          UNIT(what_may_be_seen_in_a_hidden_place_may_be_seen_elsewhere),
          UNIT(what_the_kernel_makes_up_is_hidden_outside_of_its_usual_places),
          UNIT(a_workspace_that_the_kernel_makes_up_is_refused),
          UNIT(rules_are_split_around_what_is_hidden),
          UNIT(a_home_in_a_hidden_place_is_granted_by_itself),
          UNIT(a_workspace_is_split_only_around_what_is_there),
          UNIT(an_item_says_what_was_seen_in_the_workspace),
          UNIT(an_item_begins_at_the_root_that_it_lies_in), UNIT(behind_a_link_nothing_is_seen),
          UNIT(items_are_found_by_their_number),
          UNIT(a_workspace_must_be_a_directory_with_a_path_of_its_own))
