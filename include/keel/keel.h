/* keel.h - libkeel: an AI-agent runtime as a library.
 *
 * C89-safe. Every name starts with keel_ or KEEL_. The library prints nothing, exits nowhere, sets
 * no signal handler and waits only for its own children. */
#ifndef KEEL_KEEL_H
#define KEEL_KEEL_H

#include <stddef.h>

#if defined(__GNUC__)
#define KEEL_API __attribute__((visibility("default")))
#else
#define KEEL_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* "0.1.0". The string is static. */
KEEL_API const char *keel_version(void);

/* The error table that all of keel shares: codes such as "provider_rate_limit". */
typedef struct keel_error_info {
    size_t size;          /* set to sizeof(keel_error_info) by the caller */
    const char *code;     /* the name in events and logs */
    const char *category; /* user, provider, system, policy, limit or cancel */
    int retryable;        /* the same call may work later */
    int recoverable;      /* a session can go on after it */
    int allows_fallback;  /* another model may do better */
    int http_status;
    int exit_code;
} keel_error_info;

KEEL_API size_t keel_error_count(void);
/* 1 and fills *info for 0 <= index < keel_error_count(), else 0. */
KEEL_API int keel_error_at(size_t index, keel_error_info *info);
/* By code or by one of its other names, in any case of letters; 1 if there is one. */
KEEL_API int keel_error_find(const char *name, keel_error_info *info);

#ifdef __cplusplus
}
#endif

#endif
