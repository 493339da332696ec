/* sqlite_test.c */
#include "port/store_conformance.h"
#include "temp_dir.h"

#include "store/sqlite.h"

static struct temp_dir dir;
static unsigned n_stores;
static char path[4096];

static struct store *conformance_store(void)
{
    char name[32];

    if (!n_stores)
        dir = temp_dir_make();
    snprintf(name, sizeof name, "s%u/keel.db", n_stores++);
    snprintf(path, sizeof path, "%s", temp_path(&dir, name));
    return store_sqlite_new(path);
}

static struct store *conformance_reopen(struct store *take_store)
{
    store_free(take_store);
    return store_sqlite_new(path);
}

static int remove_dir(void **state)
{
    temp_dir_done(&dir);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {STORE_CONFORMS};

    return cmocka_run_group_tests(tests, NULL, remove_dir);
}
