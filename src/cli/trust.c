/* trust.c - `keel trust`: use the settings that a project brings along, or stop doing so. */
#include "cli/commands.h"

#include "sdk/runtime.h"
#include "sdk/trust.h"
#include "sys/fs.h"

#define EXIT_BY_PERSON 4

static const struct option options[] = {
    {"revoke", 0, NULL, .help = "do not trust it any more"},
    {"list", 0, NULL, .help = "print what is trusted"},
    {"yes", 'y', NULL, .help = "do not ask"},
    {0},
};

static struct err *print_list(const struct runtime *r)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf out = {0};
    struct json *list;

    TRY(trust_list(&a, runtime_home(r, &a), &list));
    json_each (entry, list)
        strbuf_addf(&out, "%" STR_FMT "  since %" STR_FMT "\n", STR_ARG(entry->key),
                    STR_ARG(json_get_text(entry, "time")));
    if (out.n == 0)
        cli_tell("no project is trusted");
    return cli_print(strbuf_str(&out));
}

static struct err *revoke(const struct runtime *r, const char *dir)
{
    AUTO(arena) struct arena a = {0};
    bool was_given;

    TRY(trust_revoke(runtime_home(r, &a), dir, &was_given));
    cli_tell(was_given ? "%s is not trusted any more" : "%s was not trusted", dir);
    return NULL;
}

/* A person must see what it is about. */
static struct err *show_files(const char *dir, const struct trust_state *state)
{
    AUTO(arena) struct arena a = {0};

    cli_tell("%s brings along:", dir);
    for (size_t i = 0; i < state->n_files; i++) {
        AUTO(strbuf) struct strbuf text = {0};

        TRY(fs_read(fs_join(&a, dir, state->files[i]), &text, NULL));
        cli_tell("\n--- %s", state->files[i]);
        TRY(cli_print_visible(strbuf_str(&text)));
    }
    return NULL;
}

static struct err *give(const struct runtime *r, const char *dir, bool is_sure, int *ret_status)
{
    AUTO(arena) struct arena a = {0};
    struct trust_state state;
    bool yes = is_sure;

    TRY(trust_check(&a, runtime_home(r, &a), dir, &state));
    if (state.trust == TRUST_NOT_NEEDED || state.trust == TRUST_GIVEN) {
        cli_tell(state.trust == TRUST_GIVEN ? "%s is trusted already"
                                            : "%s brings no settings along: it needs no trust",
                 dir);
        return NULL;
    }
    if (!yes) {
        TRY(show_files(dir, &state));
        TRY(cli_confirm("\nUse these settings, as long as they stay as they are?",
                        "look at the files, then say keel trust --yes", &yes));
    }
    if (!yes) {
        cli_tell("nothing was changed");
        *ret_status = EXIT_BY_PERSON;
        return NULL;
    }
    TRY(trust_give(runtime_home(r, &a), dir, &state));
    cli_tell("%s is trusted, as long as these files stay as they are", dir);
    return NULL;
}

static struct err *run(const struct args *args, int *ret_status)
{
    AUTO(runtime) struct runtime r = {0};

    TRY(args_count(args, 0, 0, "no operand: it is about the project of the working directory"));
    TRY(runtime_open(&r, &(struct runtime_options){0}));
    if (args_has(args, "list"))
        return print_list(&r);
    if (args_has(args, "revoke"))
        return revoke(&r, r.options.project_dir);
    return give(&r, r.options.project_dir, args_has(args, "yes"), ret_status);
}

const struct command command_trust = {
    .name = "trust",
    .usage = "[--yes]\n--revoke\n--list",
    .group = "Set up",
    .summary = "use the settings that this project brings along",
    .details = "A repository's own settings (.keel/, .claude/, .mcp.json) can allow tools, start\n"
               "hooks and name providers. They are not used until you trust them, and no longer\n"
               "than they stay as you saw them. Rules that forbid count always.\n",
    .options = options,
    .run = run,
};
