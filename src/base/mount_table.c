/* mount_table.c - mounts, and the paths that lead to the same file through them. */
#include "base/mount_table.h"

enum { MAX_ENTRIES = 100000 }; /* the kernel's own limit */

/* --- reading --- */

static bool is_octal(char c)
{
    return c >= '0' && c <= '7';
}

/* Blanks and backslashes are written like "\040". */
static struct str unescape(struct arena *a, struct str text)
{
    char *out = arena_alloc(a, text.n + 1);
    size_t n = 0;

    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '\\' && i + 3 < text.n && is_octal(text.p[i + 1]) &&
            is_octal(text.p[i + 2]) && is_octal(text.p[i + 3])) {
            out[n++] = (char)((text.p[i + 1] - '0') * 64 + (text.p[i + 2] - '0') * 8 +
                              (text.p[i + 3] - '0'));
            i += 3;
        } else {
            out[n++] = text.p[i];
        }
    }
    return str_make(out, n);
}

static bool read_number(struct str text, unsigned *ret)
{
    uint64_t value = 0;

    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9')
            return false;
        value = value * 10 + (uint64_t)(text.p[i] - '0');
        if (value > UINT32_MAX)
            return false;
    }
    *ret = (unsigned)value;
    return text.n > 0;
}

/* The directory in which a file system shows its own snapshots. */
static struct str snapshot_directory(struct str type)
{
    static const struct {
        const char *type, *name;
    } known[] = {
        {"btrfs", "/.snapshots"}, {"zfs", "/.zfs"},   {"nfs", "/.snapshot"},
        {"nfs4", "/.snapshot"},   {"ceph", "/.snap"}, {"fuse.ceph", "/.snap"},
    };

    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (str_is(type, known[i].type))
            return str_of(known[i].name);
    return S("");
}

/* Absolute, with a name as each part. Places outside of this process's root have other paths, and
 * network namespaces have none. */
static bool is_plain_path(struct str path)
{
    struct str name;

    if (!str_starts(path, S("/")) || memchr(path.p, 0, path.n))
        return false;
    if (path.n == 1)
        return true;
    path = str_skip(path, 1);
    while (str_split(&path, '/', &name))
        if (name.n == 0 || str_is(name, ".") || str_is(name, ".."))
            return false;
    return true;
}

/* Of layers that others have mounted only absolute paths can be found. */
static void add_layer(struct arena *a, struct mount_entry *e, struct str path)
{
    if (!is_plain_path(path) || path.n == 1)
        return;
    e->layers = arena_grow(a, e->layers, e->n_layers, &e->layer_room, sizeof *e->layers);
    e->layers[e->n_layers++] = path;
}

/* "/a:/b": a colon in a name has a backslash before it. */
static void add_layers(struct arena *a, struct mount_entry *e, struct str list)
{
    char *path = arena_alloc(a, list.n + 1);
    size_t n = 0;

    for (size_t i = 0; i <= list.n; i++) {
        if (i == list.n || list.p[i] == ':') {
            add_layer(a, e, arena_str(a, str_make(path, n)));
            n = 0;
            continue;
        }
        if (list.p[i] == '\\' && i + 1 < list.n)
            i++;
        path[n++] = list.p[i];
    }
}

/* Reads the directories of an overlay, "rw,lowerdir=/a:/b,upperdir=/c", and the one that a program
 * like bindfs says it shows. */
static void read_layers(struct arena *a, struct mount_entry *e, struct str options)
{
    static const struct str names[] = {S("lowerdir="), S("lowerdir+="), S("upperdir="),
                                       S("datadir+=")};
    struct str option;

    if (str_starts(e->type, S("fuse")))
        add_layer(a, e, e->source);
    while (str_is(e->type, "overlay") && str_split(&options, ',', &option))
        for (size_t i = 0; i < ARRAY_LEN(names); i++)
            if (str_starts(option, names[i]))
                add_layers(a, e, unescape(a, str_skip(option, names[i].n)));
}

/* "36 35 98:0 /root /place rw,noatime master:1 - ext4 /dev/root rw" */
static bool read_line(struct arena *a, struct str line, struct mount_entry *ret)
{
    struct str words[6], word = {0}, type, source;

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (!str_split(&line, ' ', &words[i]))
            return false;
    while (!str_is(word, "-"))
        if (!str_split(&line, ' ', &word))
            return false;
    if (!str_split(&line, ' ', &type) || !str_split(&line, ' ', &source))
        return false;
    *ret = (struct mount_entry){.device = arena_str(a, words[2]),
                                .root = unescape(a, words[3]),
                                .place = unescape(a, words[4]),
                                .type = arena_str(a, type),
                                .source = unescape(a, source)};
    read_layers(a, ret, line);
    return read_number(words[0], &ret->id) && read_number(words[1], &ret->parent) &&
           is_plain_path(ret->root) && is_plain_path(ret->place);
}

static bool has_id(const struct mount_table *t, unsigned id)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->entries[i].id == id)
            return true;
    return false;
}

static bool has_aliases(const struct mount_table *t, const struct mount_entry *e)
{
    if (snapshot_directory(e->type).n)
        return true;
    for (size_t i = 0; i < t->n; i++)
        if (&t->entries[i] != e && str_eq(t->entries[i].device, e->device))
            return true;
    return false;
}

void mount_table_parse(struct mount_table *t, struct arena *a, struct str mountinfo)
{
    struct str line;

    *t = (struct mount_table){0};
    while (t->n < MAX_ENTRIES && str_split(&mountinfo, '\n', &line)) {
        struct mount_entry entry;

        if (!read_line(a, line, &entry))
            continue;
        t->entries = arena_grow(a, t->entries, t->n, &t->room, sizeof *t->entries);
        t->entries[t->n++] = entry;
    }
    for (struct mount_entry *e = t->entries; e < t->entries + t->n; e++) {
        if (has_aliases(t, e)) {
            t->with_aliases = arena_grow(a, t->with_aliases, t->n_with_aliases,
                                         &t->with_aliases_room, sizeof(void *));
            t->with_aliases[t->n_with_aliases++] = e;
        }
        if (str_is(e->place, "/") && !has_id(t, e->parent))
            t->top = e;
        t->has_layers |= e->n_layers > 0;
    }
}

/* --- paths --- */

/* Is `path` the directory or in it? */
static bool is_in(struct str path, struct str directory)
{
    struct str rest = str_skip(path, directory.n);

    return str_starts(path, directory) &&
           (directory.n == 1 || rest.n == 0 || str_starts(rest, S("/")));
}

/* The part after the directory: "" or "/...". */
static struct str rest_of(struct str path, struct str directory)
{
    struct str rest = str_skip(path, directory.n == 1 ? 0 : directory.n);

    return str_is(rest, "/") ? S("") : rest;
}

static const char *join(struct arena *a, struct str directory, struct str rest)
{
    if (directory.n == 1)
        directory = rest.n ? S("") : directory;
    return arena_format(a, "%" STR_FMT "%" STR_FMT, STR_ARG(directory), STR_ARG(rest)).p;
}

/* A path is walked from the mount of "/" down: at each mount, the first one on the way is the next.
 * A mount that was covered later is not a child of its cover, and is not met. */
const struct mount_entry *mount_table_find(const struct mount_table *t, struct str path)
{
    const struct mount_entry *at = t->top, *next;

    for (size_t n_steps = 0; at && n_steps < t->n; n_steps++, at = next) {
        next = NULL;
        for (const struct mount_entry *e = t->entries; e < t->entries + t->n; e++)
            if (e->parent == at->id && e != at && is_in(path, e->place) &&
                (!next || e->place.n < next->place.n))
                next = e;
        if (!next)
            break;
    }
    return at;
}

/* statfs() does not tell which they are: devtmpfs looks like any tmpfs. */
bool mount_entry_is_virtual(const struct mount_entry *e)
{
    static const char *const types[] = {
        "proc",     "sysfs",   "devtmpfs",    "devpts",     "cgroup",    "cgroup2",    "debugfs",
        "tracefs",  "bpf",     "configfs",    "securityfs", "selinuxfs", "smackfs",    "pstore",
        "efivarfs", "mqueue",  "binfmt_misc", "fusectl",    "hugetlbfs", "rpc_pipefs", "nfsd",
        "nsfs",     "resctrl", "binder",      "xenfs",      "pidfs",
    };

    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (str_is(e->type, types[i]))
            return true;
    return false;
}

/* --- the other names of a path --- */

struct alias_search {
    const struct mount_table *table;
    struct arena *arena;
    const char *path;
    const struct mount_entry *mount; /* that shows it */
    struct str inside;               /* its path in the file system */
    void (*found)(void *self, const char *alias, const char *shows);
    void *self;
};

static void report_alias(const struct alias_search *s, const char *alias, const char *shows)
{
    if (strcmp(alias, s->path) != 0)
        s->found(s->self, alias, shows);
}

static bool has_snapshots_as_mounts(struct str type)
{
    return str_is(type, "btrfs") || str_is(type, "bcachefs") || str_is(type, "zfs");
}

/* A snapshot has the paths of its original. */
static bool may_be_snapshot(const struct mount_entry *of, const struct mount_entry *e)
{
    if (!has_snapshots_as_mounts(of->type) || !str_eq(of->type, e->type))
        return false;
    if (str_is(of->type, "zfs"))
        return str_starts(e->source, of->source) && e->source.n > of->source.n &&
               e->source.p[of->source.n] == '@';
    return str_eq(of->device, e->device);
}

static void look_at(const struct alias_search *s, const struct mount_entry *e)
{
    bool is_same = str_eq(e->device, s->mount->device);
    struct str path = str_of(s->path);
    const char *alias, *shows = s->path;

    if (is_same && is_in(s->inside, e->root)) {
        alias = join(s->arena, e->place, rest_of(s->inside, e->root));
    } else if (is_same && is_in(e->root, s->inside)) {
        alias = arena_cstr(s->arena, e->place);
        shows = join(s->arena, path, rest_of(e->root, s->inside));
    } else if (may_be_snapshot(s->mount, e)) {
        alias = join(s->arena, e->place, rest_of(path, s->mount->place));
    } else {
        return;
    }
    if (mount_table_find(s->table, e->place) == e) /* otherwise it is covered */
        report_alias(s, alias, shows);
}

/* A whole layer may be hidden. But the source of a container's root, in the words of another
 * machine, is not a place of this one. */
static void look_at_layer(const struct alias_search *s, const struct mount_entry *e,
                          struct str layer)
{
    struct str path = str_of(s->path);

    if (mount_table_find(s->table, e->place) != e)
        return;
    if (is_in(path, layer))
        report_alias(s, join(s->arena, e->place, rest_of(path, layer)), s->path);
    else if (is_in(layer, path) && !is_in(path, e->place))
        report_alias(s, arena_cstr(s->arena, e->place), arena_cstr(s->arena, layer));
}

/* Most paths are on a file system that is mounted once. */
static bool may_have_aliases(const struct mount_table *t, struct str path)
{
    if (t->has_layers)
        return true;
    for (size_t i = 0; i < t->n_with_aliases; i++)
        if (is_in(path, t->with_aliases[i]->place))
            return true;
    return false;
}

void mount_table_each_alias(const struct mount_table *t, struct arena *a, const char *path,
                            void (*found)(void *self, const char *alias, const char *shows),
                            void *self)
{
    struct alias_search s = {.table = t, .arena = a, .path = path, .found = found, .self = self};
    struct str snapshots;

    if (!may_have_aliases(t, str_of(path)))
        return;
    s.mount = mount_table_find(t, str_of(path));
    if (!s.mount)
        return;
    s.inside = str_of(join(a, s.mount->root, rest_of(str_of(path), s.mount->place)));
    for (size_t i = 0; i < t->n; i++)
        if (&t->entries[i] != s.mount)
            look_at(&s, &t->entries[i]);
    for (const struct mount_entry *e = t->entries; e < t->entries + t->n; e++)
        for (size_t i = 0; i < e->n_layers; i++)
            look_at_layer(&s, e, e->layers[i]);
    snapshots = snapshot_directory(s.mount->type);
    if (snapshots.n && !is_in(str_of(path), str_of(join(a, s.mount->place, snapshots))))
        report_alias(&s, join(a, s.mount->place, snapshots), path);
}
