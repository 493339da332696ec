/* key_command.h - a command of the person's whose output is a key: apiKeyHelper,
 * credential_process.
 *
 * It runs in the person's home directory, with all of keel's environment, outside of the sandbox:
 * only the person's own files may name one. */
#ifndef KEEL_CONFIG_KEY_COMMAND_H
#define KEEL_CONFIG_KEY_COMMAND_H

#include "base/strbuf.h"

#define KEY_COMMAND_TIMEOUT_MS 60000
#define KEY_COMMAND_MAX_BYTES ((size_t)64 << 10)

struct key_command {
    const char *name; /* for messages: "apiKeyHelper" */
    struct str line;  /* for sh -c */
    const char *const *environment;
    uint64_t timeout_ms; /* 0: as above */
};

/* Appends its output, which may hold a secret. Waits. ERR_PROVIDER_AUTH when it fails, takes too
 * long, or prints nothing. */
MUST_USE struct err *key_command_run(const struct key_command *c, struct strbuf *output);

#endif
