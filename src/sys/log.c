/* log.c - writes lines of JSON to a file. */
#include "sys/log.h"

#include "sys/auto_fd.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

struct log {
    enum log_level level;
    const struct clock *clock;
    struct log_sink sink;
    struct secrets *secrets;
    struct json_writer json;
    struct strbuf line, hidden;
    uint64_t n_lost; /* lines since the last one that was written */
    /* of a log from log_open() */
    char *name; /* in dir_fd; NULL: a device */
    int dir_fd, fd;
    bool is_torn; /* the last line was written in part */
};

static const char *const level_names[] = {"error", "warning", "info", "debug"};

const char *log_level_name(enum log_level l)
{
    return level_names[l];
}

bool log_level_find(struct str name, enum log_level *ret_level)
{
    for (size_t i = 0; i < ARRAY_LEN(level_names); i++)
        if (str_is(name, level_names[i])) {
            *ret_level = (enum log_level)i;
            return true;
        }
    return false;
}

/* --- life cycle --- */

struct log *log_new(enum log_level level, const struct clock *clock, struct log_sink sink)
{
    struct log *l = mem_alloc(sizeof *l);

    l->level = level;
    l->clock = clock ? clock : &clock_system;
    l->sink = sink;
    l->dir_fd = l->fd = -1;
    strbuf_init(&l->line, LOG_MAX_LINE);
    strbuf_init(&l->hidden, 2 * LOG_MAX_LINE);
    return l;
}

void log_free(struct log *l)
{
    if (!l)
        return;
    close_fd(&l->fd);
    close_fd(&l->dir_fd);
    mem_free(l->name);
    secrets_unref(l->secrets);
    strbuf_done(&l->line);
    strbuf_done(&l->hidden);
    mem_free(l);
}

void log_hide(struct log *l, const struct secrets *secrets)
{
    struct secrets *before;

    if (!l)
        return;
    before = l->secrets;
    l->secrets = secrets_ref(secrets);
    secrets_unref(before);
}

/* --- the file --- */

#define OPEN_FLAGS (O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK)

/* A link in the place of the file is not followed: a command may be able to create one beside the
 * log, to a file that it must not write. The directory is the one that was named first. */
static int open_file(const struct log *l)
{
    return openat(l->dir_fd, l->name, OPEN_FLAGS | O_NOFOLLOW, 0600);
}

/* Was the file renamed or removed? */
static bool was_moved(const struct log *l)
{
    struct stat named, opened;

    return fstatat(l->dir_fd, l->name, &named, AT_SYMLINK_NOFOLLOW) != 0 ||
           fstat(l->fd, &opened) != 0 || named.st_ino != opened.st_ino ||
           named.st_dev != opened.st_dev;
}

/* If a new file cannot be created, the old one is better than none. */
static void follow_name(struct log *l)
{
    int fd = l->name && was_moved(l) ? open_file(l) : -1;

    if (fd < 0)
        return;
    close(l->fd);
    l->fd = fd;
}

static bool log_write_line(void *self, struct str line)
{
    struct log *l = self;
    struct iovec parts[] = {{(char *)"\n", l->is_torn ? 1 : 0}, {(char *)line.p, line.n}};
    size_t n_bytes = parts[0].iov_len + line.n;
    ssize_t n;

    follow_name(l);
    do
        n = writev(l->fd, parts, ARRAY_LEN(parts));
    while (n < 0 && errno == EINTR);
    l->is_torn = n > 0 ? (size_t)n < n_bytes : l->is_torn;
    return n == (ssize_t)n_bytes;
}

static void open_in_dir(struct log *l, const char *path)
{
    const char *slash = strrchr(path, '/');
    AUTO_FREE char *dir = slash ? str_dup(str_make(path, (size_t)(slash - path) + 1)) : NULL;

    l->name = mem_strdup(slash ? slash + 1 : path);
    l->dir_fd = open(dir ? dir : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (l->dir_fd >= 0)
        l->fd = open_file(l);
}

static struct err *cannot_open(const char *path)
{
    if (errno == ELOOP)
        return err_hint(err_new(ERR_VALIDATION, "the log file %s is a symbolic link", path),
                        "name the file that it leads to");
    return err_hint(err_errno(ERR_VALIDATION, errno, "cannot write the log file %s", path),
                    "name a file that you may write, in a directory that exists");
}

struct err *log_open(const char *path, enum log_level level, struct log **ret_log)
{
    AUTO(log) struct log *l = log_new(level, NULL, (struct log_sink){log_write_line});

    l->sink.self = l;
    if (str_starts(str_of(path), S("/dev/"))) /* /dev/stderr is a link that is not renamed */
        l->fd = open(path, OPEN_FLAGS, 0600);
    else
        open_in_dir(l, path);
    if (l->fd < 0)
        return cannot_open(path);
    *ret_log = TAKE(l);
    return NULL;
}

/* --- lines --- */

static void begin_line(struct log *l, enum log_level level, const char *event)
{
    char time[CLOCK_ISO_SIZE];

    clock_format_iso(clock_unix_ms(l->clock), time);
    strbuf_clear(&l->line);
    jw_init(&l->json, &l->line);
    jw_begin_object(&l->json);
    jw_kv_str(&l->json, "time", str_of(time));
    jw_kv_str(&l->json, "level", str_of(level_names[level]));
    jw_kv_int(&l->json, "pid", getpid());
    jw_kv_str(&l->json, "event", str_of(event));
    if (l->n_lost)
        jw_kv_int(&l->json, "linesLost", (int64_t)l->n_lost);
}

struct json_writer *log_begin(struct log *l, enum log_level level, const char *event)
{
    if (!l || level > l->level)
        return NULL;
    begin_line(l, level, event);
    return &l->json;
}

/* A line that is too long is lost like one that cannot be written: half a line is not JSON. */
void log_end(struct log *l)
{
    struct str line;

    jw_end_object(&l->json);
    strbuf_clear(&l->hidden);
    line = secrets_hide_in_json_text(l->secrets, strbuf_str(&l->line), &l->hidden, NULL);
    if (!l->hidden.n)
        strbuf_add(&l->hidden, line);
    strbuf_add_char(&l->hidden, '\n');
    if (!strbuf_is_over(&l->line) && !strbuf_is_over(&l->hidden) &&
        l->sink.write(l->sink.self, strbuf_str(&l->hidden)))
        l->n_lost = 0;
    else
        l->n_lost++;
}
