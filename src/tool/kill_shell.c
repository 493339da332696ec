/* kill_shell.c - the KillShell tool: ends a background command. */
#include "tool/builtin.h"
#include "tool/shell/background.h"

static struct err *kill_shell_run(const struct tool *t, struct tool_context *c,
                                  const struct json *args, struct tool_result *r)
{
    struct str id = json_get_text(args, "shell_id");
    struct shell *k = background_find(c->state, id);

    if (!k) {
        background_unknown(c->state, id, r);
        return NULL;
    }
    if (shell_state(k) != SHELL_RUNNING)
        tool_result_addf(r, "It had already ended. ");
    TRY(shell_kill(k));
    tool_result_addf(r, "%s: ", shell_id(k));
    shell_describe(k, &r->text);
    tool_result_addf(r, "\nWhat it printed before can still be read with BashOutput.");
    shell_add_details(k, &r->arena, tool_result_details(r));
    shell_add_notes(k, r);
    shell_mark_seen(k);
    return NULL;
}

static const char description[] =
    "Ends a background command and everything it started. Its output can still be read with "
    "BashOutput.";

static const char schema[] = "{\"type\":\"object\",\"properties\":{"
                             "\"shell_id\":{\"type\":\"string\",\"minLength\":1,"
                             "\"description\":\"The id that Bash returned, such as bash_1.\"}},"
                             "\"required\":[\"shell_id\"],\"additionalProperties\":false}";

/* There is no argument for permission patterns: an id does not say what is ended. */
struct tool tool_kill_shell = {
    .name = "KillShell",
    .description = description,
    .schema = schema,
    .aliases = "bash_id=shell_id id=shell_id bashId=shell_id shellId=shell_id",
    .risk = RISK_INSPECT,
    .is_barrier = true,
    .needs = NEEDS_LAUNCHER,
    .max_chars = TOOL_CODING_MAX_CHARS,
    .run = kill_shell_run,
};
