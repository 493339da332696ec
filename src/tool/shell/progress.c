/* progress.c - collects output and passes it on at a pace that a person can follow. */
#include "tool/shell/progress.h"

#include "base/utf8.h"
#include "tool/shell/output.h"

enum { PERIOD_MS = 100 };

static void keep(struct shell_progress *p, struct str bytes)
{
    size_t n_old;

    if (bytes.n > sizeof p->newest)
        bytes = str_skip(bytes, bytes.n - sizeof p->newest);
    n_old = MIN(p->n, sizeof p->newest - bytes.n);
    memmove(p->newest, p->newest + p->n - n_old, n_old);
    memcpy(p->newest + n_old, bytes.p, bytes.n);
    p->n = n_old + bytes.n;
}

void progress_add(struct shell_progress *p, struct str bytes, uint64_t now_ms)
{
    if (!p->context->on_progress)
        return;
    keep(p, bytes);
    if (now_ms >= p->next_ms)
        progress_show(p, now_ms);
}

uint64_t progress_wait_ms(const struct shell_progress *p, uint64_t now_ms)
{
    if (p->n == 0)
        return UINT64_MAX;
    return p->next_ms > now_ms ? p->next_ms - now_ms : 0;
}

/* The start of a character whose rest is to come is shown with it. */
void progress_show(struct shell_progress *p, uint64_t now_ms)
{
    AUTO(strbuf) struct strbuf text = {0};
    size_t n_later = utf8_incomplete_tail(str_make(p->newest, p->n));

    output_add_clean(&text, str_make(p->newest, p->n - n_later));
    memmove(p->newest, p->newest + p->n - n_later, n_later);
    p->n = n_later;
    p->next_ms = now_ms + PERIOD_MS;
    if (text.n)
        tool_progress(p->context, strbuf_str(&text));
}
