/* rewind_guard.h - looks after what programs obey while a rewind changes files.
 *
 * What is restored has been written by commands, and not all of it was ever meant to stay: what
 * keel put aside after a command, another command that ran beside it may have seen and changed, so
 * that it was saved. So a rewind is looked after as a command is (sandbox/guard.h): hooks, settings
 * and repositories that could run something go aside once more. All of it blocks. */
#ifndef KEEL_SDK_REWIND_GUARD_H
#define KEEL_SDK_REWIND_GUARD_H

#include "sdk/rewind.h"

/* keel's home where it is none of these directories and holds none: then not all of it is keel's.
 * Canonical, or NULL. */
const char *rewind_home_outside(const char *home, const char *const *roots, size_t n,
                                struct arena *a);

struct guard;
struct rewind_guard {
    struct guard *guard; /* NULL: there is none */
    struct arena arena;
};

/* Before the first change. `roots` are canonical, the workspace first. ERR_SANDBOX: it cannot be
 * looked after. */
MUST_USE struct err *rewind_guard_begin(struct rewind_guard *g, const struct rewind_options *o,
                                        const struct restore_options *restore,
                                        const struct store *s);
/* After the last one: puts things right, and appends a line for a person about each. */
MUST_USE struct err *rewind_guard_check(struct rewind_guard *g, struct strbuf *notes);
void rewind_guard_done(struct rewind_guard *g); /* accepts a zeroed one */
DEFINE_AUTO_VAL(rewind_guard, rewind_guard_done)

#endif
