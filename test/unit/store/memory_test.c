/* memory_test.c */
#include "port/store_conformance.h"
#include "store/memory.h"

static struct store *conformance_store(void)
{
    return store_memory_new();
}

/* Nothing outlives the process. */
static struct store *conformance_reopen(struct store *take_store)
{
    store_free(take_store);
    return NULL;
}

RUN_TESTS(STORE_CONFORMS);
