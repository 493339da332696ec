/* proc_host.c - a program that uses proc.h and gets killed: `proc_host namespace|subreaper ARGV...`
 * runs the command supervised, passes on its first output and waits for its own end. */
#include "sys/loop.h"
#include "sys/proc.h"

#include <stdio.h>
#include <unistd.h>

static struct err *host(void *arg)
{
    char **argv = arg;
    struct proc_spec spec = {
        .argv = (const char *const *)argv + 2,
        .environment = (const char *const *)environ,
        .supervised = true,
        .no_namespace = strcmp(argv[1], "subreaper") == 0,
    };
    AUTO(proc) struct proc *p = NULL;
    char text[64];
    size_t n;

    TRY(proc_spawn(&spec, &p));
    TRY(proc_read(p, PROC_OUT, text, sizeof text, &n));
    fwrite(text, 1, n, stdout);
    fflush(stdout);
    return task_sleep(3600 * 1000);
}

int main(int argc, char **argv)
{
    AUTO(err) struct err *e = argc > 2 ? loop_run_once(host, argv) : NULL;

    if (e)
        fprintf(stderr, "%s\n", e->text);
    return 1;
}
