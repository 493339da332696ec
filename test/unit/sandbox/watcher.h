/* watcher.h - an observer that writes down what it hears, and commands in a box that have it. */
#ifndef KEEL_TEST_UNIT_SANDBOX_WATCHER_H
#define KEEL_TEST_UNIT_SANDBOX_WATCHER_H

#include "sandbox/box.h"
#include "sys/write_observer.h"

#include <stdatomic.h>

struct watcher {
    struct write_observer observer;
    const char *above; /* what paths are told without */
    pthread_mutex_t lock;
    struct strbuf lines;
    struct strbuf missed;
    size_t n_notices;
    atomic_bool is_inside, has_overlapped;
    void (*act)(struct watcher *w, const struct write_notice *notice); /* may be NULL */
    void *act_self;
    bool is_freed;
};

static inline const char *without(const char *path, const char *above)
{
    size_t n = strlen(above);

    return strncmp(path, above, n) == 0 && path[n] == '/' ? path + n + 1 : path;
}

static inline void watcher_about_to(struct write_observer *o, const struct write_notice *notice)
{
    static const char *const words[] = {"content", "attributes", "removal",
                                        "rename",  "exchange",   "name"};
    struct watcher *w = (struct watcher *)o;

    if (atomic_exchange(&w->is_inside, true))
        w->has_overlapped = true;
    pthread_mutex_lock(&w->lock);
    w->n_notices++;
    if (w->lines.n < 60000) {
        strbuf_addf(&w->lines, "%s %s", words[notice->kind], without(notice->path, w->above));
        if (notice->to)
            strbuf_addf(&w->lines, " > %s", without(notice->to, w->above));
        strbuf_add(&w->lines, S("\n"));
    }
    pthread_mutex_unlock(&w->lock);
    if (w->act)
        w->act(w, notice);
    w->is_inside = false;
}

static inline void watcher_missed(struct write_observer *o, const char *why)
{
    struct watcher *w = (struct watcher *)o;

    pthread_mutex_lock(&w->lock);
    strbuf_addf(&w->missed, "%s\n", why);
    pthread_mutex_unlock(&w->lock);
}

static inline void watcher_free(struct write_observer *o)
{
    ((struct watcher *)o)->is_freed = true;
}

static inline void watcher_init(struct watcher *w, const char *above)
{
    *w = (struct watcher){.observer = {.about_to = watcher_about_to,
                                       .missed = watcher_missed,
                                       .free = watcher_free,
                                       .n_refs = 1},
                          .above = above};
    pthread_mutex_init(&w->lock, NULL);
}

/* The sandbox must have let go of it. */
static inline void watcher_done(struct watcher *w)
{
    write_observer_unref(&w->observer);
    assert_true(w->is_freed);
    assert_false(w->has_overlapped);
    pthread_mutex_destroy(&w->lock);
    strbuf_done(&w->lines);
    strbuf_done(&w->missed);
}
DEFINE_AUTO_VAL(watcher, watcher_done)

/* As box_run(), with an argv. */
static inline struct err *box_watch_argv(struct box *b, struct watcher *w, const char *const *argv)
{
    struct proc_output output = {0};
    struct proc_spec spec = box_spec(b, argv);
    struct proc *p = NULL;

    spec.observer = &w->observer;
    if (!b->sandbox.launcher.start)
        TRY(box_open(b));
    TRY(launcher_start(&b->sandbox.launcher, &spec, &p));
    TRY(proc_collect(p, 60000, &output));
    proc_free(p);
    strbuf_done(&b->out);
    strbuf_done(&output.err);
    b->out = output.out;
    b->exit_code = output.status.exited ? output.status.exit_code : -1;
    strbuf_clear(&b->notes);
    TRY(sandbox_command_ended(&b->sandbox, &b->notes));
    EXPECT(w->observer.n_refs == 1);
    return NULL;
}

static inline struct err *box_watch(struct box *b, struct watcher *w, const char *script)
{
    return box_watch_argv(b, w, SHELL(script));
}

#endif
