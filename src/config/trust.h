/* trust.h - which projects a person has trusted, bound to what their files said then.
 *
 * A repository's own files (project_files.h) can start processes and open connections. They count
 * only when a person has said so, and only as long as they hold what they held when it was said:
 * one changed byte, one file more or less, and the project is as foreign as before. The list is
 * kept in KEEL_HOME/trust.json, readable by its owner only, with a digest of each file, so that it
 * can be told which one has changed. Nothing here reads the project: what was read once counts. */
#ifndef KEEL_CONFIG_TRUST_H
#define KEEL_CONFIG_TRUST_H

#include "base/json.h"
#include "config/project_files.h"

enum trust {
    TRUST_NOT_NEEDED, /* the project has none of the files */
    TRUST_GIVEN,
    TRUST_CHANGED,    /* it was given, for other contents */
    TRUST_IMPOSSIBLE, /* not all of its files can be read */
    TRUST_NONE,
};

/* What has become of a file since. */
enum trust_change { TRUST_SAME, TRUST_NEW, TRUST_DIFFERENT, TRUST_GONE };

struct trust_state {
    enum trust trust;
    struct str reason; /* a sentence, if it is changed or impossible; in the arena */
    struct json *was;  /* names and digests that were trusted; NULL: none; in the arena */
};

/* `keel_home` may be empty: then nothing is trusted. Blocks, like all of these. */
MUST_USE struct err *trust_check(struct arena *a, struct str keel_home, const char *project_dir,
                                 const struct project_files *files, struct trust_state *ret_state);
/* TRUST_NEW if nothing was ever trusted. */
enum trust_change trust_change_of(const struct trust_state *state, const struct project_file *f);

/* Trusts the files as they were read. ERR_VALIDATION if not all of them could be. */
MUST_USE struct err *trust_give(struct str keel_home, const char *project_dir,
                                const struct project_files *files);
MUST_USE struct err *trust_revoke(struct str keel_home, const char *project_dir,
                                  bool *ret_was_given);

/* What keel itself writes into a project must not make it foreign. Who does that holds the lock
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
    struct str before, after; /* what it held, what keel has written */
};
/* The file's place in what is trusted goes from `before` to `after`, if it was trusted as it was
 * before, or the project had no files then. Nothing else that is trusted changes, so whatever
 * somebody else has done to the project meanwhile is as foreign as ever. `files` are those of the
 * project after the edit. Under the lock. */
MUST_USE struct err *trust_follow(struct str keel_home, const char *project_dir,
                                  const struct trust_edit *edit, const struct project_files *files,
                                  bool *ret_is_trusted);

/* Every project that was trusted, as a JSON object {path: {"files": {name: digest}, "time":...}}.
 */
MUST_USE struct err *trust_list(struct arena *a, struct str keel_home, struct json **ret_list);

#endif
