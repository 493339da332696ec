/* input.c - reads lines from standard input while prompts are answered, one after another. */
#include "cli/input_parts.h"

#include "net/lines.h"
#include "sys/loop.h"

#include <errno.h>
#include <unistd.h>

#define READ_BYTES 65536

/* What may wait for its turn. Over it nothing is read, so the host waits. One prompt always may. */
#define MAX_PROMPTS 256
#define MAX_PROMPT_BYTES JSON_MAX_BYTES

/* --- waiting --- */

static struct err *park(struct waker **slot)
{
    struct waker waker;
    struct err *e;

    waker_init(&waker);
    *slot = &waker;
    e = waker_park(&waker);
    *slot = NULL;
    return e;
}

static void wake(struct waker *waker)
{
    if (waker)
        waker_wake(waker);
}

/* --- prompts that wait --- */

static bool has_room(const struct input *in)
{
    return in->n_prompts == 0 || (in->n_prompts < MAX_PROMPTS && in->n_bytes < MAX_PROMPT_BYTES);
}

static void push(struct input *in, struct message *take_message, size_t n_bytes)
{
    struct input_prompt *p = mem_alloc(sizeof *p);

    *p = (struct input_prompt){.message = take_message, .n_bytes = n_bytes};
    if (in->last)
        in->last->next = p;
    else
        in->first = p;
    in->last = p;
    in->n_prompts++;
    in->n_bytes += n_bytes;
    wake(in->main);
}

/* The first one's message, which is the caller's; NULL: none waits. */
static struct message *pop(struct input *in)
{
    struct input_prompt *p = in->first;
    struct message *m;

    if (!p)
        return NULL;
    in->first = p->next;
    if (!in->first)
        in->last = NULL;
    in->n_prompts--;
    in->n_bytes -= p->n_bytes;
    m = p->message;
    mem_free(p);
    wake(in->reader);
    return m;
}

/* --- lines --- */

static struct err *take_prompt(struct input *in, const struct json *line, size_t n_bytes)
{
    struct message *m;

    TRY(input_message(line, &m));
    push(in, m, n_bytes);
    while (!has_room(in))
        TRY(park(&in->reader));
    return NULL;
}

static struct err *take_object(struct input *in, const struct json *line, size_t n_bytes)
{
    struct str type = json_get_text(line, "type");

    if (str_is(type, "user"))
        return take_prompt(in, line, n_bytes);
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
        e = take_object(in, line, text.n);
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

/* What is wrong with the input is told when the prompts before it are answered. */
static struct err *read_task(void *arg)
{
    struct input *in = arg;
    AUTO(line_reader) struct line_reader lines;

    lines_init(&lines, JSON_MAX_BYTES);
    in->error = read_all(in, &lines);
    in->is_closed = true;
    question_board_close(&in->board);
    wake(in->main);
    return NULL;
}

/* --- answering --- */

struct turn {
    const struct input_host *host;
    struct message *prompt;
};

static struct err *answer_task(void *arg)
{
    struct turn *t = arg;

    return t->host->answer(t->host->self, t->prompt);
}

/* A run is a task of its own, so that it can be cancelled alone. */
static struct err *answer(struct input *in, struct message *prompt)
{
    struct turn turn = {in->host, prompt};
    struct group g;
    struct err *e;

    group_begin(&g, 1, 0);
    in->run = &g;
    group_spawn(&g, "answers a prompt", answer_task, &turn);
    e = group_end(&g);
    in->run = NULL;
    return e;
}

static struct err *next_prompt(struct input *in, struct message **ret_prompt)
{
    while (!(*ret_prompt = pop(in)) && !in->is_closed)
        TRY(park(&in->main));
    return NULL;
}

static struct err *answer_all(struct input *in)
{
    AUTO(err) struct err *last = NULL;

    for (;;) {
        AUTO(message) struct message *prompt = NULL;

        TRY(next_prompt(in, &prompt));
        if (!prompt)
            return in->error ? TAKE(in->error) : TAKE(last);
        if (last && !err_is(last, ERR_CANCELLED)) /* nobody else tells it of a run in between */
            cli_tell_error(last);
        err_free(TAKE(last));
        last = answer(in, prompt);
        TRY(task_check()); /* the whole program is interrupted, not this run alone */
    }
}

void input_interrupt(struct input *in)
{
    if (in->run)
        group_cancel(in->run);
}

void input_say(struct input *in, struct strbuf *line)
{
    strbuf_add_char(line, '\n');
    print_json_line(in->host->json, strbuf_str(line));
}

struct err *input_serve(struct input *in, const struct input_host *host)
{
    struct group reader;
    struct err *e;

    in->host = host;
    in->allows_bypass |= host->agent->mode == MODE_BYPASS;
    group_begin(&reader, 0, 0);
    group_spawn(&reader, "reads standard input", read_task, in);
    e = answer_all(in);
    group_cancel(&reader);
    err_ignore(group_end(&reader), "what it had to say stands in the input");
    return e;
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
    in->allows_bypass = args_has(args, "allow-dangerously-skip-permissions") ||
                        args_has(args, "dangerously-skip-permissions");
    input_open_board(in);
    *ret_input = in;
    return NULL;
}

void input_free(struct input *in)
{
    struct message *m;

    if (!in)
        return;
    while ((m = pop(in)))
        message_unref(m);
    err_free(in->error);
    mem_free(in);
}
