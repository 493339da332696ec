/* root.c - keel itself: a prompt, or a command; the options of a run, and what keel alone prints.
 */
#include "cli/advice.h"
#include "cli/commands.h"
#include "cli/flags/agent.h"
#include "cli/flags/session.h"
#include "cli/lines/input.h"
#include "cli/output/text.h"
#include "cli/print/print.h"
#include "sdk/session_store.h"

/* --- keel version --- */

#define VERSION_LINE "keel " KEEL_VERSION "\n"

static struct err *version_run(const struct args *args, int *ret_status)
{
    TRY(args_count(args, 0, 0, "no arguments"));
    return cli_print(S(VERSION_LINE));
}

static const struct command command_version = {
    .name = "version",
    .usage = "",
    .is_unlisted = true,
    .summary = "print the version",
    .details = "  keel version\n",
    .run = version_run,
};

/* --- keel --- */

static const struct command *const children[] = {
    &command_session,
    &command_models,
    &command_demo,
    &command_config,
    &command_permissions,
    &command_doctor,
    &command_trust,
    &command_sandbox,
    &command_completion,
    &command_inspect,
    &command_help,
    &command_version,
    NULL,
};

static struct err *root_run(const struct args *args, int *ret_status);

static const struct option root_options[] = {
    {"print", 'p', NULL, "answer one prompt on stdout and exit; a prompt alone does the same",
     .group = "Prompt and model"},
    {"model", 'm', "VENDOR/MODEL", "the model to ask; also the name of a profile",
     .words = COMPLETE_MODELS},
    {"fallback-model", 0, "VENDOR/MODEL", "ask this one if the one before fails; repeatable",
     .words = COMPLETE_MODELS},
    {"effort", 0, "LEVEL", "how much the model thinks: low, medium, high, xhigh or max",
     .words = "low medium high xhigh max"},
    {"thinking", 0, "MODE", "adaptive (the model decides) or disabled",
     .words = "adaptive disabled"},
    {"max-thinking-tokens", 0, "N", "maximum thinking tokens per answer"},
    {"system-prompt", 0, "TEXT", "replace the built-in system prompt"},
    {"append-system-prompt", 0, "TEXT", "add to the system prompt"},
    {"json-schema", 0, "JSON|FILE", "the answer must be JSON that matches this schema"},

    {"permission-mode", 0, "MODE", PERMISSION_MODES, .group = "Permissions and files",
     .words = PERMISSION_MODE_WORDS},
    {"allowed-tools", 0, "RULES", "allow without asking: \"Read,Bash(git log *)\"",
     .alias = "allowedTools", .is_item = rule_is_meant},
    {"disallowed-tools", 0, "RULES", "deny these; a bare tool name hides the tool",
     .alias = "disallowedTools", .is_item = rule_is_meant},
    {"tools", 0, "NAMES", "offer only these tools; \"\" is none, default is all",
     .is_item = rule_is_meant},
    {"dangerously-skip-permissions", 0, NULL, "the same as --permission-mode bypassPermissions"},
    {"cwd", 0, "DIR", "working directory"},
    {"add-dir", 0, "DIR", "additional directory to work in; repeatable", .is_item = rule_is_meant},

    {"continue", 'c', NULL, "continue the newest session of this directory", .group = "Sessions"},
    {"resume", 'r', "ID|NAME", "resume this session; without a prompt, finish its last turn",
     .words = COMPLETE_SESSIONS},
    {"fork-session", 0, NULL, "with -c or -r: continue in a copy with a budget of its own"},
    {"answer", 0, "[CALL=]ANSWER", "with -c or -r: answer what the session asks; repeatable"},
    {"name", 'n', "NAME", "name the session, for --resume"},
    {"session-id", 0, "UUID", "id of the new session"},
    {"store", 0, "STORE", "where to store sessions: " STORE_FORMS},
    {"no-session-persistence", 0, NULL, "do not store the session"},

    {"max-turns", 0, "N", "stop after N rounds, then ask once more without tools",
     .group = "Limits"},
    {"max-budget-usd", 0, "AMOUNT", "stop before the session costs more than AMOUNT"},
    {"max-tokens-total", 0, "N", "stop before the session uses more than N tokens"},
    {"retry-seconds", 0, "N", "wait at most N seconds per round between attempts (600)"},
    {"wait-background", 0, "SECONDS",
     "after the answer, wait this long for background commands (600), then stop them"},

    {"output-format", 0, "FORMAT", "text (the answer), json (one object) or stream-json",
     .group = "Output", .words = "text json stream-json"},
    {"include-partial-messages", 0, NULL, "with stream-json: print the answer as it streams in"},
    {"no-stream", 0, NULL, "request the answer in one piece"},
    {"verbose", 0, NULL, "print tools, retries and cost on stderr"},
    {"log-file", 0, "FILE", "append what happens to this file, as lines of JSON"},
    {"log-level", 0, "LEVEL", "with a log: error, warning, info (default) or debug",
     .words = "error warning info debug"},
    {"trace-llm", 0, NULL, "print the HTTP exchange on stderr, without keys"},

    {"settings", 0, "FILE|JSON", "more settings; they override all files", .group = "Settings"},
    {"setting-sources", 0, "LIST", "read only these settings files: user, project, local"},

    {"input-format", 0, "FORMAT", "text, or stream-json: prompts and requests as lines on stdin",
     .group = "For programs that drive keel", .words = "text stream-json"},
    {"replay-user-messages", 0, NULL, "with stream-json input: print each prompt that is accepted"},
    {"permission-prompt-tool", 0, "stdio", "with stream-json input: ask the program for permission",
     .words = "stdio"},
    {"allow-dangerously-skip-permissions", 0, NULL,
     "with stream-json input: allow a later switch to bypassPermissions"},
    {"agents", 0, "JSON", "reserved; only {} is accepted"},
    {"mcp-config", 0, "JSON", "reserved; only {} is accepted"},
    {"strict-mcp-config", 0, NULL, "reserved; no effect"},

    {"version", 'v', NULL, "print the version", .other_letter = 'V', .group = "Help"},
    {"help", 'h', NULL, "show this help"},
    {0},
};

const struct command command_root = {
    .name = "",
    .usage = "[OPTIONS] PROMPT\nCOMMAND [ARGUMENTS]",
    .summary = "an AI agent for the terminal and for scripts",
    .details = "Start:\n"
               "  export ANTHROPIC_API_KEY=...        or OPENAI_API_KEY, GEMINI_API_KEY, ...\n"
               "  keel \"why is the sky blue?\"         ask once; the answer goes to stdout\n"
               "  keel -c \"and at sunset?\"            continue that session\n"
               "  git diff | keel \"review this\"       piped text is added to the prompt\n"
               "  keel -p - < prompt.txt              a prompt from a file\n"
               "  keel -- \"-5 + 3?\"                   a prompt that begins with a dash\n"
               "  keel --permission-mode acceptEdits --allowed-tools \"Bash(make *)\" \\\n"
               "      \"make the tests pass\"           let it edit files and run make\n",
    .options = root_options,
    .children = children,
    .run = root_run,
};

/* As `git` alone does: enough to begin with, on one screen. */
static const char overview[] =
    "keel - an AI agent for the terminal and for scripts\n"
    "\n"
    "  keel \"why does the build fail?\"   ask; the answer goes to stdout\n"
    "  keel -c \"now fix it\"              continue the last session of this directory\n"
    "  keel session list                 list stored sessions\n"
    "  keel doctor                       check keys, network and sandbox\n"
    "  keel demo                         watch a small task; needs no key\n"
    "\n";

/* What is missing for a prompt, or what it would be sent to. */
static void add_model_in_use(struct strbuf *out)
{
    AUTO(project) struct project *p = NULL;
    AUTO(model_choice) struct model_choice *m = NULL;
    AUTO(err) struct err *e = project_open(NULL, &(struct project_options){0}, &p);

    if (!e)
        e = project_choose_model(p, NULL, &m);
    if (!e)
        strbuf_addf(out, "It asks %" STR_FMT "/%" STR_FMT "; keel models lists others.\n",
                    STR_ARG(m->profile.id), STR_ARG(m->profile.model));
    else if (err_is(e, ERR_CONFIGURATION))
        strbuf_add_cstr(
            out, "It needs a key: export ANTHROPIC_API_KEY=... (keel doctor names the others).\n");
    else
        strbuf_add_cstr(out, "The settings cannot be used; keel doctor says why.\n");
}

static struct err *print_overview(void)
{
    AUTO(strbuf) struct strbuf text = {0}, out = {0};

    strbuf_add_cstr(&text, overview);
    add_model_in_use(&text);
    strbuf_add_cstr(&text,
                    "All commands and options: keel --help. One command: keel help COMMAND.\n");
    text_reflow(&out, strbuf_str(&text), cli_n_columns());
    return cli_print_visible(strbuf_str(&out));
}

/* A word that users of other agents type, or one that belongs behind `keel session`. */
static struct err *familiar_command(const struct args *args)
{
    const char *word = args->operands[0], *plain = word + (word[0] == '/');
    const struct command *below = command_find(&command_session, plain);
    const char *advice = advice_word(&command_root, word);
    AUTO(strbuf) struct strbuf hint = {0};

    if (!below)
        below = command_find(&command_root, plain);
    if (below)
        strbuf_addf(&hint, "did you mean keel %s?", below->name);
    else if (advice)
        strbuf_addf(&hint, "%s.", advice);
    else
        return NULL;
    if (args->n_operands == 1)
        strbuf_addf(&hint, "\nTo send it as a prompt: keel -p \"%s\"", word);
    else
        strbuf_add_cstr(&hint, "\nPut a prompt of several words into quotes: keel \"...\"");
    return err_hint(err_new(ERR_VALIDATION, "unknown command \"%s\"", word), "%s",
                    strbuf_cstr(&hint));
}

/* A word of its own that is nearly a command is a mistake; everything else is for the model. */
static struct err *misspelt_command(const char *word)
{
    const struct command *near = strpbrk(word, " \t\n") ? NULL : command_guess(&command_root, word);

    if (!near)
        return NULL;
    return err_hint(err_new(ERR_VALIDATION, "unknown command \"%s\"", word),
                    "did you mean keel %s? To send it as a prompt: keel -p \"%s\"", near->name,
                    word);
}

static struct err *root_run(const struct args *args, int *ret_status)
{
    const char *word = args->n_operands ? args->operands[0] : NULL;

    if (args_has(args, "version"))
        return cli_print(S(VERSION_LINE));
    if (args_has(args, "print") || input_is_wanted(args))
        return print_run(args, ret_status);
    if (word && command_find(&command_root, word))
        return advice_order(args);
    if (word && !session_flags_resume(args) && !print_is_piped_in())
        TRY(familiar_command(args));
    if (word)
        TRY(misspelt_command(word));
    if (word || session_flags_resume(args) || print_is_piped_in())
        return print_run(args, ret_status);
    if (args->n_given)
        return err_hint(err_new(ERR_VALIDATION, "no prompt and no command given"),
                        "keel [OPTIONS] \"why is the sky blue?\", or see keel --help");
    return print_overview();
}
