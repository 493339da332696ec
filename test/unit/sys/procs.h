/* procs.h - what the tests of processes share: the ways to run a command, and a mark by which all
 * that comes of it is found. */
#ifndef KEEL_TEST_UNIT_SYS_PROCS_H
#define KEEL_TEST_UNIT_SYS_PROCS_H

#include "sys/proc.h"
#include "sys/tasks.h"

#include <dirent.h>
#include <fcntl.h>
#include <libgen.h>
#include <unistd.h>

struct way {
    const char *name;
    bool supervised, no_namespace;
};
static const struct way plain = {"plain", false, false};
static const struct way in_namespace = {"namespace", true, false};
static const struct way under_subreaper = {"subreaper", true, true};

#define WAY(t, way) {#t ", " #way, t, NULL, NULL, (void *)&way}
#define SUPERVISED(t) WAY(t, in_namespace), WAY(t, under_subreaper)
#define EVERY_WAY(t) WAY(t, plain), SUPERVISED(t)

/* A test whose body is a task, run once for each way that RUN_TESTS names. */
#define PROC_TEST(name)                                                                            \
    static struct err *name##_in_task(void *way);                                                  \
    TEST(name)                                                                                     \
    {                                                                                              \
        assert_ok(loop_run_once(name##_in_task, *state));                                          \
    }                                                                                              \
    static struct err *name##_in_task(void *way)

#define ARGV(...) ((const char *const[]){__VA_ARGS__, NULL})
#define SHELL(script) ARGV("sh", "-c", script)

static inline struct proc_spec command(const void *way, const char *const *argv)
{
    const struct way *w = way;

    return (struct proc_spec){
        .argv = argv,
        .environment = (const char *const *)environ,
        .supervised = w && w->supervised,
        .no_namespace = w && w->no_namespace,
    };
}

static inline struct proc_spec marked(struct proc_spec spec, const char *const *mark)
{
    spec.environment = mark;
    return spec;
}

static inline bool output_is(const struct strbuf *b, const char *text)
{
    if (str_is(strbuf_str(b), text))
        return true;
    print_error("want \"%s\"\n got \"%" STR_FMT "\"\n", text, STR_ARG(strbuf_str(b)));
    return false;
}
#define EXPECT_OUTPUT(buffer, text) EXPECT(output_is(&(buffer), text))

static inline bool ended_with(struct proc_status s, int exit_code)
{
    return s.exited && !s.signalled && s.exit_code == exit_code;
}

static inline bool ended_by(struct proc_status s, int signal)
{
    return s.signalled && !s.exited && s.signal == signal;
}

/* A program that was built beside this test; the result is static. */
static inline const char *helper(const char *name)
{
    static char path[8192], self[4096];

    memset(self, 0, sizeof self);
    (void)!readlink("/proc/self/exe", self, sizeof self - 1);
    snprintf(path, sizeof path, "%s/%s", dirname(self), name);
    return path;
}

/* Waits for the line "ready" of a child. */
static inline struct err *read_ready(struct proc *p)
{
    char text[16] = "";
    size_t n = 0, n_all = 0;

    do {
        TRY(proc_read(p, PROC_OUT, text + n_all, sizeof text - 1 - n_all, &n));
        n_all += n;
    } while (n > 0 && !strchr(text, '\n'));
    EXPECT(strncmp(text, "ready", 5) == 0);
    return NULL;
}

/* --- the mark --- */

/* An environment of one variable that nobody else has; children inherit it. Static. */
static inline const char *const *new_mark(void)
{
    static const char *environment[3];
    static char mark[64], supervisor[4200];
    static int n_marks;

    snprintf(mark, sizeof mark, "KEEL_TEST_MARK=%d.%d", (int)getpid(), n_marks++);
    snprintf(supervisor, sizeof supervisor, "KEEL_EXEC=%s",
             getenv("KEEL_EXEC") ? getenv("KEEL_EXEC") : "");
    environment[0] = mark;
    environment[1] = supervisor;
    return environment;
}

static inline bool file_holds(const char *pid, const char *file, const char *text)
{
    char path[512], bytes[4096];
    ssize_t n;
    int fd;

    snprintf(path, sizeof path, "/proc/%s/%s", pid, file);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    n = read(fd, bytes, sizeof bytes);
    close(fd);
    return n > 0 && memmem(bytes, (size_t)n, text, strlen(text));
}

static inline int count_processes(bool (*counts)(const char *pid, const void *arg), const void *arg)
{
    DIR *proc = opendir("/proc");
    struct dirent *entry;
    int n = 0;

    while (proc && (entry = readdir(proc)))
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
            n += counts(entry->d_name, arg);
    if (proc)
        closedir(proc);
    return n;
}

static inline bool has_mark(const char *pid, const void *mark)
{
    return file_holds(pid, "environ", mark);
}

/* How many processes carry the mark, supervisors not counted for users who may not look. */
static inline int count_marked(const char *const *mark)
{
    return count_processes(has_mark, mark[0]);
}

static inline bool is_child(const char *pid, const void *unused)
{
    char parent[32];

    snprintf(parent, sizeof parent, "\nPPid:\t%d\n", (int)getpid());
    return file_holds(pid, "status", parent);
}

static inline int count_children(void)
{
    return count_processes(is_child, NULL);
}

/* For what ends by itself after its parent is gone: looks until it has. */
static inline struct err *wait_until_gone(const char *const *mark)
{
    for (int i = 0; i < 1000; i++) {
        if (count_marked(mark) == 0)
            return NULL;
        TRY(task_sleep(10));
    }
    return err_new(ERR_INTERNAL, "%d processes are left", count_marked(mark));
}

#endif
