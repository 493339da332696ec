/* property_test.c - whatever commands do, in whatever order, the tree comes back.
 *
 * A hundred trees are tried, from a seed that is printed; KEEL_TEST_SEED is the first one. With
 * KEEL_TEST_DEPTH=all 2,000, the same ones always. */
#include "snapshot/scene.h"

#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#define N_COMMANDS 4
#define N_OPERATIONS 6

static unsigned next(uint64_t *state, unsigned n)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*state >> 33) % n;
}

struct rounds {
    uint64_t first, n;
};

static struct rounds choose_rounds(void)
{
    const char *depth = getenv("KEEL_TEST_DEPTH"), *seed = getenv("KEEL_TEST_SEED");
    bool is_deep = depth && strcmp(depth, "all") == 0;
    struct rounds r = {is_deep ? 1 : (uint64_t)time(NULL) % 1000000, is_deep ? 2000 : 100};

    if (seed)
        r.first = strtoull(seed, NULL, 10);
    print_message("sampled with KEEL_TEST_SEED=%llu\n", (unsigned long long)r.first);
    return r;
}

/* Few names, so that operations meet. */
static const char *const names[] = {"a", "b", "d", "d/a", "d/b", "d/e", "d/e/a", "f", "f/a"};

static unsigned n_contents; /* each is written once */

static void add_operation(uint64_t *seed, struct strbuf *line)
{
    static const char *const operations[] = {
        "echo %4$u > %1$s",  "echo %4$u >> %1$s",      "rm -rf %1$s",
        "mkdir -p %1$s",     "mv %1$s %2$s",           "mv -T %1$s %2$s",
        "ln -sf %2$s %1$s",  "ln -f %1$s %2$s",        "chmod 6%3$u0 %1$s",
        "chmod 7%3$u1 %1$s", "cp -a %1$s %2$s",        "rm -f %1$s; touch %1$s",
        "ln %1$s %2$s",      "exch %1$s %2$s",         "replace %1$s %4$u",
        "chmod %3$u00 %1$s", "echo %4$017000u > %1$s", /* too long for the undo log */
    };
    const char *format = operations[next(seed, ARRAY_LEN(operations))];
    const char *one = names[next(seed, ARRAY_LEN(names))];
    const char *two = names[next(seed, ARRAY_LEN(names))];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    strbuf_addf(line, format, one, two, next(seed, 8), 1000 + n_contents++ % 9000);
    strbuf_add_char(line, '\n');
#pragma GCC diagnostic pop
}

static void add_operations(uint64_t *seed, struct strbuf *line, size_t n)
{
    for (size_t i = 0; i < n; i++)
        add_operation(seed, line);
    strbuf_add_cstr(line, "true");
}

/* --- names that are made anew --- */

/* A file that gets a new number and keeps its content, permissions and owner is not an image: a
 * rewind cannot make it a name of the old one again, and says so. */
struct name_state {
    ino_t inode;
    mode_t mode;
    char content[20000];
    ssize_t n;
};

static void look_at_names(struct scene *s, struct name_state states[2 * ARRAY_LEN(names)])
{
    for (size_t i = 0; i < 2 * ARRAY_LEN(names); i++) {
        struct name_state *x = &states[i];
        struct stat st;
        char path[600];
        FILE *f;

        snprintf(path, sizeof path, "%s/%s%s", s->workspace, names[i / 2], i % 2 ? ".new" : "");
        *x = (struct name_state){0};
        if (lstat(path, &st) < 0 || !S_ISREG(st.st_mode))
            continue;
        f = fopen(path, "r");
        x->inode = st.st_ino;
        x->mode = st.st_mode;
        x->n = f ? (ssize_t)fread(x->content, 1, sizeof x->content, f) : -1;
        if (f)
            fclose(f);
    }
}

static bool is_made_anew(const struct name_state *was, const struct name_state *is)
{
    return was->inode && is->inode && was->inode != is->inode && was->mode == is->mode &&
           (was->n < 0 || is->n < 0 ||
            (was->n == is->n && memcmp(was->content, is->content, (size_t)is->n) == 0));
}

static bool command_makes_names_anew(struct scene *s, const char *line)
{
    struct name_state *was = mem_alloc(2 * ARRAY_LEN(names) * sizeof *was),
                      *is = mem_alloc(2 * ARRAY_LEN(names) * sizeof *is);
    bool any = false;

    look_at_names(s, was);
    scene_command(s, line);
    look_at_names(s, is);
    for (size_t i = 0; i < 2 * ARRAY_LEN(names); i++)
        any = any || is_made_anew(&was[i], &is[i]);
    mem_free(was);
    mem_free(is);
    return any;
}

/* Without what is said of other names. */
static bool is_same_but_for_names(const char *was, const char *is)
{
    struct str a = str_of(was), b = str_of(is), x, y;

    for (;;) {
        bool has_a = str_split(&a, '\n', &x), has_b = str_split(&b, '\n', &y);

        if (!has_a || !has_b)
            return has_a == has_b;
        if (!str_eq(str_slice(x, 0, str_find(x, S(" = "))), str_slice(y, 0, str_find(y, S(" = ")))))
            return false;
    }
}

static void restore_but_for_names(struct scene *s)
{
    static const char lost[] =
        "its other names (hard links) now belong to another file; its content is restored";
    AUTO(strbuf) struct strbuf now = {0};

    scene_try_restore(s, /* force= */ false);
    for (size_t i = 0; i < s->plan.n; i++)
        if (s->plan.items[i].why.n && !str_is(s->plan.items[i].why, lost))
            fail_msg("%" STR_FMT ": %" STR_FMT, STR_ARG(s->plan.items[i].aim.path),
                     STR_ARG(s->plan.items[i].why));
    scene_describe(s, &now);
    if (!is_same_but_for_names(strbuf_cstr(&s->remembered), strbuf_cstr(&now)))
        assert_string_equal(strbuf_cstr(&now), strbuf_cstr(&s->remembered));
}

/* --- everything is saved --- */

TEST(random_commands_are_taken_back)
{
    const struct rounds all = choose_rounds();

    for (uint64_t round = all.first; round < all.first + all.n; round++) {
        AUTO(scene) struct scene s;
        AUTO(strbuf) struct strbuf line = {0};
        uint64_t seed = round * 7919;
        bool made_anew = false;

        scene_open(&s);
        add_operations(&seed, &line, 20);
        run_announced(&(struct announcer){.dir = s.workspace}, strbuf_cstr(&line));
        scene_remember(&s);
        for (int i = 0; i < N_COMMANDS; i++) {
            strbuf_clear(&line);
            add_operations(&seed, &line, N_OPERATIONS);
            print_message("%s\n", strbuf_cstr(&line));
            made_anew |= command_makes_names_anew(&s, strbuf_cstr(&line));
        }
        print_message("round %d: %zu images\n", (int)round, s.images.n);
        if (made_anew) {
            restore_but_for_names(&s);
            continue;
        }
        scene_restore(&s);
        scene_assert_same(&s);
    }
}

/* --- with limits that are soon reached --- */

struct content_list {
    char hex[4096][SHA256_HEX_SIZE];
    size_t n;
};

/* Of all files in the workspace, by the description of it. */
static void list_contents(const char *description, struct content_list *ret_list)
{
    ret_list->n = 0;
    for (const char *at = description; (at = strchr(at, ' ')); at++) {
        size_t n = strspn(at + 1, "0123456789abcdef");

        if (n == SHA256_HEX_SIZE - 1) {
            assert_true(ret_list->n < ARRAY_LEN(ret_list->hex));
            memcpy(ret_list->hex[ret_list->n], at + 1, n);
            ret_list->hex[ret_list->n++][n] = '\0';
        }
    }
}

static bool is_stored(struct scene *s, const char *hex)
{
    AUTO(strbuf) struct strbuf bytes = {0};
    AUTO(err) struct err *e = blob_get(s->blobs, str_of(hex), &bytes);

    return !e;
}

/* Is it still in the workspace, or among what an undo of the undo can bring back? */
static void assert_nothing_lost(struct scene *s, const struct content_list *before, const char *now)
{
    for (size_t i = 0; i < before->n; i++)
        if (!strstr(now, before->hex[i]) && !is_stored(s, before->hex[i]))
            fail_msg("the content %s is lost; now there is:\n%s", before->hex[i], now);
}

static void assert_reported(const struct scene *s, const char *now)
{
    const struct restore_report *r = &s->report;

    if (strcmp(now, strbuf_cstr(&s->remembered)) != 0 && !s->unsaved.n &&
        r->n_conflicts + r->n_failed + r->n_partly + r->n_left == 0)
        fail_msg("not all is restored, and nothing is said of it; was:\n%snow:\n%s",
                 strbuf_cstr(&s->remembered), now);
}

/* For who must find out why. */
static void print_plan(const struct scene *s, const char *before)
{
    print_message("was:\n%sleft by the commands:\n%splan:\n", strbuf_cstr(&s->remembered), before);
    for (size_t i = 0; i < s->plan.n; i++) {
        const struct restore_item *item = &s->plan.items[i];

        print_message("  %" STR_FMT " (%s, %llu): %s %" STR_FMT "\n", STR_ARG(item->aim.path),
                      image_kind_name(item->aim.kind), (unsigned long long)item->aim.inode,
                      restore_outcome_name(item->outcome), STR_ARG(item->why));
    }
}

static void change_and_restore(struct scene *s, uint64_t seed)
{
    AUTO(strbuf) struct strbuf line = {0}, before = {0}, now = {0};
    struct content_list *contents = mem_alloc(sizeof *contents);

    add_operations(&seed, &line, 20);
    run_announced(&(struct announcer){.dir = s->workspace}, strbuf_cstr(&line));
    scene_remember(s);
    for (int i = 0; i < N_COMMANDS; i++) {
        strbuf_clear(&line);
        add_operations(&seed, &line, N_OPERATIONS);
        scene_command(s, strbuf_cstr(&line));
        print_message("%s\n", strbuf_cstr(&line));
    }
    scene_describe(s, &before);
    list_contents(strbuf_cstr(&before), contents);
    scene_try_restore(s, /* force= */ false);
    scene_describe(s, &now);
    print_plan(s, strbuf_cstr(&before));
    assert_nothing_lost(s, contents, strbuf_cstr(&now));
    assert_reported(s, strbuf_cstr(&now));
    mem_free(contents);
}

TEST(nothing_is_lost_where_not_all_could_be_saved)
{
    const struct rounds all = choose_rounds();

    for (uint64_t round = all.first; round < all.first + 3 * all.n; round++) {
        AUTO(scene) struct scene s;

        scene_open(&s);
        s.options.max_file_bytes = 4 + round % 8; /* one line has 5 */
        s.options.max_bytes = 10 + round % 20;
        s.max_restored = round % 3 ? 6 : 0;
        print_message("round %d\n", (int)round);
        change_and_restore(&s, round * 104729);
    }
}

RUN_TESTS(UNIT(random_commands_are_taken_back), UNIT(nothing_is_lost_where_not_all_could_be_saved))
