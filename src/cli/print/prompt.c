/* prompt.c - the prompt of `keel -p`: from the command line, from standard input, or both. */
#include "cli/print/print.h"

#include "base/utf8.h"
#include "cli/flags/session.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

bool print_is_piped_in(void)
{
    struct stat in;

    return fstat(STDIN_FILENO, &in) == 0 &&
           (S_ISFIFO(in.st_mode) || S_ISREG(in.st_mode) || S_ISSOCK(in.st_mode));
}

/* Whoever started keel may hold a pipe open and never write to it. */
#define STDIN_WAIT_MS 3000

static bool is_silent(void)
{
    struct pollfd in = {.fd = STDIN_FILENO, .events = POLLIN};

    return poll(&in, 1, STDIN_WAIT_MS) == 0;
}

static bool is_text(struct str bytes)
{
    return str_find_char(bytes, 0) == STR_NONE && utf8_is_valid(bytes);
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
    if (!is_text(strbuf_str(&piped)))
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
