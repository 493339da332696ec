/* trust.h - which projects a person has trusted, bound to what their files said then.
 *
 * A repository's own settings can start processes and open connections. They count only when a
 * person has said so, and only as long as these files hold what they held when it was said: one
 * changed byte, one file more or less, and the project is as foreign as before. The list is kept in
 * KEEL_HOME/trust.json, readable by its owner only. */
#ifndef KEEL_SDK_TRUST_H
#define KEEL_SDK_TRUST_H

#include "base/json.h"
#include "base/sha256.h"

enum trust {
    TRUST_NOT_NEEDED, /* the project has none of the files */
    TRUST_GIVEN,
    TRUST_CHANGED, /* it was given, for other contents */
    TRUST_NONE,
};

struct trust_state {
    enum trust trust;
    char digest[SHA256_HEX_SIZE]; /* of the files as they are now */
    const char *const *files;     /* that there are, by their names in the project; in the arena */
    size_t n_files;
};

/* `keel_home` may be empty: then nothing is trusted. Blocks, like all of these. */
MUST_USE struct err *trust_check(struct arena *a, struct str keel_home, const char *project_dir,
                                 struct trust_state *ret_state);
/* Trusts what the files hold now, as `state` has it. */
MUST_USE struct err *trust_give(struct str keel_home, const char *project_dir,
                                const struct trust_state *state);
MUST_USE struct err *trust_revoke(struct str keel_home, const char *project_dir,
                                  bool *ret_was_given);

/* What keel itself writes into a project must not make it foreign. Whoever does that holds the lock
 * from before it reads the file until trust has followed. ERR_STORAGE: another program does not let
 * go of it. */
struct trust_lock {
    bool is_held;
    int fd;
};
MUST_USE struct err *trust_lock_take(struct trust_lock *l, struct str keel_home);
void trust_lock_done(struct trust_lock *l);
DEFINE_AUTO_VAL(trust_lock, trust_lock_done)

struct trust_edit {
    const char *file; /* by its name in the project */
    bool existed;
    struct str before, after; /* what it held, what it holds now */
};
/* Trust goes on if it was given for the files as they were before, or was not needed, and nothing
 * else has changed since. Under the lock. */
MUST_USE struct err *trust_follow(struct str keel_home, const char *project_dir,
                                  const struct trust_edit *edit, bool *ret_is_trusted);

/* Every project that was trusted, as a JSON object {path: {"digest":..., "time":...}}. */
MUST_USE struct err *trust_list(struct arena *a, struct str keel_home, struct json **ret_list);

#endif
