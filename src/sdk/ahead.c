/* ahead.c - loads, and leaves what was loaded to the loader. */
#include "sdk/ahead.h"

#include "net/curl.h"
#include "store/sqlite_api.h"
#include "sys/work.h"

/* The loader takes one library at a time, and the session is opened before the first request. */
static void load(void *arg)
{
    struct sqlite_api api;

    err_ignore(sqlite_api_load(&api), "the first use tells it");
    err_ignore(curl_load(), "the first request tells it");
}

void ahead_begin(struct ahead *a)
{
    a->loading = work_beside_begin(load, NULL);
}

void ahead_end(struct ahead *a)
{
    work_beside_end(TAKE(a->loading));
}
