/* snapshotter.c - chooses the calls to save for, and looks at files in a worker. */
#include "snapshot/snapshotter_internal.h"
#include "snapshot/undo_recorder.h"
#include "snapshot/unreported.h"

#include "sys/work.h"

#include <pthread.h>
#include <time.h>

/* The recorder of a call, as long as it is needed. */
struct observed {
    struct undo_recorder *recorder;
    struct change_marks marks;
    int64_t since_ns;   /* of the last look */
    bool has_ended;     /* the call; its command may still run */
    bool is_background; /* its command still runs */
    struct observed *next;
};

/* A log whose call has ended. */
struct ended_log {
    char name[UNDO_LOG_NAME_SIZE];
    uint64_t ended_at;
};

struct agent_snapshotter {
    struct snapshotter port;
    struct snapshot_options options;
    struct coverage coverage;
    char *home;
    pthread_mutex_t lock; /* for all members below: calls run side by side */
    struct observed *observed;
    size_t n_active; /* calls */
    struct undo_recorder_peers peers;
    struct sync_ahead disk;
    struct undo_log_spare spare;
    struct path_table touched; /* files of Write and Edit, while calls are active */
    uint64_t now;              /* counts beginnings and ends */
    struct ended_log *logs;
    size_t n_logs;
    bool has_reported_missed, has_swept;
};

struct snapshot {
    char *path; /* of the one file; NULL: none */
    struct saved_file file;
    struct observed *observed; /* NULL: no command */
    struct git_state git;      /* before the call */
    uint64_t began_at;
};

/* The argument and result of a worker. */
struct snapshot_look {
    struct agent_snapshotter *of;
    struct err *(*run)(struct snapshot_look *look);
    bool (*is_quick)(struct snapshot_look *look); /* NULL: never */
    struct arena *arena;
    struct snapshot *snapshot;
    bool wants_observer;
    struct snapshot_record *record;
    struct snapshot_changes *changes;
    bool has_run;
};

static struct err *run_locked(void *arg)
{
    struct snapshot_look *look = arg;
    struct err *e;

    look->has_run = true;
    pthread_mutex_lock(&look->of->lock);
    e = look->run(look);
    pthread_mutex_unlock(&look->of->lock);
    return e;
}

/* A look that takes only a moment needs no worker. */
static bool run_quick(struct snapshot_look *look, struct err **ret_error)
{
    struct agent_snapshotter *s = look->of;

    if (!look->is_quick || pthread_mutex_trylock(&s->lock) != 0)
        return false;
    if (look->is_quick(look)) {
        look->has_run = true;
        *ret_error = look->run(look);
    }
    pthread_mutex_unlock(&s->lock);
    return look->has_run;
}

static struct err *run_look(struct snapshot_look *look)
{
    struct err *e = NULL;

    if (run_quick(look, &e))
        return e;
    return task_self() ? work_run(run_locked, look) : run_locked(look);
}

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* --- undo logs --- */

/* The journal was made durable before a call that began later was allowed to run: so it has
 * everything of ended logs. */
static void remove_logs(struct agent_snapshotter *s, uint64_t ended_before)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n_logs; i++)
        if (s->logs[i].ended_at < ended_before)
            undo_log_spare_put(&s->spare, s->home, str_of(s->logs[i].name));
        else
            s->logs[n++] = s->logs[i];
    s->n_logs = n;
}

static void note_log(struct agent_snapshotter *s, struct undo_recorder *r)
{
    struct ended_log *log;

    if (undo_recorder_n_entries(r) == 0)
        return;
    s->logs = mem_resize(s->logs, (s->n_logs + 1) * sizeof *s->logs);
    log = &s->logs[s->n_logs++];
    *log = (struct ended_log){.ended_at = ++s->now};
    memcpy(log->name, undo_recorder_log_name(r), sizeof log->name);
}

void snapshotter_forget_logs(struct snapshotter *port)
{
    struct agent_snapshotter *s = (struct agent_snapshotter *)port;

    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    remove_logs(s, UINT64_MAX);
    undo_log_spare_remove(&s->spare, s->home);
    pthread_mutex_unlock(&s->lock);
}

/* --- unannounced changes --- */

struct strangers {
    struct agent_snapshotter *of;
    struct undo_recorder *recorder;
};

static bool is_announced(struct agent_snapshotter *s, struct str path)
{
    for (const struct observed *o = s->observed; o; o = o->next)
        if (undo_recorder_has(o->recorder, path))
            return true;
    return path_table_find(&s->touched, path) != NULL;
}

/* By another of its names. */
static bool is_announced_file(struct agent_snapshotter *s, const struct stat *st)
{
    for (const struct observed *o = s->observed; o; o = o->next)
        if (undo_recorder_has_file(o->recorder, st->st_dev, st->st_ino))
            return true;
    return false;
}

static bool is_strange(void *self, struct str path, const struct stat *st)
{
    const struct strangers *x = self;

    if (is_announced(x->of, path) || (st && !S_ISDIR(st->st_mode) && is_announced_file(x->of, st)))
        return false;
    return undo_recorder_covers(x->recorder, path, st && S_ISDIR(st->st_mode)) ||
           (coverage_is_rules(path) && undo_recorder_covers_rules(x->recorder, path));
}

/* keel's store may create files there without announcing them. */
static bool is_strange_dir(void *self, struct str path)
{
    const struct strangers *x = self;

    if (x->of->coverage.own || is_announced(x->of, path) ||
        virtual_places_hold(&x->of->coverage.virtual_places, path))
        return false;
    for (const struct observed *o = x->of->observed; o; o = o->next)
        if (undo_recorder_has_in(o->recorder, path))
            return false;
    return true;
}

static bool is_covered_dir(void *self, struct str path)
{
    const struct strangers *x = self;

    return undo_recorder_covers(x->recorder, path, /* is_dir= */ true);
}

static struct str text_of_unreported(const struct unreported *found, struct arena *a)
{
    if (found->was_cut)
        return S("the workspace is too large to check that all changes were reported");
    if (found->n > UNREPORTED_MAX)
        return arena_format(a, "%zu files changed while it ran, but the changes were not reported",
                            found->n);
    return (struct str){0};
}

static struct err *find_unreported(struct agent_snapshotter *s, struct observed *o, struct arena *a,
                                   struct pre_images *images, struct str *unsaved)
{
    struct strangers self = {s, o->recorder};
    struct unreported_query q = {.coverage = &s->coverage,
                                 .marks = &o->marks,
                                 .since_ns = o->since_ns,
                                 .is_strange = is_strange,
                                 .is_strange_dir = is_strange_dir,
                                 .is_covered_dir = is_covered_dir,
                                 .self = &self};
    struct unreported found;

    if (!undo_recorder_has_begun(o->recorder) || undo_recorder_has_missed(o->recorder))
        return NULL;
    TRY(unreported_find(&q, a, &found));
    for (size_t i = 0; i < MIN(found.n, (size_t)UNREPORTED_MAX); i++) {
        struct file_state now = {.path = found.paths[i]};

        pre_images_add(
            images, a,
            (struct pre_image){.path = str_of(found.paths[i]),
                               .kind = IMAGE_OTHER,
                               .why_not = S(UNDO_UNREPORTED),
                               .after = state_look(&now) ? state_sign(a, &now) : (struct str){0}});
    }
    *unsaved = text_of_unreported(&found, a);
    return NULL;
}

/* --- commands --- */

static struct err *look_at_command(struct agent_snapshotter *s, struct observed *o, struct arena *a,
                                   struct pre_images *images, struct str *unsaved)
{
    bool is_last = !undo_recorder_is_in_use(o->recorder);
    int64_t now = now_ns();
    struct pre_images changed = {0};
    struct str unreported = {0};

    TRY(find_unreported(s, o, a, images, &unreported));
    TRY(undo_recorder_look(o->recorder, is_last, a, &changed, unsaved));
    if (!unsaved->n)
        *unsaved = unreported;
    for (size_t i = 0; i < changed.n; i++)
        pre_images_add(images, a, changed.items[i]);
    o->is_background = !is_last;
    o->since_ns = now;
    if (is_last)
        note_log(s, o->recorder);
    else
        change_marks_take(&o->marks, &s->coverage, s->options.watches);
    return NULL;
}

static void observed_free(struct observed *o)
{
    undo_recorder_close(o->recorder);
    undo_recorder_unref(o->recorder);
    change_marks_done(&o->marks);
    mem_free(o);
}

static bool has_background(const struct agent_snapshotter *s)
{
    const struct observed *o = s->observed;

    while (o && !(o->has_ended && o->is_background))
        o = o->next;
    return o != NULL;
}

/* Calls that ran at the same time may need its announcements: so not while a call is active, and
 * after a look at those in the background. */
static void drop_ended(struct agent_snapshotter *s)
{
    struct observed **link = &s->observed;

    if (s->n_active)
        return;
    path_table_done(&s->touched);
    undo_recorder_peers_clear(&s->peers);
    while (*link) {
        struct observed *o = *link;

        if (!o->has_ended || o->is_background) {
            link = &o->next;
            continue;
        }
        *link = o->next;
        observed_free(o);
    }
}

static struct err *look_at_background(struct agent_snapshotter *s, struct arena *a,
                                      struct pre_images *images, struct str *unsaved)
{
    for (struct observed *o = s->observed; o; o = o->next) {
        struct str why = {0};

        if (!o->has_ended || !o->is_background)
            continue;
        TRY(look_at_command(s, o, a, images, &why));
        if (!unsaved->n)
            *unsaved = why;
    }
    return NULL;
}

static struct observed *observe(struct agent_snapshotter *s)
{
    struct observed *o = mem_alloc(sizeof *o);

    o->recorder = undo_recorder_new(&(struct undo_recorder_options){
        .coverage = &s->coverage,
        .blobs = s->options.blobs,
        .disk = &s->disk,
        .home = s->home,
        .spare = &s->spare,
        .max_bytes = s->options.max_bytes,
        .max_file_bytes = s->options.max_file_bytes,
        .peers = &s->peers,
    });
    change_marks_take(&o->marks, &s->coverage, s->options.watches);
    o->since_ns = now_ns();
    o->next = s->observed;
    s->observed = o;
    return o;
}

/* --- notes --- */

/* Once per session: it is the same for each command. The journal records it for each. */
static struct str report_missed(struct agent_snapshotter *s, struct arena *a, struct str unsaved)
{
    if (!unsaved.n || s->has_reported_missed)
        return (struct str){0};
    s->has_reported_missed = true;
    return arena_format(a,
                        "Changes by commands cannot be undone, or not all of them: %" STR_FMT
                        ". Changes by Write and Edit can.",
                        STR_ARG(unsaved));
}

static struct str join(struct arena *a, struct str one, const char *separator, struct str two)
{
    return arena_format(a, "%" STR_FMT "%s%" STR_FMT, STR_ARG(one), one.n && two.n ? separator : "",
                        STR_ARG(two));
}

static struct str compare_git(const struct snapshot_look *look, bool *ret_is_gone)
{
    struct git_state now = git_state_look(&look->of->coverage);

    return git_state_compare(&look->snapshot->git, &now, &look->of->coverage, look->arena,
                             ret_is_gone);
}

/* --- before a call --- */

static void touch(struct agent_snapshotter *s, const char *path)
{
    size_t slash = str_rfind_char(str_of(path), '/');

    path_table_put(&s->touched, str_of(path));
    if (slash != STR_NONE)
        path_table_put(&s->touched, str_make(path, MAX(slash, (size_t)1)));
}

static struct err *begin_look(struct snapshot_look *look)
{
    struct agent_snapshotter *s = look->of;
    struct snapshot *x = look->snapshot;
    struct snapshot_record *r = look->record;

    if (!s->has_swept)
        undo_log_sweep(s->home);
    s->has_swept = true;
    TRY(look_at_background(s, look->arena, &r->before, &r->unsaved));
    r->note = snapshot_note_lost(look->arena, &r->before);
    drop_ended(s);
    if (x->path) {
        TRY(saved_file_save(&x->file, s->options.blobs));
        r->has_file = true;
        r->file = state_image(look->arena, &x->file.before, /* keeps_content= */ false, NULL);
        touch(s, x->path);
    }
    x->began_at = ++s->now;
    if (look->wants_observer) {
        x->git = git_state_look(&s->coverage);
        x->observed = observe(s);
        r->observer = write_observer_ref(undo_recorder_observer(x->observed->recorder));
        r->log = arena_str(look->arena, str_of(undo_recorder_log_name(x->observed->recorder)));
    }
    s->n_active++;
    return NULL;
}

static bool begin_is_quick(struct snapshot_look *look)
{
    const struct agent_snapshotter *s = look->of;

    return s->has_swept && !look->snapshot->path && !has_background(s) &&
           change_marks_are_quick(&s->coverage, s->options.watches);
}

static bool wants_observer(const struct agent_snapshotter *s, const struct snapshot_call *call)
{
    const struct tool *t = call->tool;

    return t->risk == RISK_EXECUTE && (t->needs & NEEDS_LAUNCHER) &&
           (!s->options.may_write || s->options.may_write(s->options.self, call));
}

static struct err *snapshotter_begin(struct snapshotter *port, const struct snapshot_call *call,
                                     struct arena *a, struct snapshot_record *ret_record)
{
    struct agent_snapshotter *s = (struct agent_snapshotter *)port;
    bool modifies = call->tool->risk == RISK_MODIFY;
    struct snapshot_look look = {
        .of = s, .run = begin_look, .is_quick = begin_is_quick, .arena = a, .record = ret_record};
    struct err *e;

    look.wants_observer = wants_observer(s, call);
    if (!modifies && !look.wants_observer)
        return NULL;
    if (s->options.is_off || (modifies && !call->target)) {
        ret_record->unsaved = s->options.is_off
                                  ? S("snapshot.enabled is false")
                                  : S("keel does not know which files this tool changes");
        return NULL;
    }
    look.snapshot = mem_alloc(sizeof *look.snapshot);
    if (modifies) {
        look.snapshot->path = mem_strdup(call->target);
        look.snapshot->file.before.path = look.snapshot->path;
    }
    e = run_look(&look);
    if (!e) {
        ret_record->snapshot = look.snapshot;
        return NULL;
    }
    mem_free(look.snapshot->path);
    mem_free(look.snapshot);
    return e;
}

/* --- after a call --- */

static struct err *look_after(struct snapshot_look *look)
{
    struct agent_snapshotter *s = look->of;
    struct snapshot *x = look->snapshot;
    struct snapshot_changes *changes = look->changes;
    struct str git = {0};
    bool is_git_gone = false;

    if (x->observed) {
        git = compare_git(look, &is_git_gone);
        TRY(look_at_command(s, x->observed, look->arena, &changes->images, &changes->unsaved));
    }
    if (x->path)
        TRY(saved_file_compare(&x->file, look->arena, &changes->images));
    changes->note = join(look->arena, report_missed(s, look->arena, changes->unsaved), " ",
                         snapshot_note_lost(look->arena, &changes->images));
    if (is_git_gone)
        changes->note = join(look->arena, git, ". ", changes->note);
    if (git.n)
        changes->unsaved = join(look->arena, changes->unsaved, "; ", git);
    if (x->observed && undo_recorder_n_entries(x->observed->recorder))
        remove_logs(s, x->began_at);
    return NULL;
}

static struct err *end_look(struct snapshot_look *look)
{
    struct agent_snapshotter *s = look->of;
    struct snapshot *x = look->snapshot;
    struct err *e = look_after(look);

    if (x->observed) {
        x->observed->has_ended = true;
        undo_recorder_leave_peers(x->observed->recorder);
    }
    s->n_active--;
    if (!has_background(s))
        drop_ended(s);
    mem_free(x->path);
    mem_free(x);
    return e;
}

static bool end_is_quick(struct snapshot_look *look)
{
    const struct snapshot *x = look->snapshot;

    return !x->path && x->observed && undo_recorder_n_entries(x->observed->recorder) == 0 &&
           unreported_is_quick(&x->observed->marks);
}

static struct err *snapshotter_end(struct snapshotter *port, struct snapshot *take_snapshot,
                                   struct arena *a, struct snapshot_changes *ret_changes)
{
    struct snapshot_look look = {.of = (struct agent_snapshotter *)port,
                                 .run = end_look,
                                 .is_quick = end_is_quick,
                                 .arena = a,
                                 .snapshot = take_snapshot,
                                 .changes = ret_changes};
    struct err *e = run_look(&look);

    if (look.has_run)
        return e;
    err_ignore(e, "no worker took it up");
    return run_locked(&look);
}

/* --- at the end of a run --- */

static struct err *settle_look(struct snapshot_look *look)
{
    struct snapshot_changes *c = look->changes;

    TRY(look_at_background(look->of, look->arena, &c->images, &c->unsaved));
    c->note = snapshot_note_lost(look->arena, &c->images);
    drop_ended(look->of);
    return NULL;
}

static struct err *snapshotter_settle(struct snapshotter *port, struct arena *a,
                                      struct snapshot_changes *ret_changes)
{
    struct agent_snapshotter *s = (struct agent_snapshotter *)port;
    struct snapshot_look look = {.of = s, .run = settle_look, .arena = a, .changes = ret_changes};

    return s->observed ? run_look(&look) : NULL;
}

/* --- life cycle --- */

static void snapshotter_destroy(struct snapshotter *port)
{
    struct agent_snapshotter *s = (struct agent_snapshotter *)port;

    while (s->observed) {
        struct observed *o = s->observed;

        s->observed = o->next;
        observed_free(o);
    }
    path_table_done(&s->touched);
    coverage_done(&s->coverage);
    undo_recorder_peers_done(&s->peers);
    sync_ahead_done(&s->disk);
    undo_log_spare_done(&s->spare);
    pthread_mutex_destroy(&s->lock);
    mem_free(s->logs);
    mem_free(s->home);
    mem_free(s);
}

struct snapshot_options snapshot_with_defaults(const struct snapshot_options *o)
{
    struct snapshot_options all = *o;

    all.max_bytes = o->max_bytes ? o->max_bytes : SNAPSHOT_DEFAULT_MAX_BYTES;
    all.max_file_bytes = o->max_file_bytes ? o->max_file_bytes : SNAPSHOT_DEFAULT_MAX_FILE_BYTES;
    return all;
}

struct snapshotter *snapshotter_new(const struct snapshot_options *options)
{
    struct agent_snapshotter *s = mem_alloc(sizeof *s);

    s->port = (struct snapshotter){snapshotter_begin, snapshotter_end, snapshotter_settle,
                                   snapshotter_destroy};
    s->options = snapshot_with_defaults(options);
    s->options.workspace = s->options.home = NULL;
    s->options.added_dirs = NULL;
    s->home = options->home ? mem_strdup(options->home) : NULL;
    pthread_mutex_init(&s->lock, NULL);
    undo_recorder_peers_init(&s->peers);
    sync_ahead_init(&s->disk, options->blobs);
    undo_log_spare_init(&s->spare);
    coverage_init(&s->coverage, options);
    return &s->port;
}
