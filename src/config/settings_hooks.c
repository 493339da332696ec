/* settings_hooks.c - reads "hooks" file by file, so that messages can name the file. */
#include "config/settings_hooks.h"

#include "config/settings_keys.h"
#include "tool/names.h"

const struct setting_key hook_settings[] = {
    {"hooks", SETTING_OBJECT, .help = "commands to run at events of a session"},
    {"hooks.*", SETTING_ANY, MERGE_ADD, .help = "hook groups of one event"},
    {0},
};

struct err *settings_hooks(const struct settings *s, struct hook_config **ret_config)
{
    AUTO(hook_config) struct hook_config *c = hook_config_new();
    AUTO(arena) struct arena scratch = {0};
    struct hook_tools tools = {0};

    tools.names = tool_names(&scratch, &tools.n, &tools.n_own);
    for (int l = N_LAYERS - 1; l >= 0; l--) {
        struct str file;
        const struct json *hooks = json_get(settings_layer(s, (enum layer)l, &file), "hooks");

        if (hooks)
            TRY(hook_config_add(
                c, hooks,
                &(struct hook_file){.name = file.p,
                                    .is_foreign = layer_is_foreign((enum layer)l),
                                    .is_project = layer_is_project((enum layer)l),
                                    .names_are_regex = layer_is_robota((enum layer)l),
                                    .tools = &tools}));
    }
    *ret_config = TAKE(c);
    return NULL;
}
