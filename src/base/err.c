/* err.c - the error record, and the properties of its kinds. */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *code;
    enum err_category category;
    bool retryable, recoverable, fallback, correctable;
    int http_status, exit_code;
    const char *aliases;
} table[] = {
#define X(name, code, category, retryable, recoverable, fallback, correctable, http, exit,         \
          aliases)                                                                                 \
    [ERR_##name] = {code,      ERR_CATEGORY_##category,                                            \
                    retryable, recoverable,                                                        \
                    fallback,  correctable,                                                        \
                    http,      exit,                                                               \
                    aliases},
    ERR_TABLE(X)
#undef X
};

static char *format_text(const char *format, va_list args)
{
    va_list again;
    char *text;
    int n;

    va_copy(again, args);
    n = vsnprintf(NULL, 0, format, args);
    BUG_IF(n < 0);
    text = mem_alloc((size_t)n + 1);
    vsnprintf(text, (size_t)n + 1, format, again);
    va_end(again);
    return text;
}

static struct err *make(enum err_kind kind, char *take_text)
{
    struct err *e = mem_alloc(sizeof *e);

    e->kind = kind;
    e->text = take_text;
    e->retry_after_ms = -1;
    return e;
}

struct err *err_new(enum err_kind kind, const char *format, ...)
{
    va_list args;
    struct err *e;

    va_start(args, format);
    e = make(kind, format_text(format, args));
    va_end(args);
    return e;
}

struct err *err_errno(enum err_kind kind, int error, const char *format, ...)
{
    va_list args;
    struct err *e;

    va_start(args, format);
    e = make(kind, format_text(format, args));
    va_end(args);
    e->cause = make(kind, mem_strdup(strerrordesc_np(error) ? strerrordesc_np(error) : "error"));
    if (kind == ERR_STORAGE && (error == ENOSPC || error == EDQUOT))
        return err_hint(e, "the disk is full: free some space on it");
    return e;
}

struct err *err_wrap(struct err *take_cause, const char *format, ...)
{
    va_list args;
    struct err *e;

    va_start(args, format);
    e = make(take_cause->kind, format_text(format, args));
    va_end(args);
    e->retry_after_ms = take_cause->retry_after_ms;
    e->peer_status = take_cause->peer_status;
    e->is_final = take_cause->is_final;
    e->refused_media = take_cause->refused_media ? mem_strdup(take_cause->refused_media) : NULL;
    e->hides_thoughts = take_cause->hides_thoughts;
    e->cause = take_cause;
    return e;
}

struct err *err_hint(struct err *e, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    mem_free(e->hint);
    e->hint = format_text(format, args);
    va_end(args);
    return e;
}

struct err *err_final(struct err *e)
{
    e->is_final = true;
    return e;
}

struct err *err_refuse_media(struct err *e, const char *sha256_hex)
{
    char *copy = mem_strdup(sha256_hex);

    mem_free(e->refused_media);
    e->refused_media = copy;
    return e;
}

struct err *err_copy(const struct err *e)
{
    struct err *copy;

    if (!e)
        return NULL;
    copy = make(e->kind, mem_strdup(e->text));
    copy->hint = e->hint ? mem_strdup(e->hint) : NULL;
    copy->retry_after_ms = e->retry_after_ms;
    copy->peer_status = e->peer_status;
    copy->is_final = e->is_final;
    copy->refused_media = e->refused_media ? mem_strdup(e->refused_media) : NULL;
    copy->hides_thoughts = e->hides_thoughts;
    copy->cause = err_copy(e->cause);
    return copy;
}

void err_free(struct err *e)
{
    while (e) {
        struct err *cause = e->cause;
        mem_free(e->text);
        mem_free(e->hint);
        mem_free(e->refused_media);
        mem_free(e);
        e = cause;
    }
}

const char *err_code(enum err_kind kind)
{
    return table[kind].code;
}

enum err_category err_category_of(enum err_kind kind)
{
    return table[kind].category;
}

const char *err_category(enum err_kind kind)
{
    static const char *const names[] = {
        [ERR_CATEGORY_USER] = "user",     [ERR_CATEGORY_PROVIDER] = "provider",
        [ERR_CATEGORY_SYSTEM] = "system", [ERR_CATEGORY_POLICY] = "policy",
        [ERR_CATEGORY_LIMIT] = "limit",   [ERR_CATEGORY_CANCEL] = "cancel",
    };
    return names[table[kind].category];
}

bool err_is_retryable(const struct err *e)
{
    return table[e->kind].retryable && !e->is_final;
}

bool err_is_recoverable(const struct err *e)
{
    return table[e->kind].recoverable;
}

bool err_allows_fallback(const struct err *e)
{
    return table[e->kind].fallback;
}

bool err_is_correctable(const struct err *e)
{
    return table[e->kind].correctable;
}

int err_http_status(enum err_kind kind)
{
    return table[kind].http_status;
}

int err_exit_code(const struct err *e)
{
    return e ? table[e->kind].exit_code : 0;
}

bool err_kind_find(struct str name, enum err_kind *ret_kind)
{
    if (name.n == 0)
        return false;
    for (int kind = 0; kind < ERR_N_KINDS; kind++) {
        struct str rest = str_of(table[kind].aliases), alias;
        bool hit = str_eq_nocase(name, str_of(table[kind].code));

        while (!hit && str_split(&rest, ' ', &alias))
            hit = str_eq_nocase(name, alias);
        if (hit) {
            *ret_kind = (enum err_kind)kind;
            return true;
        }
    }
    return false;
}

char *err_message(const struct err *e)
{
    size_t n = 0;
    char *text, *at;

    for (const struct err *x = e; x; x = x->cause)
        n += strlen(x->text) + 2;
    at = text = mem_alloc(n + 1);
    for (const struct err *x = e; x; x = x->cause) {
        at = stpcpy(at, x->text);
        if (x->cause)
            at = stpcpy(at, ": ");
    }
    return text;
}

const char *err_find_hint(const struct err *e)
{
    for (; e; e = e->cause)
        if (e->hint)
            return e->hint;
    return NULL;
}
