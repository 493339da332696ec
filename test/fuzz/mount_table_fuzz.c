/* mount_table_fuzz.c - any text is a table of mounts, and its aliases are absolute paths. */
#include "base/mount_table.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_alias(void *self, const char *alias, const char *shows)
{
    BUG_IF(alias[0] != '/' || shows[0] != '/');
    BUG_IF(strstr(alias, "//") || strstr(alias, "/../") || strstr(shows, "//"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO(arena) struct arena arena = {0};
    struct mount_table t;

    mount_table_parse(&t, &arena, str_make((const char *)data, size));
    mount_table_each_alias(&t, &arena, "/home/me/.ssh", check_alias, NULL);
    for (size_t i = 0; i < t.n && i < 8; i++)
        mount_table_each_alias(&t, &arena, arena_cstr(&arena, t.entries[i].place), check_alias,
                               NULL);
    return 0;
}
