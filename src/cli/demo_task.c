/* demo_task.c - a price list with a mistake, its test, and a script that repairs it. */
#include "cli/demo_task.h"

#include "sys/env.h"
#include "sys/fs.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>

static const struct {
    const char *name, *text;
} files[] = {
    {"price.sh", "# The price of N boxes: 3 each, or 2 each for ten or more.\n"
                 "if [ \"$1\" -gt 10 ]; then\n"
                 "    echo $(($1 * 2))\n"
                 "else\n"
                 "    echo $(($1 * 3))\n"
                 "fi\n"},
    {"test.sh", "check() {\n"
                "    cost=$(sh price.sh \"$1\")\n"
                "    [ \"$cost\" = \"$2\" ] && echo \"ok    $1 boxes cost $2\" && return\n"
                "    echo \"FAIL  $1 boxes cost $cost, should be $2\"\n"
                "    exit 1\n"
                "}\n"
                "check 2 6\n"
                "check 10 20\n"
                "check 11 22\n"},
};

const char demo_script[] =
    "turns:\n"
    "  - - reasoning: I do not know yet what fails. The test will show it.\n"
    "      split: 6\n"
    "      delay_ms: 25\n"
    "    - text: I'll run the test to see what fails.\n"
    "      split: 7\n"
    "      delay_ms: 25\n"
    "    - tool: Bash\n"
    "      args: {command: sh test.sh, description: Run the test}\n"
    "    - usage: {input: 1412, output: 58}\n"
    "  - - text: Ten boxes cost too much. How is the price computed?\n"
    "      split: 7\n"
    "      delay_ms: 25\n"
    "    - tool: Read\n"
    "      args: {file_path: price.sh}\n"
    "    - usage: {input: 1530, output: 41}\n"
    "  - - text: The comment says ten or more, but the code says more than ten.\n"
    "      split: 7\n"
    "      delay_ms: 25\n"
    "    - tool: Edit\n"
    "      args: {file_path: price.sh, old_string: -gt 10, new_string: -ge 10}\n"
    "    - usage: {input: 1688, output: 77}\n"
    "  - - tool: Bash\n"
    "      args: {command: sh test.sh, description: Run the test again}\n"
    "    - usage: {input: 1803, output: 35}\n"
    "  - - text: |\n"
    "        The test passes now. price.sh:2 compared with -gt, so ten boxes did not get\n"
    "        the lower price; it uses -ge now. I changed nothing else.\n"
    "      split: 7\n"
    "      delay_ms: 15\n"
    "    - usage: {input: 1898, output: 52}\n";

struct err *demo_task_make(char *path)
{
    const char *temp = env_find(NULL, "TMPDIR");

    snprintf(path, DEMO_PATH_SIZE, "%s/keel-demo-XXXXXX", temp ? temp : "/tmp");
    if (!mkdtemp(path))
        return err_hint(
            err_errno(ERR_STORAGE, errno, "cannot create a directory in %s", temp ? temp : "/tmp"),
            "set TMPDIR to a directory that you can write");
    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        AUTO(arena) struct arena a = {0};

        TRY(fs_write_atomic(fs_join(&a, path, files[i].name), str_of(files[i].text), 0600));
    }
    return NULL;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *where)
{
    remove(path); /* what cannot be removed makes its directory stay, too */
    return 0;
}

void demo_task_remove(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
