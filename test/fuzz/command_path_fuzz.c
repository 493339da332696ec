/* command_path_fuzz.c - a path behind its directory is absolute, and no name in it is empty or
 * dots. */
#include "sandbox/watch/command_path.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const char *base, const char *path)
{
    char text[PATH_MAX], again[PATH_MAX];

    if (!command_path_join(base, path, text))
        return;
    BUG_IF(text[0] != '/' || strlen(text) >= PATH_MAX || strstr(text, "//"));
    BUG_IF(text[1] && text[strlen(text) - 1] == '/');
    for (const char *name = text; name; name = strchr(name + 1, '/'))
        BUG_IF(strncmp(name, "/./", 3) == 0 || strncmp(name, "/../", 4) == 0 ||
               strcmp(name, "/.") == 0 || strcmp(name, "/..") == 0);
    BUG_IF(!command_path_join("/", text, again) || strcmp(text, again) != 0);
}

/* The first line is the directory, the rest the path. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_FREE char *text = mem_alloc(size + 1);
    char *path;

    memcpy(text, data, size);
    path = strchr(text, '\n');
    if (!path)
        return 0;
    *path++ = 0;
    check("/", path);
    if (command_path_join("/", text, (char[PATH_MAX]){0})) {
        char base[PATH_MAX];

        BUG_IF(!command_path_join("/", text, base));
        check(base, path);
    }
    return 0;
}
