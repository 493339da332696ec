/* gate.c - what one decision of the permission gate costs with many rules. */
#include "bench.h"

#include "gate/gate.h"

#include <stdlib.h>

#define N_RULES 1000
#define N_ROUNDS 2000

static const struct tool bash = {.name = "Bash", .risk = RISK_EXECUTE, .permission_arg = "command"};

static const char *const commands[] = {
    "ls -la src",
    "git log --oneline -5 -- src/base/str.c",
    "cd build && ninja -j2 2>&1 | tail -20",
    "grep -rn 'struct str' src --include='*.c' | head -50",
    "for f in src/*.c; do wc -l \"$f\"; done | sort -n",
};

/* Half of them deny, half allow; none matches, so that every one is looked at. */
static void fill(struct arena *a, struct str *rules)
{
    static const char *const programs[] = {"git push", "npm run", "docker", "kubectl delete",
                                           "rm -rf",   "curl",    "lsof",   "grep --delete"};

    for (size_t i = 0; i < N_RULES; i++)
        rules[i] = arena_format(a, "Bash(%s x%zu%s)", programs[i % ARRAY_LEN(programs)], i,
                                i % 3 ? ":*" : " *");
}

/* Of this process alone: nothing here waits. */
static double cpu_seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double decide_all(const struct permission_rules *rules, const struct json *args,
                         const struct tool_session *session)
{
    double start = cpu_seconds();

    for (int i = 0; i < N_ROUNDS; i++)
        if (permission_decide(rules, MODE_DEFAULT, &bash, args, session, NULL).by !=
            DECIDED_BY_MODE)
            exit(EXIT_FAILURE);
    return (cpu_seconds() - start) / N_ROUNDS * 1e6;
}

static double best_of_three(const struct permission_rules *rules, const struct json *args,
                            const struct tool_session *session)
{
    double best = decide_all(rules, args, session);

    for (int i = 0; i < 2; i++)
        best = MIN(best, decide_all(rules, args, session));
    return best;
}

int main(void)
{
    AUTO(arena) struct arena a = {0};
    AUTO(tool_session) struct tool_session *session = tool_session_new(S("/proj"));
    struct str *lists = ARENA_ARRAY(&a, N_RULES, struct str);
    struct permission_rules rules = {
        .deny = lists, .n_deny = N_RULES / 2, .allow = lists + N_RULES / 2, .n_allow = N_RULES / 2};
    struct permission_rules none = {0};
    double worst = 0, worst_none = 0, with, without;

    fill(&a, lists);
    for (size_t i = 0; i < ARRAY_LEN(commands); i++) {
        struct json *args = json_new(&a, JSON_OBJECT);

        json_set_str(&a, args, "command", str_of(commands[i]));
        with = best_of_three(&rules, args, session);
        without = best_of_three(&none, args, session);
        worst = MAX(worst, with);
        worst_none = MAX(worst_none, without);
    }
    printf("{\"rules\":%d,\"us_per_decision\":%.1f,\"us_without_rules\":%.1f}\n", N_RULES, worst,
           worst_none);
    return EXIT_SUCCESS;
}
