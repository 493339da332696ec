/* library.c - the public face of libkeel. */
#include "base/err.h"

#include <keel/keel.h>

const char *keel_version(void)
{
    return KEEL_VERSION;
}

size_t keel_error_count(void)
{
    return ERR_N_KINDS;
}

int keel_error_at(size_t index, keel_error_info *info)
{
    enum err_kind kind = (enum err_kind)index;
    struct err probe = {.kind = kind};
    keel_error_info full = {0};

    if (index >= ERR_N_KINDS || !info)
        return 0;
    full.size = info->size;
    full.code = err_code(kind);
    full.category = err_category(kind);
    full.retryable = err_is_retryable(&probe);
    full.recoverable = err_is_recoverable(&probe);
    full.allows_fallback = err_allows_fallback(&probe);
    full.http_status = err_http_status(kind);
    full.exit_code = err_exit_code(&probe);
    memcpy(info, &full, MIN(info->size, sizeof full)); /* an older caller knows fewer fields */
    return 1;
}

int keel_error_find(const char *name, keel_error_info *info)
{
    enum err_kind kind;

    return name && err_kind_find(str_of(name), &kind) && keel_error_at((size_t)kind, info);
}
