/* advice.c - tables of words and options of other agents, and what they are called here. */
#include "cli/advice.h"

#include "base/alike.h"
#include "cli/commands.h"

/* Names, with blanks around each, and what to do instead. */
struct advice {
    const char *names;
    const char *text;
};

static const char *find(const struct advice *table, struct str name)
{
    AUTO(strbuf) struct strbuf key = {0};

    if (!name.n || str_find_char(name, ' ') != STR_NONE)
        return NULL;
    strbuf_addf(&key, " %" STR_FMT " ", STR_ARG(name));
    for (; table->names; table++)
        if (str_find(str_of(table->names), strbuf_str(&key)) != STR_NONE)
            return table->text;
    return NULL;
}

/* --- words --- */

static const struct advice words[] = {
    {" login auth signin ",
     "keel needs no login: export ANTHROPIC_API_KEY=... (keel doctor names the other variables)"},
    {" logout signout ", "keel stores no key: unset the variable that keel doctor names"},
    {" mcp ", "keel has no MCP servers yet"},
    {" agents agent subagents ", "keel has no subagents yet"},
    {" plugin plugins skills skill extensions extension ", "keel has no plugins and no skills yet"},
    {" serve server web acp app-server ",
     "keel has no server; programs drive it with --input-format stream-json (docs/print.md)"},
    {" chat repl tui interactive ",
     "keel has no interactive mode yet: keel \"PROMPT\" asks, keel -c \"PROMPT\" continues"},
    {" exec run ask ", "keel \"PROMPT\" runs a prompt"},
    {" resume ",
     "keel -r ID resumes a session, keel -c the newest one; keel session list prints the ids"},
    {" continue ", "keel -c continues the newest session of this directory"},
    {" history ls ", "keel session list prints the sessions"},
    {" undo revert ", "keel session rewind undoes the last turn, files included"},
    {" cost usage stats ", "keel session show prints what a session has used"},
    {" status ", "keel doctor checks this machine, keel session show prints the last session"},
    {" clear new ", "keel \"PROMPT\" begins a new session each time"},
    {" init ", "no setup is needed; keel \"write an AGENTS.md for this project\" makes that file"},
    {" setup configure onboard ",
     "keel doctor says what is missing; settings are in ~/.keel/settings.json (keel config keys)"},
    {" settings ", "keel config show prints the settings; to change one, edit "
                   "~/.keel/settings.json"},
    {" install uninstall ", "./run.sh --install in keel's source puts keel on your PATH, "
                            "./run.sh --uninstall removes it"},
    {" update upgrade ", "keel does not update itself: update its source, then ./run.sh --install"},
    {" model ", "--model VENDOR/MODEL chooses a model; keel models lists them"},
    {" tools ", "--tools and --allowed-tools choose tools; keel permissions list prints the rules"},
    {" hooks ", "hooks are settings; keel config show --origin prints them"},
    {" plan ", "keel --permission-mode plan \"PROMPT\" plans and changes nothing"},
    {" review ", "git diff | keel \"review this change\""},
    {" apply ", "keel changes files itself, with --permission-mode acceptEdits"},
    {0},
};

static const struct advice session_words[] = {
    {" ls ", "did you mean keel session list?"},
    {" rm remove del ", "did you mean keel session delete?"},
    {" resume ", "keel -r ID resumes a session, keel -c the newest one of this directory"},
    {" continue ", "keel -c continues the newest session of this directory"},
    {" new start ", "keel \"PROMPT\" begins a session"},
    {" undo revert ", "did you mean keel session rewind?"},
    {" cat view log info ", "did you mean keel session show?"},
    {" find grep ", "did you mean keel session search?"},
    {" mv name title ", "did you mean keel session rename?"},
    {" cp copy clone branch ", "did you mean keel session fork?"},
    {" summarize ", "did you mean keel session compact?"},
    {" share ", "keel session export --format html writes a page"},
    {0},
};

/* Letters that were typed in another order. */
static bool has_same_letters(struct str a, struct str b)
{
    int n[256] = {0};

    for (size_t i = 0; i < a.n; i++)
        n[(unsigned char)a.p[i]]++;
    for (size_t i = 0; i < b.n; i++)
        n[(unsigned char)b.p[i]]--;
    for (size_t i = 0; i < ARRAY_LEN(n); i++)
        if (n[i])
            return false;
    return true;
}

bool advice_is_misspelt(struct str word, struct str known)
{
    size_t distance = text_distance(word, known);

    return distance <= TEXT_ALIKE && (has_same_letters(word, known) || distance * 3 <= word.n);
}

const char *advice_word(const struct command *parent, const char *word)
{
    struct str name = str_of(word);

    if (parent == &command_session)
        return find(session_words, name);
    if (parent != &command_root)
        return NULL;
    return find(words, str_starts(name, S("/")) ? str_skip(name, 1) : name);
}

/* --- options --- */

static const struct advice root_options[] = {
    {" -m --provider ", "use --model VENDOR/MODEL"},
    {" --mode --approval-mode --ask-for-approval ", "use --permission-mode MODE"},
    {" --plan ", "use --permission-mode plan"},
    {" --full-auto --auto-edit ",
     "use --permission-mode acceptEdits, and --allowed-tools \"Bash(make "
     "*)\" for commands"},
    {" --yolo --dangerously-bypass-approvals-and-sandbox ",
     "use --dangerously-skip-permissions; commands still run in the sandbox"},
    {" --sandbox --no-sandbox -s ",
     "the sandbox is a setting: \"sandbox\": {\"enabled\": false} (keel config keys)"},
    {" --session --session-name ", "use --resume ID, or --session-id UUID for a new session"},
    {" --last ", "use --continue"},
    {" -C --cd --dir --directory --workdir ", "use --cwd DIR"},
    {" --json ", "use --output-format json"},
    {" --quiet -q --non-interactive --headless --no-interactive ",
     "use -p; standard output holds only the answer"},
    {" --debug -d ", "use --verbose, or --trace-llm for the exchange with the provider"},
    {" --image -i --file --attach ", "name the file in the prompt: keel \"describe ./a.png\""},
    {" --profile ", "use --model NAME, which may be the name of a profile"},
    {" --max-tokens --max-output-tokens ",
     "use --max-tokens-total N for a session, or maxOutput in a profile for one answer"},
    {" --system-prompt-file --system ", "use --system-prompt \"$(cat FILE)\""},
    {" --append-system-prompt-file ", "use --append-system-prompt \"$(cat FILE)\""},
    {" --prompt ", "use -p: keel -p \"PROMPT\""},
    {" --output --output-last-message -o ",
     "the answer goes to standard output: keel -p \"PROMPT\" > FILE"},
    {" --oss --local ", "use --model ollama/NAME, or a profile with a baseUrl"},
    {" --search --web-search ", "use --allowed-tools WebSearch"},
    {" --config --set ", "use --settings JSON"},
    {" --api-key --key --token ",
     "keys come from the environment: export ANTHROPIC_API_KEY=... (keel doctor)"},
    {" --bare --safe-mode ", "--setting-sources \"\" reads no settings file"},
    {" --share ", "keel session export --format html writes a page"},
    {" --agent --subagent ", "keel has no subagents yet"},
    {0},
};

static const struct option *find_option(const struct command *c, struct str name)
{
    for (const struct option *o = c->options; o && o->name; o++)
        if (str_is(name, o->name) || (o->alias && str_is(name, o->alias)))
            return o;
    return NULL;
}

static const struct command *find_command(const struct command *c, const char *name)
{
    const struct command *found = strcmp(c->name, name) == 0 ? c : NULL;

    for (const struct command *const *child = c->children; !found && child && *child; child++)
        found = find_command(*child, name);
    return found;
}

/* The nearest one; else the only one that begins so. */
static const struct option *guess(const struct option *options, struct str name)
{
    const struct option *best = NULL, *begins = NULL;
    size_t least = SIZE_MAX, n_begin = 0;

    for (const struct option *o = options; o->name; o++) {
        size_t d = text_distance(name, str_of(o->name));

        if (d < least && advice_is_misspelt(name, str_of(o->name))) {
            least = d;
            best = o;
        }
        if (name.n > 2 && str_starts(str_of(o->name), name)) {
            n_begin++;
            begins = o;
        }
    }
    return best ? best : n_begin == 1 ? begins : NULL;
}

#define MAX_OWNERS 3

/* ", keel doctor, keel models": who has the option. */
static void add_owners(struct strbuf *out, const struct command *c, struct str name, size_t *n)
{
    if (*n < MAX_OWNERS && find_option(c, name))
        strbuf_addf(out, "%skeel %s", (*n)++ ? ", " : "", c->name[0] ? c->name : "\"PROMPT\"");
    for (const struct command *const *child = c->children; child && *child; child++)
        add_owners(out, *child, name, n);
}

static bool is_working_directory(const struct command *c, struct str given)
{
    return c != &command_root && (str_is(given, "--cwd") || str_is(given, "-C"));
}

/* `given` has its dashes; one that a person would take for a prompt has a blank or a number. */
static bool looks_like_prompt(struct str given)
{
    return str_find_char(given, ' ') != STR_NONE || str_find_char(given, '\n') != STR_NONE ||
           (given.n > 1 && given.p[1] >= '0' && given.p[1] <= '9');
}

struct err *advice_option(const struct args *a, struct str given)
{
    const struct command *c = find_command(&command_root, a->command);
    bool is_root = c == &command_root;
    struct err *e =
        is_root ? err_new(ERR_VALIDATION, "unknown option %" STR_FMT, STR_ARG(given))
                : err_new(ERR_VALIDATION, "%s has no option %" STR_FMT, a->command, STR_ARG(given));
    const char *known = is_root ? find(root_options, given) : NULL;
    AUTO(strbuf) struct strbuf owners = {0};
    const struct option *near;
    struct str name = given;
    size_t n_owners = 0;

    while (str_starts(name, S("-")))
        name = str_skip(name, 1);
    if (known)
        return err_hint(e, "%s", known);
    if (is_root && looks_like_prompt(given))
        return err_hint(e, "put a prompt that begins with a dash after --: keel -p -- \"...\"");
    if (is_working_directory(c, given))
        return err_hint(e, "change to that directory first");
    near = name.n > 1 ? guess(a->options, name) : NULL;
    if (near)
        return err_hint(e, "did you mean --%s?", near->name);
    add_owners(&owners, &command_root, name, &n_owners);
    if (n_owners)
        return err_hint(e, "it is an option of %s", strbuf_cstr(&owners));
    if (strcmp(a->command, "permissions test") == 0 && a->n_operands > 1)
        return err_hint(e, "put the command into quotes: keel permissions test Bash 'ls -la'");
    return err_hint(e, "see keel %s%s--help", a->command, is_root ? "" : " ");
}

/* --- options before a command --- */

struct err *advice_order(const struct args *a)
{
    const struct command *c = &command_root, *next;
    AUTO(strbuf) struct strbuf line = {0};
    size_t n = 0;

    while (n < a->n_operands && (next = command_find(c, a->operands[n]))) {
        c = next;
        n++;
    }
    for (size_t i = 0; i < a->n_given && c->run; i++) {
        const struct option *o = a->given[i].option;

        if (!find_option(c, str_of(o->name))) {
            AUTO(strbuf) struct strbuf given = {0};
            static const struct option none[] = {{0}};
            struct args of_command = {.command = c->name,
                                      .options = c->options ? c->options : none};

            strbuf_addf(&given, "--%s", o->name);
            return advice_option(&of_command, strbuf_str(&given));
        }
        strbuf_addf(&line, " --%s%s%s", o->name, o->value_name ? " " : "",
                    o->value_name ? o->value_name : "");
    }
    return err_hint(err_new(ERR_VALIDATION, "put options after the command"),
                    "keel %s%s; see keel help %s", c->name, c->run ? strbuf_cstr(&line) : " ...",
                    c->name);
}
