/* key_command.c - runs a command for its output. */
#include "config/key_command.h"

#include "base/arena.h"
#include "base/utf8.h"
#include "sys/env.h"
#include "sys/proc.h"

#include <sys/stat.h>

#define MAX_COMPLAINT 300

static const char *home_of(const struct key_command *c)
{
    const char *home = env_find(c->environment, "HOME");
    struct stat st;

    return home && stat(home, &st) == 0 && S_ISDIR(st.st_mode) ? home : "/";
}

/* What it printed on stdout may be a key, so it is not shown. */
static struct err *failed(const struct key_command *c, const struct proc_output *o)
{
    struct str complaint = utf8_truncate(str_trim(strbuf_str(&o->err)), MAX_COMPLAINT);
    const char *between = complaint.n ? ": " : "";

    if (o->status.signalled)
        return err_new(ERR_PROVIDER_AUTH, "%s was killed by signal %d%s%" STR_FMT, c->name,
                       o->status.signal, between, STR_ARG(complaint));
    if (o->status.exit_code)
        return err_new(ERR_PROVIDER_AUTH, "%s failed with exit code %d%s%" STR_FMT, c->name,
                       o->status.exit_code, between, STR_ARG(complaint));
    return err_new(ERR_PROVIDER_AUTH, "%s printed nothing%s%" STR_FMT, c->name, between,
                   STR_ARG(complaint));
}

struct err *key_command_run(const struct key_command *c, struct strbuf *output)
{
    AUTO(arena) struct arena a = {0};
    const char *argv[] = {"/bin/sh", "-c", arena_cstr(&a, c->line), NULL};
    struct proc_spec spec = {.argv = argv,
                             .environment = c->environment,
                             .cwd = home_of(c),
                             .supervised = true,
                             .no_namespace = true};
    uint64_t timeout_ms = c->timeout_ms ? c->timeout_ms : KEY_COMMAND_TIMEOUT_MS;
    AUTO(proc_output) struct proc_output o = {0};

    strbuf_init(&o.out, KEY_COMMAND_MAX_BYTES);
    strbuf_init(&o.err, KEY_COMMAND_MAX_BYTES);
    TRY(proc_run(&spec, timeout_ms, &o));
    if (o.timed_out)
        return err_hint(err_new(ERR_PROVIDER_AUTH, "%s took longer than %llu ms", c->name,
                                (unsigned long long)timeout_ms),
                        "it must print the key and exit; it cannot prompt for input");
    if (o.status.signalled || o.status.exit_code || str_trim(strbuf_str(&o.out)).n == 0)
        return failed(c, &o);
    strbuf_add(output, strbuf_str(&o.out));
    mem_wipe(o.out.p, o.out.n);
    return NULL;
}
