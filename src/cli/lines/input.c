/* input.c - reads lines from standard input while prompts are answered. */
#include "cli/lines/parts.h"

#include "net/lines.h"
#include "sys/loop.h"

#include <errno.h>
#include <unistd.h>

#define READ_BYTES 65536

/* --- lines --- */

/* Reads no further while too many wait. */
static struct err *take_prompt(struct input *in, const struct json *line)
{
    struct message *m;

    TRY(input_message(line, &m));
    return live_session_submit(in->live, m, /* typed= */ (struct str){0});
}

static struct err *take_object(struct input *in, const struct json *line)
{
    struct str type = json_get_text(line, "type");

    if (str_is(type, "user"))
        return take_prompt(in, line);
    if (str_is(type, "control_request"))
        return input_control(in, line);
    if (str_is(type, "control_response"))
        input_take_answer(in, line);
    else if (type.n == 0)
        return err_new(ERR_VALIDATION, "it has no type");
    else if (!str_is(type, "keep_alive") && !str_is(type, "control_cancel_request"))
        cli_tell("standard input, line %zu: ignored, unknown type \"%" STR_FMT "\"", in->n_lines,
                 STR_ARG(type));
    return NULL; /* a request to cancel comes late: every request has been answered */
}

static struct err *take_line(struct input *in, struct str text)
{
    AUTO(arena) struct arena a = {0};
    struct json *line;
    struct err *e;

    in->n_lines++;
    if (str_trim(text).n == 0)
        return NULL;
    e = json_parse(&a, text, JSON_REPAIR_UTF8, &line);
    if (!e)
        e = take_object(in, line);
    return e ? err_wrap(e, "standard input, line %zu", in->n_lines) : NULL;
}

static struct err *take_lines(struct input *in, struct line_reader *lines)
{
    struct str line;
    bool has;

    for (;;) {
        TRY(lines_next(lines, &line, &has));
        if (!has)
            return NULL;
        TRY(take_line(in, line));
    }
}

/* --- reading --- */

static struct err *read_some(struct strbuf *buffer, bool *ret_is_end)
{
    char *at;
    ssize_t n;

    strbuf_clear(buffer);
    at = strbuf_reserve(buffer, READ_BYTES);
    do {
        TRY(task_wait_fd(STDIN_FILENO, TASK_FD_READ, NULL));
        n = read(STDIN_FILENO, at, READ_BYTES);
    } while (n < 0 && (errno == EINTR || errno == EAGAIN));
    if (n < 0)
        return err_errno(ERR_VALIDATION, errno, "cannot read standard input");
    strbuf_grew(buffer, (size_t)n);
    *ret_is_end = n == 0;
    return NULL;
}

static struct err *read_all(struct input *in, struct line_reader *lines)
{
    AUTO(strbuf) struct strbuf buffer = {0};
    bool is_end = false;
    struct str rest;

    for (;;) {
        TRY(read_some(&buffer, &is_end));
        if (is_end)
            return lines_end(lines, &rest) ? take_line(in, rest) : NULL;
        lines_feed(lines, strbuf_str(&buffer));
        TRY(take_lines(in, lines));
    }
}

void input_say(struct input *in, struct strbuf *line)
{
    strbuf_add_char(line, '\n');
    print_json_line(in->json, strbuf_str(line));
}

struct err *input_serve(struct input *in, struct live_session *live, struct print_json *json)
{
    AUTO(line_reader) struct line_reader lines;
    AUTO(err) struct err *e = NULL;

    in->live = live;
    in->json = json;
    lines_init(&lines, JSON_MAX_BYTES);
    e = read_all(in, &lines);
    TRY(live_session_finish(live));
    return TAKE(e);
}

/* --- flags --- */

bool input_is_wanted(const struct args *args)
{
    const char *format = args_get(args, "input-format");

    return format && strcmp(format, "stream-json") == 0;
}

static struct err *check_without(const struct args *args)
{
    static const char *const flags[] = {"permission-prompt-tool", "replay-user-messages"};
    const char *format = args_get(args, "input-format");

    if (format && strcmp(format, "text") != 0)
        return err_hint(err_new(ERR_VALIDATION, "--input-format: unknown format \"%s\"", format),
                        "one of: text, stream-json");
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (args_has(args, flags[i]))
            return err_hint(err_new(ERR_VALIDATION, "--%s requires stream-json input", flags[i]),
                            "add --input-format stream-json");
    return NULL;
}

static struct err *check_with(const struct args *args)
{
    const char *output = args_get(args, "output-format"),
               *asked = args_get(args, "permission-prompt-tool");

    if (!output || strcmp(output, "stream-json") != 0)
        return err_hint(
            err_new(ERR_VALIDATION, "--input-format stream-json requires stream-json output"),
            "add --output-format stream-json");
    if (args->n_operands)
        return err_new(ERR_VALIDATION,
                       "--input-format stream-json reads prompts from standard input only");
    if (asked && strcmp(asked, "stdio") != 0)
        return err_hint(
            err_new(ERR_VALIDATION, "--permission-prompt-tool: unknown tool \"%s\"", asked),
            "only stdio is supported: it asks the program that writes the lines");
    return NULL;
}

struct err *input_new(const struct args *args, struct input **ret_input)
{
    struct input *in;

    *ret_input = NULL;
    if (!input_is_wanted(args))
        return check_without(args);
    TRY(check_with(args));
    in = mem_alloc(sizeof *in);
    in->asks_host = args_has(args, "permission-prompt-tool");
    *ret_input = in;
    return NULL;
}

void input_free(struct input *in)
{
    mem_free(in);
}
