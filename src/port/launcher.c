/* launcher.c - commands as they are, under supervision. */
#include "port/launcher.h"

#include "sys/write_observer.h"

struct err *launcher_start(struct launcher *l, const struct proc_spec *spec, struct proc **ret_proc)
{
    return l->start(l, spec, ret_proc);
}

struct err *launcher_ended(struct launcher *l, struct strbuf *notes)
{
    return l->ended ? l->ended(l, notes) : NULL;
}

void launcher_advise(struct launcher *l, const struct command_ending *e, struct strbuf *out)
{
    if (l->advise)
        l->advise(l, e, out);
}

void launcher_expect(struct launcher *l)
{
    if (l && l->expect)
        l->expect(l);
}

void launcher_rest(struct launcher *l)
{
    if (l && l->rest)
        l->rest(l);
}

static struct err *start_plain(struct launcher *l, const struct proc_spec *spec,
                               struct proc **ret_proc)
{
    struct proc_spec supervised = *spec;

    supervised.supervised = true;
    TRY(proc_spawn(&supervised, ret_proc));
    if (spec->observer)
        spec->observer->missed(spec->observer, "commands run without the sandbox");
    return NULL;
}

struct launcher launcher_plain = {.start = start_plain};
