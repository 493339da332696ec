/* session.c - from the command line to a session and its budget. */
#include "cli/flags/session.h"

#include "base/uuid.h"

bool session_flags_resume(const struct args *args)
{
    return args_has(args, "resume") || args_has(args, "continue");
}

/* --- which session --- */

struct err *session_name_check(const char *name)
{
    if (!name || (str_trim(str_of(name)).n && !strchr(name, '\n')))
        return NULL;
    return err_hint(err_new(ERR_VALIDATION, "a session's name is one line of text, and not empty"),
                    "give another name");
}

static struct err *check_id(const struct args *args)
{
    const char *id = args_get(args, "session-id");

    if (id && !uuid_is_valid(str_of(id)))
        return err_new(ERR_VALIDATION, "--session-id takes a UUID, not \"%s\"", id);
    if (id && session_flags_resume(args) && !args_has(args, "fork-session"))
        return err_hint(err_new(ERR_VALIDATION, "an existing session keeps its id"),
                        "add --fork-session to copy it under the id of --session-id");
    return NULL;
}

static struct err *check_resume(const struct args *args)
{
    const char *given = args_get(args, "resume");

    if (args_has(args, "fork-session") && !session_flags_resume(args))
        return err_hint(err_new(ERR_VALIDATION, "--fork-session needs a session to copy"),
                        "add --continue or --resume ID");
    if (args_has(args, "answer") && !session_flags_resume(args))
        return err_hint(err_new(ERR_VALIDATION, "--answer needs a session"),
                        "add --continue or --resume ID");
    if (given && args_has(args, "continue"))
        return err_hint(err_new(ERR_VALIDATION, "--continue and --resume cannot be combined"),
                        "remove one of them");
    if (given && str_trim(str_of(given)).n == 0)
        return err_hint(err_new(ERR_VALIDATION, "--resume needs the id or the name of a session"),
                        "--continue takes the newest one of this directory");
    if (session_flags_resume(args) && args_has(args, "no-session-persistence"))
        return err_hint(
            err_new(ERR_VALIDATION,
                    "--no-session-persistence cannot be combined with --continue or --resume"),
            "remove --no-session-persistence");
    return NULL;
}

static struct err *read_session(const struct args *args, struct agent_session *s)
{
    TRY(check_id(args));
    TRY(check_resume(args));
    TRY(session_name_check(args_get(args, "name")));
    *s = (struct agent_session){
        .store = args_get(args, "store"),
        .resume = args_get(args, "resume"),
        .continues = args_has(args, "continue"),
        .forks = args_has(args, "fork-session"),
        .id = args_get(args, "session-id"),
        .name = args_get(args, "name"),
        .is_private = args_has(args, "no-session-persistence"),
        .keeps_model = !args_has(args, "model"),
    };
    return NULL;
}

/* --- what it may cost --- */

static struct err *read_money(const struct args *args, int64_t *ret_microcents)
{
    const char *given = args_get(args, "max-budget-usd");
    AUTO(arena) struct arena a = {0};
    AUTO(err) struct err *e = NULL;
    struct json *amount = NULL;

    if (!given)
        return NULL;
    e = json_parse(&a, str_of(given), 0, &amount);
    if (!e && money_from_usd(amount, ret_microcents) && *ret_microcents > 0)
        return NULL;
    return err_new(ERR_VALIDATION, "--max-budget-usd takes an amount over 0, not \"%s\"", given);
}

struct err *session_flags_read(const struct args *args, struct agent_options *o)
{
    int64_t tokens;

    TRY(read_session(args, &o->session));
    TRY(read_money(args, &o->budget.microcents));
    TRY(args_int(args, "max-tokens-total", 1, INT64_MAX, 0, &tokens));
    o->budget.tokens = (uint64_t)tokens;
    o->budget.money_set_by = "--max-budget-usd";
    o->budget.tokens_set_by = "--max-tokens-total";
    return NULL;
}
