/* trace.c - shows an exchange as lines for a person. */
#include "net/http_internal.h"

#include "net/url.h"

static void show(const struct http_trace *t, char kind, const struct strbuf *text)
{
    t->line(t->self, kind, strbuf_str(text));
}

void trace_bytes(const struct http_trace *t, char kind, struct str bytes)
{
    if (t->line && bytes.n)
        t->line(t->self, kind, bytes);
}

void trace_error(const struct http_trace *t, const struct err *e)
{
    AUTO_FREE char *text = NULL;

    if (!t->line || !e)
        return;
    text = err_message(e);
    t->line(t->self, '*', str_of(text));
}

/* Location and Referer hold URLs, which may hold credentials too. */
static struct str shown_value(struct arena *a, const struct http_header *h)
{
    if (http_header_is_secret(h->name))
        return S("[REDACTED]");
    if (str_find(h->value, S("://")) != STR_NONE || str_eq_nocase(h->name, S("location")))
        return url_redact(a, h->value);
    return h->value;
}

static void show_headers(const struct http_trace *t, char kind, const struct http_headers *h)
{
    for (size_t i = 0; i < h->n; i++) {
        AUTO(arena) struct arena a = {0};
        AUTO(strbuf) struct strbuf line = {0};

        strbuf_add(&line, h->items[i].name);
        strbuf_add(&line, S(": "));
        strbuf_add(&line, shown_value(&a, &h->items[i]));
        show(t, kind, &line);
    }
}

void trace_request(const struct http_trace *t, const struct http_request *request)
{
    AUTO(arena) struct arena a = {0};
    AUTO(strbuf) struct strbuf line = {0};

    if (!t->line)
        return;
    strbuf_addf(&line, "%s ", request->method);
    strbuf_add(&line, url_redact(&a, request->url));
    show(t, '>', &line);
    show_headers(t, '>', &request->headers);
    trace_bytes(t, '}', request->body);
}

void trace_response(const struct http_trace *t, const struct http_response *response)
{
    AUTO(strbuf) struct strbuf line = {0};

    if (!t->line)
        return;
    strbuf_addf(&line, "HTTP %d", response->status);
    show(t, '<', &line);
    show_headers(t, '<', &response->headers);
}
