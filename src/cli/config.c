/* config.c - `keel config`: the settings in force and what follows from them. */
#include "cli/config.h"

#include "cli/commands.h"
#include "cli/output/text.h"
#include "config/settings_keys.h"
#include "net/url.h"

struct err *config_open(const struct args *args, struct project **ret_project)
{
    struct project_options options = {.settings_file = args_get(args, "settings")};
    const struct settings *s;

    TRY(project_open(NULL, &options, ret_project));
    s = (*ret_project)->settings;
    for (size_t i = 0; i < settings_n_warnings(s); i++)
        cli_tell("%" STR_FMT, STR_ARG(settings_warning(s, i)));
    return NULL;
}

/* --- provider --- */

static struct err *run_provider(const struct args *args, int *ret_status)
{
    AUTO(project) struct project *p = NULL;
    AUTO(model_choice) struct model_choice *m = NULL;
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf out = {0};

    TRY(args_count(args, 0, 0, "no arguments"));
    TRY(config_open(args, &p));
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
    .run = run_provider,
};

/* --- keys --- */

/* On a terminal with less room than that behind the names, the texts go below. */
#define MIN_TEXT 30
#define BELOW_INDENT 4

static struct err *run_keys(const struct args *args, int *ret_status)
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
               "keel also reads .robota/ and .claude/: a project's files come after its .keel/,\n"
               "those in your home come last.\n\n"
               "  keel config show --origin\n",
    .remedy =
        "keel config show prints the settings, keel config keys explains them; to change one, "
        "edit ~/.keel/settings.json",
    .children = children,
};
