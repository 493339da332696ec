/* ahead.c - loads, and leaves what was loaded to the loader. */
#include "sdk/ahead.h"

#include "net/curl.h"
#include "store/sqlite_api.h"

#include <signal.h>

/* The loader takes one library at a time, and the session is opened before the first request. */
static void *load(void *arg)
{
    struct sqlite_api api;

    err_ignore(sqlite_api_load(&api), "the first use tells it");
    err_ignore(curl_load(), "the first request tells it");
    return NULL;
}

void ahead_begin(struct ahead *a)
{
    sigset_t all, before;

    sigfillset(&all); /* signals are the loop's */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    a->is_begun = pthread_create(&a->thread, NULL, load, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void ahead_end(struct ahead *a)
{
    if (a->is_begun)
        pthread_join(a->thread, NULL);
    a->is_begun = false;
}
