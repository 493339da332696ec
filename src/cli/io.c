/* io.c - files in, standard output out, words for a person on standard error. */
#include "cli/io.h"

#include "base/utf8.h"
#include "base/visible.h"
#include "cli/interrupt.h"
#include "cli/output/outbox.h"
#include "cli/output/text.h"
#include "sys/fs.h"
#include "sys/locked_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define READ_STEP 65536

/* Each in the wrong direction: using a missing one is still an error. */
void cli_hold_std_fds(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0)
            (void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

struct err *cli_read_file(const char *path, struct strbuf *out)
{
    bool is_stdin = strcmp(path, "-") == 0;
    const char *name = is_stdin ? "standard input" : path;
    int fd = is_stdin ? STDIN_FILENO : locked_file_openat(AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    struct err *e = NULL;
    ssize_t n = 0;

    if (fd < 0)
        return err_errno(ERR_VALIDATION, errno, "cannot read %s", name);
    if (!out->max_bytes)
        out->max_bytes = FS_READ_MAX_BYTES;
    do {
        char *at = strbuf_reserve(out, READ_STEP);

        e = at ? NULL : strbuf_check(out, name);
        n = e ? 0 : read(fd, at, READ_STEP);
        if (n > 0)
            strbuf_grew(out, (size_t)n);
    } while (n > 0 || (n < 0 && errno == EINTR));
    if (n < 0 && !e)
        e = err_errno(ERR_VALIDATION, errno, "cannot read %s", name);
    if (!is_stdin)
        close(fd);
    return e;
}

bool cli_is_text(struct str bytes)
{
    return str_find_char(bytes, 0) == STR_NONE && utf8_is_valid(bytes);
}

/* --- out --- */

struct err *cli_print_raw(struct str text)
{
    return outbox_keep(STDOUT_FILENO, text) ? NULL : outbox_write(STDOUT_FILENO, text);
}

struct err *cli_print(struct str text)
{
    AUTO(strbuf) struct strbuf visible = {0};

    return cli_print_raw(visible_add_rest(&visible, text) ? strbuf_str(&visible) : text);
}

void cli_add_visible(struct strbuf *out, struct str text)
{
    visible_add(out, text);
}

struct err *cli_print_visible(struct str text)
{
    AUTO(strbuf) struct strbuf visible = {0};

    cli_add_visible(&visible, text);
    return cli_print_raw(strbuf_str(&visible));
}

void cli_print_error(struct str text)
{
    AUTO(strbuf) struct strbuf visible = {0};

    if (visible_add_rest(&visible, text))
        text = strbuf_str(&visible);
    if (!outbox_keep(STDERR_FILENO, text))
        err_ignore(outbox_write(STDERR_FILENO, text), "stderr is the place to report it");
}

static void print_prefixed(const char *first, const char *further, struct str text)
{
    AUTO(strbuf) struct strbuf visible = {0}, out = {0};
    struct str rest, line;

    cli_add_visible(&visible, text);
    rest = strbuf_str(&visible);
    for (const char *before = first; str_split(&rest, '\n', &line); before = further) {
        strbuf_add_cstr(&out, before);
        strbuf_add(&out, line);
        strbuf_add_char(&out, '\n');
    }
    cli_print_error(strbuf_str(&out));
}

void cli_tell(const char *format, ...)
{
    AUTO(strbuf) struct strbuf text = {0};
    va_list args;

    va_start(args, format);
    strbuf_vaddf(&text, format, args);
    va_end(args);
    print_prefixed("keel: ", "      ", strbuf_str(&text));
}

/* "try again later, or ..." if the provider has sent a time: the two are one. */
static void add_hint(struct strbuf *out, const char *hint, int64_t retry_after_ms)
{
    static const char again[] = "try again ", later[] = "later";
    const char *at = hint ? strstr(hint, "try again later") : NULL;

    if (retry_after_ms < 0) {
        strbuf_addf(out, "%s%s", hint ? "\n" : "", hint ? hint : "");
        return;
    }
    if (hint)
        strbuf_addf(out, "\n%.*s", (int)(at ? at - hint : (ptrdiff_t)strlen(hint)), hint);
    strbuf_addf(out, "%s%sin ", at ? "" : "\n", again);
    text_add_duration(out, retry_after_ms);
    if (at)
        strbuf_add_cstr(out, at + strlen(again) + strlen(later));
}

void cli_tell_error(const struct err *e)
{
    AUTO_FREE char *message = err_message(e);
    AUTO(strbuf) struct strbuf more = {0};

    add_hint(&more, err_find_hint(e), e->retry_after_ms);
    cli_tell("%s%s", message, strbuf_cstr(&more));
}

void cli_tell_bytes(char kind, struct str bytes)
{
    char before[] = {kind, ' ', 0};

    if (str_ends(bytes, S("\n")))
        bytes.n--;
    print_prefixed(before, before, bytes);
}

/* --- the terminal --- */

struct err *cli_confirm(const char *question, const char *otherwise, bool *ret_yes)
{
    AUTO(strbuf) struct strbuf text = {0};
    char answer[16] = "";
    ssize_t n;

    if (isatty(STDIN_FILENO) != 1)
        return err_hint(err_new(ERR_VALIDATION, "not a terminal: cannot ask"), "%s", otherwise);
    cli_add_visible(&text, str_of(question));
    strbuf_add_cstr(&text, " [y/N] ");
    cli_print_error(strbuf_str(&text));
    if (!cli_wait_ready(STDIN_FILENO, POLLIN)) {
        cli_print_error(S("\n"));
        return err_new(ERR_CANCELLED, "interrupted");
    }
    n = read(STDIN_FILENO, answer, sizeof answer - 1);
    *ret_yes = n > 0 && (answer[0] == 'y' || answer[0] == 'Y');
    if (n <= 0) /* the end of input, which does not end the line */
        cli_print_error(S("\n"));
    if (!*ret_yes)
        cli_tell("nothing was changed");
    return NULL;
}

bool cli_has_colour(int fd)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");

    return isatty(fd) && !(no_color && *no_color) && term && strcmp(term, "dumb") != 0;
}

void cli_add_tinted(struct strbuf *out, enum tint tint, struct str text)
{
    static const char *const codes[] = {"\033[2m", "\033[1m", "\033[31m", "\033[32m", "\033[33m"};
    bool in_colour = cli_has_colour(STDOUT_FILENO);

    strbuf_add_cstr(out, in_colour ? codes[tint] : "");
    cli_add_visible(out, text);
    strbuf_add_cstr(out, in_colour ? "\033[0m" : "");
}

size_t cli_n_columns(void)
{
    struct winsize size;

    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}
