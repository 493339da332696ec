/* response_head.c - a head line by line, but for what it says of the connection. */
#include "sandbox/proxy/response_head.h"

#define VERSION S("HTTP/1.")

bool proxy_answer_begins(struct str bytes)
{
    size_t n = MIN(bytes.n, VERSION.n), line_end = str_find_char(bytes, '\n');

    if (!str_eq(str_slice(bytes, 0, n), str_slice(VERSION, 0, n)))
        return false;
    return line_end == STR_NONE || bytes.p[line_end - 1] == '\r';
}

static bool is_about_connection(struct str line)
{
    static const char *const names[] = {"connection", "keep-alive", "proxy-connection"};
    struct str name = str_trim(str_slice(line, 0, str_find_char(line, ':')));

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_eq_nocase(name, str_of(names[i])))
            return true;
    return false;
}

/* "HTTP/1.1 100 Continue" */
static bool is_interim(struct str status_line)
{
    size_t space = str_find_char(status_line, ' ');

    return space != STR_NONE && str_starts(str_skip(status_line, space), S(" 1"));
}

bool proxy_answer_write(struct strbuf *out, struct str head)
{
    bool is_last = !is_interim(str_slice(head, 0, str_find(head, S("\r\n"))));
    struct str rest = head;

    while (rest.n) {
        size_t n = str_find(rest, S("\r\n"));
        struct str line = str_slice(rest, 0, n);

        rest = n == STR_NONE ? (struct str){0} : str_skip(rest, n + 2);
        if (line.n == 0 && is_last)
            strbuf_add(out, S("Connection: close\r\n"));
        if (is_last && is_about_connection(line))
            continue;
        strbuf_add(out, line);
        strbuf_add(out, S("\r\n"));
    }
    return is_last;
}
