/* property_test.c - whatever commands do, in whatever order, the tree comes back. */
#include "snapshot/scene.h"

#define N_ROUNDS 100
#define N_COMMANDS 4
#define N_OPERATIONS 6

static unsigned next(uint64_t *state, unsigned n)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(*state >> 33) % n;
}

/* Few names, so that operations meet. */
static const char *const names[] = {"a", "b", "d", "d/a", "d/b", "d/e", "d/e/a", "f", "f/a"};

static void add_operation(uint64_t *seed, struct strbuf *line)
{
    static const char *const operations[] = {
        "echo %3$u > %1$s",  "echo %3$u >> %1$s", "rm -rf %1$s",        "mkdir -p %1$s",
        "mv %1$s %2$s",      "mv -T %1$s %2$s",   "ln -sf %2$s %1$s",   "ln -f %1$s %2$s",
        "chmod 6%3$u0 %1$s", "chmod 7%3$u1 %1$s", "cp -a %1$s %2$s",    "rm -f %1$s; touch %1$s",
        "ln %1$s %2$s",      "exch %1$s %2$s",    "replace %1$s x%3$u", "chmod %3$u00 %1$s",
    };
    const char *format = operations[next(seed, ARRAY_LEN(operations))];
    const char *one = names[next(seed, ARRAY_LEN(names))];
    const char *two = names[next(seed, ARRAY_LEN(names))];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    strbuf_addf(line, format, one, two, next(seed, 8));
    strbuf_add_char(line, '\n');
#pragma GCC diagnostic pop
}

static void add_operations(uint64_t *seed, struct strbuf *line, size_t n)
{
    for (size_t i = 0; i < n; i++)
        add_operation(seed, line);
    strbuf_add_cstr(line, "true");
}

TEST(random_commands_are_taken_back)
{
    for (uint64_t round = 1; round <= N_ROUNDS; round++) {
        AUTO(scene) struct scene s;
        AUTO(strbuf) struct strbuf line = {0};
        uint64_t seed = round * 7919;

        scene_open(&s);
        add_operations(&seed, &line, 20);
        run_announced(&(struct announcer){.dir = s.workspace}, strbuf_cstr(&line));
        scene_remember(&s);
        for (int i = 0; i < N_COMMANDS; i++) {
            strbuf_clear(&line);
            add_operations(&seed, &line, N_OPERATIONS);
            scene_command(&s, strbuf_cstr(&line));
        }
        print_message("round %d: %zu images\n", (int)round, s.images.n);
        scene_restore(&s);
        scene_assert_same(&s);
    }
}

RUN_TESTS(UNIT(random_commands_are_taken_back))
