/* config.c - `keel config`: the settings in force and what follows from them. */
#include "cli/commands.h"

#include "base/secret_keys.h"
#include "cli/flags/agent.h"
#include "cli/output/text.h"
#include "config/settings_check.h"
#include "config/settings_keys.h"
#include "net/url.h"
#include "sdk/project.h"

/* --- show --- */

static const struct option show_options[] = {
    {"origin", 0, NULL, "print the file that each value came from"},
    {"json", 0, NULL, "print one JSON object"},
    {"settings", 0, "FILE|JSON", "more settings; they override all files"},
    {0},
};

/* That there is a user and a password must be seen: without them it is another address. */
static struct str url_without_secrets(struct arena *a, struct str url)
{
    struct str shown = url_redact(a, url);
    size_t host = str_find(url, S("://")) + 3, in_shown = str_find(shown, S("://"));
    size_t n = 0;

    while (host + n < url.n && !strchr("/?#", url.p[host + n]))
        n++;
    if (str_find_char(str_slice(url, host, n), '@') == STR_NONE || in_shown == STR_NONE)
        return shown;
    return arena_format(a, "%" STR_FMT REDACTED "@%" STR_FMT,
                        STR_ARG(str_slice(shown, 0, in_shown + 3)),
                        STR_ARG(str_skip(shown, in_shown + 3)));
}

/* A key in a file must not reach a screen; a reference to one may. */
static struct json *without_secrets(struct arena *a, const struct json *v, struct str key)
{
    bool is_secret = key_is_secret(key) || http_header_is_secret(key);
    struct json *copy;

    if (v->type == JSON_STRING && is_secret && !env_is_reference(v->text))
        return json_new_str(a, S(REDACTED));
    if (v->type == JSON_STRING && str_find(v->text, S("://")) != STR_NONE)
        return json_new_str(a, url_without_secrets(a, v->text));
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

/* The layers that count for the value at `path`: one, or all where they add up. */
static bool next_origin(const struct settings *s, const char *path, size_t *at,
                        struct setting_origin *ret_origin)
{
    const struct setting_key *key = setting_key_find(str_of(path));

    if (*at && !(key && key->merge == MERGE_ADD))
        return false;
    return settings_next_origin(s, path, at, ret_origin);
}

struct settings_show {
    const struct settings *settings;
    struct arena *arena;
    bool with_origin;
    struct json_writer *json; /* NULL: lines for a person */
    struct strbuf *out;
};

/* path = JSON   # layer: file */
static void add_line(const struct settings_show *s, const char *path, const struct json *value)
{
    struct setting_origin origin;
    size_t at = 0;

    cli_add_visible(s->out, str_of(path));
    strbuf_add_cstr(s->out, " = ");
    json_write(s->out, value);
    while (s->with_origin && next_origin(s->settings, path, &at, &origin)) {
        strbuf_addf(s->out, "   # %s%s", layer_name(origin.layer), origin.file.n ? ": " : "");
        cli_add_visible(s->out, origin.file);
    }
    strbuf_add_char(s->out, '\n');
}

/* "path": {"value", "origins": [{"layer", "file"}]} */
static void write_member(const struct settings_show *s, const char *path, const struct json *value)
{
    struct setting_origin origin;
    size_t at = 0;

    jw_key(s->json, path);
    jw_begin_object(s->json);
    jw_kv_json(s->json, "value", value);
    jw_key(s->json, "origins");
    jw_begin_array(s->json);
    while (next_origin(s->settings, path, &at, &origin)) {
        jw_begin_object(s->json);
        jw_kv_str(s->json, "layer", str_of(layer_name(origin.layer)));
        if (origin.file.n)
            jw_kv_str(s->json, "file", origin.file);
        jw_end_object(s->json);
    }
    jw_end_array(s->json);
    jw_end_object(s->json);
}

static void show_below(const struct settings_show *s, const struct json *tree, const char *path)
{
    json_each (member, tree) {
        const char *quote = str_find_char(member->key, '.') == STR_NONE ? "" : "\"";
        struct str below = arena_format(s->arena, "%s%s%s%" STR_FMT "%s", path, *path ? "." : "",
                                        quote, STR_ARG(member->key), quote);

        if (member->type == JSON_OBJECT && member->n)
            show_below(s, member, below.p);
        else if (s->json)
            write_member(s, below.p, member);
        else
            add_line(s, below.p, member);
    }
}

static void show_json(struct settings_show *s, const struct json *tree)
{
    struct json_writer w;

    if (!s->with_origin) {
        json_write_pretty(s->out, tree);
    } else {
        jw_init(&w, s->out);
        jw_begin_object(&w);
        s->json = &w;
        show_below(s, tree, "");
        jw_end_object(&w);
        s->json = NULL;
    }
    strbuf_add_char(s->out, '\n');
}

/* In files of other programs; of keel's own it is among the warnings. */
static void note_ignored(const struct settings *s, enum layer l)
{
    struct str file, ignored = settings_ignored(s, l);

    settings_layer(s, l, &file);
    if (ignored.n && layer_is_foreign(l))
        cli_tell("%" STR_FMT ": these settings are ignored: %" STR_FMT, STR_ARG(file),
                 STR_ARG(ignored));
}

static struct err *config_show_run(const struct args *args, int *ret_status)
{
    AUTO(project) struct project *p = NULL;
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf out = {0};
    struct settings_show show = {.arena = &a, .with_origin = args_has(args, "origin"), .out = &out};
    struct json *tree;

    TRY(args_count(args, 0, 0, "no arguments"));
    TRY(agent_flags_project(args, &p));
    show.settings = p->settings;
    for (int l = 0; l < N_LAYERS; l++)
        note_ignored(p->settings, (enum layer)l);
    tree = without_secrets(&a, settings_root(p->settings), (struct str){0});
    if (args_has(args, "json"))
        show_json(&show, tree);
    else
        show_below(&show, tree, "");
    if (out.n == 0)
        cli_tell("no settings found");
    return cli_print(strbuf_str(&out));
}

static const struct command command_config_show = {
    .name = "config show",
    .usage = "[--origin] [--json] [--settings FILE|JSON]",
    .summary = "print the merged settings",
    .details = "Prints a line for each value: its path and the value as JSON. Credentials in a\n"
               "file are not shown; \"$ENV:NAME\" is.\n\n"
               "  keel config show --origin\n",
    .options = show_options,
    .run = config_show_run,
};

/* --- provider --- */

static struct err *config_provider_run(const struct args *args, int *ret_status)
{
    AUTO(project) struct project *p = NULL;
    AUTO(model_choice) struct model_choice *m = NULL;
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf out = {0};

    TRY(args_count(args, 0, 0, "no arguments"));
    TRY(agent_flags_project(args, &p));
    TRY(project_choose_model(p, args_get(args, "model"), &m));
    strbuf_addf(&out, "%" STR_FMT "/%" STR_FMT "  %s  %" STR_FMT "\n", STR_ARG(m->profile.id),
                STR_ARG(m->profile.model), m->profile.protocol->name,
                STR_ARG(url_redact(&a, m->profile.base_url)));
    return cli_print_visible(strbuf_str(&out));
}

static const struct option provider_options[] = {
    {"model", 0, "VENDOR/MODEL", "as for a prompt", .words = COMPLETE_MODELS},
    {"settings", 0, "FILE|JSON", "more settings; they override all files"},
    {0},
};

static const struct command command_config_provider = {
    .name = "config provider",
    .usage = "[--model VENDOR/MODEL] [--settings FILE|JSON]",
    .summary = "print the model, protocol and address in use",
    .details = "Exits 6 if none is set up, and says what to do.\n\n"
               "  keel config provider --model openai/gpt-5\n",
    .options = provider_options,
    .run = config_provider_run,
};

/* --- keys --- */

/* On a terminal with less room than that behind the names, the texts go below. */
#define MIN_TEXT 30
#define BELOW_INDENT 4

static struct err *config_keys_run(const struct args *args, int *ret_status)
{
    AUTO(strbuf) struct strbuf out = {0};
    size_t n_columns = cli_n_columns(), column = 0;

    TRY(args_count(args, 0, 0, "no arguments"));
    setting_keys_each (k)
        column = MAX(column, strlen(k->path) + 2);
    setting_keys_each (k) {
        if (n_columns && n_columns < column + MIN_TEXT) {
            strbuf_addf(&out, "%s\n%*s", k->path, BELOW_INDENT, "");
            text_wrap(&out, str_of(k->help), BELOW_INDENT, n_columns);
        } else {
            strbuf_addf(&out, "%-*s", (int)column, k->path);
            text_wrap(&out, str_of(k->help), column, n_columns);
        }
        strbuf_add_char(&out, '\n');
    }
    return cli_print(strbuf_str(&out));
}

static const struct command command_config_keys = {
    .name = "config keys",
    .usage = "",
    .summary = "list every setting and its meaning",
    .details = "  keel config keys | grep sandbox\n",
    .run = config_keys_run,
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
               "keel also reads .robota/ and .claude/: a project's files come after its .keel/,\n"
               "those in your home come last.\n\n"
               "  keel config show --origin\n",
    .remedy =
        "keel config show prints the settings, keel config keys explains them; to change one, "
        "edit ~/.keel/settings.json",
    .children = children,
};
