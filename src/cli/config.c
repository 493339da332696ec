/* config.c - `keel config`: the settings in force, and where each came from. */
#include "cli/commands.h"

#include "base/secret_keys.h"
#include "sdk/runtime.h"

#include <stdio.h>

static const struct option options[] = {
    {"origin", 0, NULL, "say which file each value came from"},
    {"json", 0, NULL, "print one JSON object"},
    {"settings", 0, "FILE|JSON", "further settings, above all files"},
    {0},
};

static struct err *open_runtime(const struct args *args, struct runtime *r)
{
    TRY(runtime_open(r, &(struct runtime_options){.settings_file = args_get(args, "settings")}));
    for (size_t i = 0; i < settings_n_warnings(r->settings); i++)
        fprintf(stderr, "keel: %" STR_FMT "\n", STR_ARG(settings_warning(r->settings, i)));
    return NULL;
}

/* --- show --- */

/* A key that stands in a file as it is must not reach a screen; a reference may. */
static struct json *without_secrets(struct arena *a, const struct json *v, struct str key)
{
    struct json *copy;

    if (v->type == JSON_STRING && key_is_secret(key) && !env_is_reference(v->text))
        return json_new_str(a, S(REDACTED));
    if (v->type != JSON_OBJECT && v->type != JSON_ARRAY)
        return json_copy(a, v);
    copy = json_new(a, v->type);
    json_each (child, v) {
        struct json *clean = without_secrets(a, child, child->key);

        if (v->type == JSON_OBJECT)
            json_set_key(a, copy, child->key, clean);
        else
            json_push(copy, clean);
    }
    return copy;
}

static void add_origin(const struct settings *s, const char *path, struct strbuf *out)
{
    struct setting_origin origin = settings_origin(s, path);

    strbuf_addf(out, "   # %s%s%" STR_FMT, layer_name(origin.layer), origin.file.n ? ": " : "",
                STR_ARG(origin.file));
}

/* One line per value: path = JSON. */
static void add_lines(const struct settings *s, struct arena *a, const struct json *tree,
                      const char *path, bool with_origin, struct strbuf *out)
{
    json_each (member, tree) {
        struct str below =
            arena_format(a, "%s%s%" STR_FMT, path, *path ? "." : "", STR_ARG(member->key));

        if (member->type == JSON_OBJECT && member->n) {
            add_lines(s, a, member, below.p, with_origin, out);
            continue;
        }
        strbuf_addf(out, "%s = ", below.p);
        json_write(out, member);
        if (with_origin)
            add_origin(s, below.p, out);
        strbuf_add_char(out, '\n');
    }
}

static struct err *run_show(const struct args *args, int *ret_status)
{
    AUTO(runtime) struct runtime r = {0};
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf out = {0};
    struct json *tree;

    TRY(args_count(args, 0, 0, "no operand"));
    TRY(open_runtime(args, &r));
    tree = without_secrets(&a, settings_root(r.settings), (struct str){0});
    if (args_has(args, "json")) {
        json_write_pretty(&out, tree);
        strbuf_add_char(&out, '\n');
    } else {
        add_lines(r.settings, &a, tree, "", args_has(args, "origin"), &out);
    }
    if (out.n == 0)
        fputs("keel: no settings file says anything\n", stderr);
    return cli_print(strbuf_str(&out));
}

static const struct command command_config_show = {
    .name = "config show",
    .usage = "[--origin] [--json]",
    .summary = "print the merged settings",
    .details = "Keys that stand in a file as they are are not shown; \"$ENV:NAME\" is.\n",
    .options = options,
    .run = run_show,
};

/* --- provider --- */

static struct err *run_provider(const struct args *args, int *ret_status)
{
    AUTO(runtime) struct runtime r = {0};
    AUTO(strbuf) struct strbuf out = {0};

    TRY(args_count(args, 0, 0, "no operand"));
    TRY(open_runtime(args, &r));
    TRY(runtime_use_model(&r, args_get(args, "model")));
    strbuf_addf(&out, "%" STR_FMT "/%" STR_FMT "  %s  %" STR_FMT "\n", STR_ARG(r.profile.id),
                STR_ARG(r.profile.model), r.profile.protocol->name, STR_ARG(r.profile.base_url));
    return cli_print(strbuf_str(&out));
}

static const struct option provider_options[] = {
    {"model", 0, "VENDOR/MODEL", "as with keel -p"},
    {"settings", 0, "FILE|JSON", "further settings, above all files"},
    {0},
};

static const struct command command_config_provider = {
    .name = "config provider",
    .usage = "[--model VENDOR/MODEL]",
    .summary = "print the model, protocol and address that would be used",
    .details = "Exit 6 when none is set up, with what to do.\n",
    .options = provider_options,
    .run = run_provider,
};

/* --- keys --- */

static struct err *run_keys(const struct args *args, int *ret_status)
{
    AUTO(strbuf) struct strbuf out = {0};

    for (const struct setting_key *k = setting_keys; k->path; k++)
        strbuf_addf(&out, "%-28s %s\n", k->path, k->help);
    return cli_print(strbuf_str(&out));
}

static const struct command command_config_keys = {
    .name = "config keys",
    .usage = "",
    .summary = "list every setting with what it means",
    .run = run_keys,
};

static const struct command *const children[] = {
    &command_config_show,
    &command_config_provider,
    &command_config_keys,
    NULL,
};

const struct command command_config = {
    .name = "config",
    .usage = "show|provider|keys",
    .group = "Set up",
    .summary = "the settings in force and where they came from",
    .details = "Settings are JSON files; the first that has a value wins:\n"
               "  .keel/settings.local.json   this project, only for you\n"
               "  .keel/settings.json         this project\n"
               "  ~/.keel/settings.json       all your projects (KEEL_HOME moves it)\n"
               "Those under .robota/ and .claude/ are read below them.\n",
    .children = children,
};
