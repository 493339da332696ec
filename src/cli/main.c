/* main.c - the keel program: finds the command, runs it, tells what went wrong. */
#include "cli/command.h"

#include "cli/agent_flags.h"
#include "cli/commands.h"
#include "cli/input.h"
#include "cli/print.h"
#include "cli/run.h"

#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

static const struct command *const children[] = {
    &command_demo,
    &command_session,
    &command_models,
    &command_config,
    &command_permissions,
    &command_doctor,
    &command_trust,
    &command_sandbox,
    &command_completion,
    &command_inspect,
    NULL,
};

static struct err *run_root(const struct args *args, int *ret_status);

static const struct option root_options[] = {
    {"print", 'p', NULL, "answer one prompt on standard output and exit"},
    {"output-format", 0, "FORMAT", "text (the answer), json (one object) or stream-json"},
    {"input-format", 0, "FORMAT", "text, or stream-json: prompts and requests as lines on stdin"},
    {"replay-user-messages", 0, NULL, "with stream-json input: print each prompt that is taken"},
    {"permission-prompt-tool", 0, "stdio", "with stream-json input: ask there what may be done"},
    {"include-partial-messages", 0, NULL, "with stream-json: the answer as it streams in"},
    {"json-schema", 0, "JSON|FILE", "the answer must be JSON that fits this schema"},
    {"model", 0, "VENDOR/MODEL", "the model to ask; a profile's name works too"},
    {"fallback-model", 0, "VENDOR/MODEL", "asked when the one before fails; may be repeated"},
    {"effort", 0, "LEVEL", "how much the model thinks: low, medium, high, xhigh or max"},
    {"thinking", 0, "MODE", "adaptive (as it sees fit) or disabled"},
    {"max-thinking-tokens", 0, "N", "at most so many tokens of thoughts for an answer"},
    {"max-turns", 0, "N", "at most so many requests with tools; then a last one without"},
    {"retry-seconds", 0, "N", "how long to wait in all before failed requests of a round (600)"},
    {"wait-background", 0, "SECONDS",
     "wait so long for background commands after the answer (600), then stop them"},
    {"max-budget-usd", 0, "AMOUNT", "no request that may cost the session more than so much"},
    {"max-tokens-total", 0, "N", "no request that may take the session more tokens than so many"},
    {"system-prompt", 0, "TEXT", "instead of keel's own"},
    {"append-system-prompt", 0, "TEXT", "after the system prompt"},
    {"permission-mode", 0, "MODE", "plan, default, acceptEdits or bypassPermissions"},
    {"dangerously-skip-permissions", 0, NULL, "the same as --permission-mode bypassPermissions"},
    {"allow-dangerously-skip-permissions", 0, NULL,
     "with stream-json input: that mode may be switched to later"},
    {"tools", 0, "NAMES", "only these tools; \"\" is none, default is all",
     .is_item = rule_is_meant},
    {"allowed-tools", 0, "RULES", "allowed without asking: \"Read,Bash(git log *)\"",
     .alias = "allowedTools", .is_item = rule_is_meant},
    {"disallowed-tools", 0, "RULES", "never allowed; a tool's name alone takes it away",
     .alias = "disallowedTools", .is_item = rule_is_meant},
    {"cwd", 0, "DIR", "work there"},
    {"add-dir", 0, "DIR", "a further directory to work in; may be repeated",
     .is_item = rule_is_meant},
    {"continue", 'c', NULL, "go on with the newest session of this directory"},
    {"resume", 'r', "ID|NAME", "go on with this session; without a prompt, finish its last turn"},
    {"fork-session", 0, NULL, "with -c or -r: go on in a copy; its budget begins anew"},
    {"answer", 0, "[CALL=]ANSWER",
     "with -c or -r: answers what the session waits for; may be repeated"},
    {"session-id", 0, "UUID", "the id of the new session"},
    {"name", 'n', "NAME", "the name of the session, for --resume"},
    {"store", 0, "STORE", "where sessions are kept: sqlite:FILE, files:DIR, postgres://..."},
    {"no-session-persistence", 0, NULL, "keep nothing of the session"},
    {"setting-sources", 0, "LIST", "only these settings files: user, project, local"},
    {"settings", 0, "FILE|JSON", "further settings, above all files"},
    {"agents", 0, "JSON", "only {}: there are none yet"},
    {"mcp-config", 0, "JSON", "only {}: there are no servers yet"},
    {"strict-mcp-config", 0, NULL, "only the servers of --mcp-config"},
    {"no-stream", 0, NULL, "ask for the answer in one piece"},
    {"verbose", 0, NULL, "say on stderr what happens: tools, retries, cost"},
    {"trace-llm", 0, NULL, "show the exchange on stderr, without keys"},
    {"version", 'v', NULL, "print the version"},
    {"help", 'h', NULL, "print this"},
    {0},
};

const struct command command_root = {
    .name = "",
    .usage = "-p [OPTIONS] PROMPT\nCOMMAND [ARGUMENTS]",
    .summary = "an AI agent for the terminal, for scripts and for servers",
    .details = "Start:\n"
               "  export ANTHROPIC_API_KEY=...        or OPENAI_API_KEY, GEMINI_API_KEY, ...\n"
               "  keel -p \"why is the sky blue?\"      ask once, the answer goes to stdout\n"
               "  git diff | keel -p \"review this\"    what is piped in goes with the prompt\n"
               "  keel -p --permission-mode acceptEdits --allowed-tools \"Bash(make *)\" \\\n"
               "      \"make the tests pass\"           let it edit files and run make\n"
               "  keel demo                           see it without a key\n"
               "  keel doctor                         what works on this machine\n",
    .options = root_options,
    .children = children,
    .run = run_root,
};

static struct err *print_help(const struct command *c)
{
    AUTO(strbuf) struct strbuf text = {0};

    command_help(c, &text);
    return cli_print(strbuf_str(&text));
}

static struct err *unknown_command(const struct command *parent, const char *word)
{
    const char *space = parent->name[0] ? " " : "";
    const struct command *near = command_guess(parent, word);
    struct err *e =
        err_new(ERR_VALIDATION, "there is no command \"%s%s%s\"", parent->name, space, word);

    if (near)
        return err_hint(e, "did you mean keel %s?", near->name);
    if (parent != &command_root)
        return err_hint(e, "see keel %s --help", parent->name);
    return err_hint(e, "all commands: keel --help; to ask a question: keel -p \"...\"");
}

static struct err *run_root(const struct args *args, int *ret_status)
{
    const char *word = args->n_operands ? args->operands[0] : NULL;

    if (args_has(args, "version"))
        return cli_print(S("keel " KEEL_VERSION "\n"));
    if (args_has(args, "print") || input_is_wanted(args))
        return print_run(args, ret_status);
    if (word && command_find(&command_root, word))
        return err_hint(err_new(ERR_VALIDATION, "options stand after the command"),
                        "say keel %s ..., see keel %s --help", word, word);
    if (word)
        return unknown_command(&command_root, word);
    if (args->n_given)
        return err_hint(err_new(ERR_VALIDATION, "there is nothing to do"),
                        "to ask a question: keel -p \"...\"");
    return print_help(&command_root);
}

/* --help is answered wherever it stands, also beside options that would need a value; but not for
 * a command that keel is to run. */
static bool asks_for_help(const struct command *c, int argc, char **argv)
{
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
            return true;
        else if (c->takes_command && argv[i][0] != '-')
            return false;
    return false;
}

static struct err *missing_child(const struct command *c)
{
    AUTO(strbuf) struct strbuf names = {0};

    for (const struct command *const *child = c->children; *child; child++)
        strbuf_addf(&names, "%s%s", names.n ? ", " : "", command_word(*child));
    return err_hint(
        err_new(ERR_VALIDATION, "keel %s needs to know what: %s", c->name, strbuf_cstr(&names)),
        "see keel %s --help", c->name);
}

static struct err *dispatch(int argc, char **argv, int *ret_status)
{
    static const struct option none[] = {{0}};
    const struct command *c = &command_root, *next;
    AUTO(args) struct args args = {0};
    int at = 1;

    while (at < argc && (next = command_find(c, argv[at]))) {
        c = next;
        at++;
    }
    if (asks_for_help(c, argc - at, argv + at))
        return print_help(c);
    if (!c->run)
        return at < argc && argv[at][0] != '-' ? unknown_command(c, argv[at]) : missing_child(c);
    TRY((c->takes_command ? args_parse_command : args_parse)(
        &args, c->name, c->options ? c->options : none, argc - at, argv + at));
    return c->run(&args, ret_status);
}

/* A core of keel holds credentials, and would lie in the workspace, where the next command may read
 * it. Programs that keel starts are dumped as ever: exec() resets this. */
static void forbid_core(void)
{
    const char *wanted = getenv("KEEL_CORE");

    if (!wanted || strcmp(wanted, "1") != 0)
        prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

/* While libraries are loaded beside, whoever needs more memory from the kernel waits for them, and
 * what goes back to it is cleared before it comes again. So the heap grows in large steps, and only
 * what is large stands outside; what is not used of it is not there. */
static void widen_heap(void)
{
#ifdef M_TOP_PAD
    mallopt(M_TOP_PAD, 1 << 20);
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

/* All that has to be stored or told is. The kernel takes back the rest at once; else thirty
 * libraries tidy up one by one, and idle threads are waited for. Checkers of memory look in exit().
 */
static _Noreturn void leave(int status)
{
#ifdef KEEL_LEAVES_AT_ONCE
    fflush(NULL);
    _exit(status);
#else
    exit(status);
#endif
}

int main(int argc, char **argv)
{
    int status = 0;
    struct err *e;

    widen_heap();
    forbid_core();
    cli_hold_std_fds();
    signal(SIGPIPE, SIG_IGN); /* the program's right, not the library's: a closed pipe is EPIPE */
    e = dispatch(argc, argv, &status);
    if (e) {
        cli_tell_error(e);
        status = err_exit_code(e);
        err_free(e);
    }
    leave(cli_run_status(status));
}
