/* err.h - failures: one record, one table of kinds.
 *
 * A function that can fail returns `struct err *` (NULL = fine). The record holds a kind, a text
 * for a person, a hint (what to do next), what the peer said about retrying, and its cause. The
 * table says for each kind whether it may be retried, and its HTTP status and exit code. Texts
 * never hold a secret. The caller frees an error or passes it on. */
#ifndef KEEL_BASE_ERR_H
#define KEEL_BASE_ERR_H

#include "base/str.h"

enum err_category {
    ERR_CATEGORY_USER,
    ERR_CATEGORY_PROVIDER,
    ERR_CATEGORY_SYSTEM,
    ERR_CATEGORY_POLICY,
    ERR_CATEGORY_LIMIT,
    ERR_CATEGORY_CANCEL,
};

/* name, code, category, retryable (the same call may work later), recoverable (a session can
 * continue after it), fallback (another target may do better), correctable (the model can fix it),
 * HTTP status, exit code, other names of it. */
#define ERR_TABLE(X)                                                                               \
    X(VALIDATION, "validation", USER, 0, 0, 0, 1, 400, 2,                                          \
      "VALIDATION_ERROR bad_request invalid_request INVALID_JSON ToolArgsInvalidError")            \
    X(CONFIGURATION, "configuration", USER, 0, 0, 0, 0, 500, 6, "CONFIGURATION_ERROR")             \
    X(PROVIDER_AUTH, "provider_auth", USER, 0, 0, 1, 0, 401, 6,                                    \
      "AUTHENTICATION_ERROR auth_error auth quota_exceeded")                                       \
    X(PROVIDER_RATE_LIMIT, "provider_rate_limit", PROVIDER, 1, 1, 1, 0, 429, 1,                    \
      "RATE_LIMIT_ERROR rate_limit")                                                               \
    X(PROVIDER_UNAVAILABLE, "provider_unavailable", PROVIDER, 1, 1, 1, 0, 503, 1,                  \
      "overloaded unavailable")                                                                    \
    X(PROVIDER_ERROR, "provider_error", PROVIDER, 0, 1, 0, 0, 502, 1, "PROVIDER_ERROR")            \
    X(BAD_RESPONSE, "bad_response", PROVIDER, 0, 1, 1, 0, 502, 1, "invalid_response")              \
    X(MODEL_NOT_AVAILABLE, "model_not_available", USER, 0, 0, 1, 0, 404, 6,                        \
      "MODEL_NOT_AVAILABLE model_error")                                                           \
    X(CONTENT_FILTER, "content_filter", POLICY, 0, 0, 0, 0, 422, 1, "")                            \
    X(NETWORK, "network", SYSTEM, 1, 1, 1, 0, 502, 1, "NETWORK_ERROR network_error transport")     \
    X(TIMEOUT, "timeout", SYSTEM, 1, 1, 1, 0, 504, 1, "TIMEOUT_ERROR run_timeout")                 \
    X(TOOL_DENIED, "tool_denied", POLICY, 0, 0, 0, 0, 403, 1, "ToolPolicyError")                   \
    X(TOOL_FAILED, "tool_failed", SYSTEM, 1, 0, 0, 0, 500, 1,                                      \
      "TOOL_EXECUTION_ERROR ToolExecutionError")                                                   \
    X(UNKNOWN_TOOL, "unknown_tool", USER, 0, 0, 0, 1, 404, 1, "UNKNOWN_TOOL UnknownToolError")     \
    X(TOOL_UNAVAILABLE, "tool_unavailable", SYSTEM, 0, 0, 0, 0, 501, 1, "")                        \
    X(TURN_LIMIT, "turn_limit", LIMIT, 0, 0, 0, 0, 422, 5, "max_turns EXIT-MAX-TURNS-NO-RESPONSE") \
    X(BUDGET_EXCEEDED, "budget_exceeded", LIMIT, 0, 0, 0, 0, 402, 5, "")                           \
    X(CONTEXT_OVERFLOW, "context_overflow", LIMIT, 0, 0, 0, 0, 413, 5, "EXIT-TOKEN-LIMIT")         \
    X(OUTPUT_LIMIT, "output_limit", LIMIT, 0, 0, 0, 0, 422, 5, "")                                 \
    X(CIRCUIT_OPEN, "circuit_open", SYSTEM, 1, 1, 1, 0, 503, 1, "CIRCUIT_BREAKER_OPEN")            \
    X(PLUGIN, "plugin", SYSTEM, 0, 0, 0, 0, 500, 1, "PLUGIN_ERROR")                                \
    X(STORAGE, "storage", SYSTEM, 0, 1, 0, 0, 500, 1, "STORAGE_ERROR")                             \
    X(SANDBOX, "sandbox", SYSTEM, 1, 0, 0, 0, 500, 1, "sandbox_error")                             \
    X(CANCELLED, "cancelled", CANCEL, 0, 0, 0, 0, 499, 130,                                        \
      "canceled aborted AbortError ToolCancelledError")                                            \
    X(INTERNAL, "internal", SYSTEM, 0, 0, 0, 0, 500, 1, "INTERNAL_ERROR unknown")

enum err_kind {
#define X(name, ...) ERR_##name,
    ERR_TABLE(X)
#undef X
        ERR_N_KINDS
};

struct err {
    enum err_kind kind;
    char *text;
    char *hint;             /* NULL: no advice */
    int64_t retry_after_ms; /* what the peer asked for; -1: nothing */
    int peer_status;        /* HTTP, as the peer sent it; 0: there was none */
    bool is_final;          /* the same call would fail again, though its kind is retryable */
    /* The peer refused a file of the request: the SHA-256 of its content in hex, or "" if the peer
     * does not say which file. NULL: it refused something else. */
    char *refused_media;
    bool hides_thoughts; /* the peer refused to show its reasoning to this account */
    struct err *cause;
};

NEVER_NULL MUST_USE struct err *err_new(enum err_kind kind, const char *format, ...)
    PRINTF_LIKE(2, 3);
/* The text, followed by the meaning of errno; with a hint if a disk is full. */
NEVER_NULL MUST_USE struct err *err_errno(enum err_kind kind, int error, const char *format, ...)
    PRINTF_LIKE(3, 4);
/* Says what failed because of `take_cause`; keeps its kind, retry-after and refused file. */
NEVER_NULL MUST_USE struct err *err_wrap(struct err *take_cause, const char *format, ...)
    PRINTF_LIKE(2, 3);
/* Sets the hint and returns the same error: `return err_hint(err_new(...), "...")`. */
NEVER_NULL MUST_USE struct err *err_hint(struct err *e, const char *format, ...) PRINTF_LIKE(2, 3);
/* Marks that repeating the call is useless, and returns the same error. */
NEVER_NULL MUST_USE struct err *err_final(struct err *e);
/* Marks that the peer refused a file, and returns the same error. */
NEVER_NULL MUST_USE struct err *err_refuse_media(struct err *e, const char *sha256_hex);
MUST_USE struct err *err_copy(const struct err *e);
void err_free(struct err *e);
DEFINE_AUTO_PTR(err, err_free)

/* Drops an error on purpose; the call states the reason. */
#define err_ignore(e, why) err_free(e)

#define TRY(expr)                                                                                  \
    do {                                                                                           \
        struct err *try_error_ = (expr);                                                           \
        if (try_error_)                                                                            \
            return try_error_;                                                                     \
    } while (0)

static inline bool err_is(const struct err *e, enum err_kind kind)
{
    return e && e->kind == kind;
}

const char *err_code(enum err_kind kind);     /* "provider_rate_limit" */
const char *err_category(enum err_kind kind); /* "provider" */
enum err_category err_category_of(enum err_kind kind);
bool err_is_retryable(const struct err *e);
bool err_is_recoverable(const struct err *e);
bool err_allows_fallback(const struct err *e);
bool err_is_correctable(const struct err *e);
int err_http_status(enum err_kind kind);
int err_exit_code(const struct err *e); /* 0 for NULL */
/* By code or alias, in any case of letters. */
bool err_kind_find(struct str name, enum err_kind *ret_kind);

/* "text: cause: cause", on the heap. The hint is not part of it. */
char *err_message(const struct err *e) MUST_USE;
const char *err_find_hint(const struct err *e); /* the outermost hint, or NULL */

#endif
