/* guarded.h - guards the files that programs obey while a rewind changes files.
 *
 * A rewind restores what commands wrote, and not all of that was meant to stay: before keel put a
 * file aside after one command, another one may have changed it, so that its content was saved. So
 * keel guards a rewind as it guards a command (sandbox/guard/guard.h): it puts hooks, settings and
 * repositories that could run something aside again. All of it blocks. */
#ifndef KEEL_SDK_REWIND_GUARDED_H
#define KEEL_SDK_REWIND_GUARDED_H

#include "sdk/rewind/rewind.h"

/* keel's home, canonical. NULL if it contains one of these directories and more than keel's files.
 */
const char *rewind_home_outside(const char *home, const char *const *roots, size_t n,
                                struct arena *a);

struct guard;
struct rewind_guard {
    struct guard *guard; /* NULL: there is none */
    struct arena arena;
};

/* Before the first change. `roots` are canonical, the workspace first. ERR_SANDBOX: they
 * cannot be guarded. */
MUST_USE struct err *rewind_guard_begin(struct rewind_guard *g, const struct rewind_options *o,
                                        const struct restore_options *restore,
                                        const struct store *s);
/* After the last one: puts things right, and appends a line for a person about each of them. */
MUST_USE struct err *rewind_guard_check(struct rewind_guard *g, struct strbuf *notes);
void rewind_guard_done(struct rewind_guard *g); /* accepts a zeroed one */
DEFINE_AUTO_VAL(rewind_guard, rewind_guard_done)

#endif
