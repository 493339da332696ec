/* ahead.c - loads, and leaves what was loaded to the loader. */
#include "sdk/ahead.h"

#include "net/route.h"
#include "net/tls.h"
#include "store/sqlite.h"
#include "sys/work.h"

static void load_store(void *arg)
{
    err_ignore(store_sqlite_load(), "the first use tells it");
}

static void load_tls(void *arg)
{
    err_ignore(tls_load(), "the first request tells it");
}

void ahead_load_store(struct ahead *a)
{
    a->store = work_beside_begin(load_store, NULL);
}

void ahead_load_tls(struct ahead *a, const char *const *environment, struct str url)
{
    if (!a->tls && route_needs_tls(environment, url))
        a->tls = work_beside_begin(load_tls, NULL);
}

void ahead_end(struct ahead *a)
{
    work_beside_end(TAKE(a->store));
    work_beside_end(TAKE(a->tls));
}
