/* gate.c - what one decision of the permission gate costs with many rules. */
#include "bench.h"

#include "gate/gate.h"

#include <stdio.h>
#include <stdlib.h>

#define N_RULES 1000

static int n_rounds = 2000; /* or the first argument */

static const struct tool bash = {.name = "Bash", .risk = RISK_EXECUTE, .permission_arg = "command"};
static const struct tool edit = {
    .name = "Edit", .risk = RISK_MODIFY, .permission_arg = "file_path"};

static const char *const commands[] = {
    "ls -la src",
    "git log --oneline -5 -- src/base/str.c",
    "cd build && ninja -j2 2>&1 | tail -20",
    "grep -rn 'struct str' src --include='*.c' | head -50",
    "for f in src/*.c; do wc -l \"$f\"; done | sort -n",
};
static const char *const paths[] = {"src/base/str.c", "/usr/include/stdio.h", "../x"};

/* Half of them deny, half allow; none matches, so that every one is looked at. */
static void fill_commands(struct arena *a, struct str *rules)
{
    static const char *const programs[] = {"git push", "npm run", "docker", "kubectl delete",
                                           "rm -rf",   "curl",    "lsof",   "grep --delete"};

    for (size_t i = 0; i < N_RULES; i++)
        rules[i] = arena_format(a, "Bash(%s x%zu%s)", programs[i % ARRAY_LEN(programs)], i,
                                i % 3 ? ":*" : " *");
}

static void fill_paths(struct arena *a, struct str *rules)
{
    static const char *const patterns[] = {"src/x%zu/**",    "/docs/%zu.md", "//etc/x%zu/*.conf",
                                           "~/.config/x%zu", "**/*.x%zu",    "x%zu.c"};

    for (size_t i = 0; i < N_RULES; i++) {
        AUTO(strbuf) struct strbuf pattern = {0};

        strbuf_add_cstr(&pattern, i % 2 ? "Edit(" : "Read(");
        strbuf_addf(&pattern, patterns[i % ARRAY_LEN(patterns)], i);
        strbuf_add_char(&pattern, ')');
        rules[i] = arena_str(a, strbuf_str(&pattern));
    }
}

/* Of this process alone: nothing here waits. */
static double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double decide_all(const struct rulebook *rules, const struct tool *tool,
                         const struct json *args, const struct tool_state *session)
{
    double start = cpu_seconds();

    for (int i = 0; i < n_rounds; i++) {
        enum decided_by by = permission_decide(rules, MODE_DEFAULT, tool, args, session, NULL).by;

        if (by == DECIDED_BY_DENY || by == DECIDED_BY_ALLOW) {
            fprintf(stderr, "bench-gate: a rule matches, which none should\n");
            exit(EXIT_FAILURE);
        }
    }
    return (cpu_seconds() - start) / n_rounds * 1e6;
}

static double best_of_three(const struct rulebook *rules, const struct tool *tool,
                            const struct json *args, const struct tool_state *session)
{
    double best = decide_all(rules, tool, args, session);

    for (int i = 0; i < 2; i++)
        best = MIN(best, decide_all(rules, tool, args, session));
    return best;
}

/* The dearest of these arguments. */
static double worst_of(const struct rulebook *rules, const struct tool *tool,
                       const char *const *arguments, size_t n, struct arena *a,
                       const struct tool_state *session)
{
    double worst = 0;

    for (size_t i = 0; i < n; i++) {
        struct json *args = json_new(a, JSON_OBJECT);
        double one;

        json_set_str(a, args, tool->permission_arg, str_of(arguments[i]));
        one = best_of_three(rules, tool, args, session);
        worst = MAX(worst, one);
    }
    return worst;
}

/* Reading the rules is no part of it: that is done once, when they are set. */
static double worst_of_rules(struct str *rules, const struct tool *tool,
                             const char *const *arguments, size_t n, struct arena *a,
                             const struct tool_state *session)
{
    struct permission_rules lists = {
        .deny = rules, .n_deny = N_RULES / 2, .allow = rules + N_RULES / 2, .n_allow = N_RULES / 2};
    AUTO(rulebook) struct rulebook *book = rulebook_new(&lists);

    return worst_of(book, tool, arguments, n, a, session);
}

int main(int argc, char **argv)
{
    AUTO(arena) struct arena a = {0};
    AUTO(tool_state) struct tool_state *session = tool_state_new(S("/proj"));
    AUTO(rulebook) struct rulebook *none = rulebook_new(&(struct permission_rules){0});
    struct str *rules = ARENA_ARRAY(&a, N_RULES, struct str);
    double bare, by_command, by_path;

    if (argc > 1)
        n_rounds = MAX(atoi(argv[1]), 1);
    bare = worst_of(none, &bash, commands, ARRAY_LEN(commands), &a, session);
    fill_commands(&a, rules);
    by_command = worst_of_rules(rules, &bash, commands, ARRAY_LEN(commands), &a, session);
    fill_paths(&a, rules);
    by_path = worst_of_rules(rules, &edit, paths, ARRAY_LEN(paths), &a, session);
    printf("{\"rules\":%d,\"us_per_command\":%.1f,\"us_per_path\":%.1f,"
           "\"us_without_rules\":%.1f}\n",
           N_RULES, by_command, by_path, bare);
    return EXIT_SUCCESS;
}
