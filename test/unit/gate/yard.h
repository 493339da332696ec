/* yard.h - a workspace among other directories, on a real file system, with links in and out.
 *
 *     proj/             the workspace; src/a.c, .git/config, .env
 *     out/              outside; secret.txt
 *     keys/             a secret place; id
 *     home/             HOME
 */
#ifndef KEEL_TEST_UNIT_GATE_YARD_H
#define KEEL_TEST_UNIT_GATE_YARD_H

#include "../files.h"
#include "calls.h"

struct yard {
    struct temp_dir dir;
    struct arena arena;
    struct tool_state *state;
    struct permission_rules rules;
    struct hard_policy policy;
    const char *home, *secret; /* HOME=..., keys */
    const char *environment[2];
    enum permission_mode mode;
    struct judged judged;
};

/* Below the yard; lives as long as it. */
static inline const char *yard_path(struct yard *y, const char *name)
{
    return arena_cstr(&y->arena, str_of(temp_path(&y->dir, name)));
}

static inline void yard_init(struct yard *y)
{
    char real[4096];

    *y = (struct yard){.dir = temp_dir_make(), .mode = MODE_BYPASS};
    assert_non_null(realpath(y->dir.path, real));
    assert_true(strlen(real) < sizeof y->dir.path);
    strcpy(y->dir.path, real);
    put(&y->dir, "proj/src/a.c", "");
    put(&y->dir, "proj/.git/config", "");
    put(&y->dir, "proj/.env", "");
    put(&y->dir, "out/secret.txt", "");
    put(&y->dir, "keys/id", "");
    put(&y->dir, "home/notes", "");
    y->state = tool_state_new(str_of(yard_path(y, "proj")));
    y->secret = yard_path(y, "keys");
    y->environment[0] = arena_format(&y->arena, "HOME=%s", yard_path(y, "home")).p;
    y->rules.environment = y->environment;
    y->policy = (struct hard_policy){.secret = &y->secret, .n_secret = 1};
}

static inline void yard_done(struct yard *y)
{
    tool_state_free(y->state);
    arena_done(&y->arena);
    temp_dir_done(&y->dir);
}
DEFINE_AUTO_VAL(yard, yard_done)

/* Both below the yard; what the link says is taken as it is if it does not start with "@". */
static inline void yard_link(struct yard *y, const char *name, const char *says)
{
    const char *path = yard_path(y, name);

    unlink(path);
    assert_int_equal(symlink(*says == '@' ? yard_path(y, says + 1) : says, path), 0);
}

/* The text with the yard for each "@". */
static inline const char *yard_text(struct yard *y, const char *text)
{
    AUTO(strbuf) struct strbuf out = {0};

    for (; *text; text++)
        if (*text == '@')
            strbuf_add_cstr(&out, y->dir.path);
        else
            strbuf_add_char(&out, *text);
    return arena_cstr(&y->arena, strbuf_str(&out));
}

static inline void yard_allow(struct yard *y, const char *pattern)
{
    struct str *rule = ARENA_NEW(&y->arena, struct str);

    *rule = str_of(yard_text(y, pattern));
    y->rules.allow = rule;
    y->rules.n_allow = 1;
}

static inline void yard_deny(struct yard *y, const char *pattern)
{
    struct str *rule = ARENA_NEW(&y->arena, struct str);

    *rule = str_of(yard_text(y, pattern));
    y->rules.deny = rule;
    y->rules.n_deny = 1;
}

static inline const struct judged *yard_judge(struct yard *y, const struct tool *tool,
                                              const char *argument)
{
    struct json *args = json_new(&y->arena, JSON_OBJECT);

    if (argument)
        json_set_str(&y->arena, args, tool->permission_arg, str_of(yard_text(y, argument)));
    assert_ok(permission_judge(&y->rules, &y->policy, y->mode, tool, args, y->state, &y->arena,
                               &y->judged));
    assert_true(y->judged.reason.n > 0);
    return &y->judged;
}

static inline void yard_expect_(struct yard *y, const struct tool *tool, const char *argument,
                                enum decision decision, const char *rule, int line)
{
    yard_judge(y, tool, argument);
    if (y->judged.decision != decision || !str_is(y->judged.rule, yard_text(y, rule))) {
        print_error("%s(%s): want %s by %s, got %s by %" STR_FMT "\n", tool->name, argument,
                    decision_name(decision), rule, decision_name(y->judged.decision),
                    STR_ARG(y->judged.rule));
        _fail(__FILE__, line);
    }
}
#define auto_by(tool, argument, rule)                                                              \
    yard_expect_(&y, tool, argument, DECISION_AUTO, rule, __LINE__)
#define asks_by(tool, argument, rule)                                                              \
    yard_expect_(&y, tool, argument, DECISION_APPROVE, rule, __LINE__)
#define denied_by(tool, argument, rule)                                                            \
    yard_expect_(&y, tool, argument, DECISION_DENY, rule, __LINE__)

#endif
