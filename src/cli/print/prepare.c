/* prepare.c - before the run of `keel -p`: its flags, its prompt, what the person should know. */
#include "cli/print/parts.h"

#include "cli/flags/agent.h"
#include "cli/flags/session.h"
#include "sdk/once.h"
#include "sys/env.h"
#include "sys/proc.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    DEFAULT_WAIT_SECONDS = 600, /* also in the help of --wait-background */
};

/* --- flags --- */

struct err *print_read_format(const struct args *args, enum print_format *ret_format)
{
    static const char *const names[] = {"text", "json", "stream-json"};
    const char *given = args_get(args, "output-format");

    *ret_format = FORMAT_TEXT;
    if (!given)
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(given, names[i]) == 0) {
            *ret_format = (enum print_format)i;
            return NULL;
        }
    return err_hint(err_new(ERR_VALIDATION, "--output-format: unknown format \"%s\"", given),
                    "one of: text, json, stream-json");
}

static struct err *parse_schema(struct print *p, struct str text)
{
    AUTO(schema) struct schema *checked = NULL;

    TRY(json_parse(&p->arena, text, 0, &p->schema));
    return schema_compile(p->schema, NULL, &checked);
}

/* JSON text, or the name of a file with it. */
static struct err *read_schema(struct print *p)
{
    const char *given = args_get(p->args, "json-schema");
    AUTO(strbuf) struct strbuf file = {0};
    struct err *e = NULL;

    if (!given)
        return NULL;
    if (str_starts(str_trim(str_of(given)), S("{"))) {
        e = parse_schema(p, str_of(given));
    } else {
        e = cli_read_file(given, &file);
        if (!e)
            e = parse_schema(p, arena_str(&p->arena, strbuf_str(&file)));
    }
    if (e)
        e->kind = ERR_VALIDATION;
    return e ? err_wrap(e, "--json-schema") : NULL;
}

/* A program that speaks in lines sends further prompts meanwhile: keel waits only if it says so.
 */
struct err *print_read_wait(struct print *p)
{
    int64_t seconds =
        settings_int(p->project->settings, "background.waitSeconds", DEFAULT_WAIT_SECONDS);

    if (p->input)
        seconds = 0;
    TRY(args_int(p->args, "wait-background", 0, AGENT_MAX_WAIT_SECONDS, seconds, &seconds));
    p->options.agent.wait_background_ms = (uint64_t)seconds * 1000;
    p->options.agent.stops_background = !p->input;
    return NULL;
}

struct err *print_read_flags(struct print *p)
{
    const struct args *args = p->args;
    int64_t retry_seconds;

    TRY(input_new(args, &p->input));
    if (args->n_operands > 1)
        return err_hint(
            err_new(ERR_VALIDATION, "%zu prompts given, one is allowed", args->n_operands),
            "put it into quotes: keel \"why is the sky blue?\"");
    p->include_partial = args_has(args, "include-partial-messages");
    if (p->include_partial && p->format != FORMAT_STREAM_JSON)
        return err_hint(
            err_new(ERR_VALIDATION, "--include-partial-messages requires stream-json output"),
            "add --output-format stream-json");
    TRY(args_int(args, "max-turns", 0, UINT32_MAX, -1, &p->max_rounds));
    p->text.rounds_set_by = p->max_rounds >= 0 ? "--max-turns" : "the setting maxTurns";
    TRY(args_int(args, "retry-seconds", 1, RETRY_MAX_SECONDS, 0, &retry_seconds));
    TRY(read_schema(p));
    TRY(agent_flags_read(args, &p->arena, &p->options.agent));
    p->options.questions = input_questions(p->input);
    p->options.allows_bypass = args_has(args, "allow-dangerously-skip-permissions") ||
                               args_has(args, "dangerously-skip-permissions");
    p->options.agent.subscriber = &p->subscriber;
    p->options.agent.retry_max_ms = (uint64_t)retry_seconds * 1000;
    return NULL;
}

/* --- the prompt --- */

bool print_is_piped_in(void)
{
    struct stat in;

    return fstat(STDIN_FILENO, &in) == 0 &&
           (S_ISFIFO(in.st_mode) || S_ISREG(in.st_mode) || S_ISSOCK(in.st_mode));
}

/* The program that started keel may hold a pipe open and never write to it. */
#define STDIN_WAIT_MS 3000

static bool is_silent(void)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};

    return poll(&in, 1, STDIN_WAIT_MS) == 0;
}

/* No model reads as much: a file is searched. */
static struct err *read_piped(struct strbuf *piped)
{
    struct err *e = cli_read_file("-", piped);

    if (!e || err_find_hint(e) || !strbuf_is_over(piped))
        return e;
    return err_hint(e, "pipe in less, for example with tail; or save it as a file, and name the "
                       "file in the prompt");
}

struct err *print_read_prompt(const struct args *args, struct message **ret_message)
{
    AUTO(message) struct message *m = message_new(ROLE_USER, S(""));
    AUTO(strbuf) struct strbuf piped = {0};
    bool is_dash = args->n_operands && strcmp(args->operands[0], "-") == 0;
    struct str prompt = str_of(args->n_operands && !is_dash ? args->operands[0] : "");
    bool is_needed = is_dash || (!str_trim(prompt).n && !session_flags_resume(args));

    *ret_message = NULL;
    if (print_is_piped_in() && !is_needed && is_silent())
        cli_tell("standard input is silent; continuing without it");
    else if (is_dash || print_is_piped_in())
        TRY(read_piped(&piped));
    if (str_trim(prompt).n)
        message_add_text(m, prompt);
    if (str_trim(strbuf_str(&piped)).n)
        message_add_text(m, strbuf_str(&piped));
    if (!cli_is_text(strbuf_str(&piped)))
        cli_tell(
            "standard input is not text: %zu bytes are sent, with U+FFFD for what is not UTF-8",
            piped.n);
    if (m->n_parts == 0 && session_flags_resume(args))
        return NULL;
    if (m->n_parts == 0)
        return err_hint(
            err_new(ERR_VALIDATION, args->n_operands ? "the prompt is empty" : "no prompt given"),
            "keel -p \"why is the sky blue?\", or pipe it in");
    *ret_message = TAKE(m);
    return NULL;
}

/* --- notices --- */

/* Without a home there is no place for sessions; where one was chosen, or none is wanted, that is
 * no loss. */
static bool lacks_home(const struct args *args, const struct project *p)
{
    return !args_has(args, "no-session-persistence") && !args_has(args, "store") &&
           !env_find(host_environment(p->host), "KEEL_STORE") && !p->place.keel_home;
}

/* Again only when the file has changed. */
static void note_foreign(const struct project *p, enum layer l)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf all = {0};
    struct str file, note = settings_foreign_note(p->settings, l, &a);

    if (note.n == 0)
        return;
    strbuf_add(&all, note);
    json_write(&all, settings_layer(p->settings, l, &file));
    if (once_begin(str_of(p->place.keel_home), strbuf_str(&all)))
        cli_tell("%" STR_FMT "\nkeel says this once; keel config show --origin prints the "
                 "settings in force",
                 STR_ARG(note));
}

void print_settings_notices(const struct project *p)
{
    agent_flags_print_warnings(p->settings);
    for (int l = 0; l < N_LAYERS; l++)
        note_foreign(p, (enum layer)l);
}

void print_missing_notices(const struct args *args, const struct project *p, bool is_kept)
{
    char path[4096];
    AUTO(err) struct err *e = proc_find_supervisor(path);

    if (!is_kept && lacks_home(args, p))
        cli_tell("this session is not stored: HOME and KEEL_HOME are not set to a directory\n"
                 "set one of them, or choose a place with --store");
    if (e)
        cli_tell("commands cannot run: %s\n%s", e->text, e->hint ? e->hint : "");
}
