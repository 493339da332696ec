/* baseline_file.c - a baseline as bytes: numbers in the machine's own order, texts with their
 * length before them, and a hash of all of it at the end. */
#include "sandbox/guard/baseline.h"

#include "base/sha256.h"
#include "sandbox/plan/plan.h"

static const char magic[] = "keel baseline 3\n";

enum { MAX_ITEMS = 1 << 20, MAX_PATH_BYTES = 1 << 20 };

/* --- writing --- */

static void put_number(struct strbuf *b, uint64_t value)
{
    strbuf_add(b, str_make((const char *)&value, sizeof value));
}

static void put_text(struct strbuf *b, struct str text)
{
    put_number(b, text.n);
    strbuf_add(b, text);
}

static void put_item(struct strbuf *b, const struct guarded *item)
{
    put_number(b, item->kind);
    put_number(b, item->mode);
    put_number(b, item->is_made ? 0 : item->identity.inode);
    put_number(b, item->is_made ? 0 : (uint64_t)item->identity.born_ns);
    put_number(b, item->has_content);
    put_text(b, str_of(item->path));
    put_text(b, item->content);
}

void baseline_write(const struct baseline *b, struct strbuf *bytes)
{
    unsigned char digest[SHA256_SIZE];
    struct sha256 h;

    strbuf_add_cstr(bytes, magic);
    put_number(bytes, b->has_namespaces);
    put_number(bytes, (uint64_t)b->time_ns);
    put_text(bytes, str_of(b->root));
    put_number(bytes, b->n);
    for (size_t i = 0; i < b->n; i++)
        put_item(bytes, &b->items[i]);
    put_number(bytes, b->n_directories);
    for (size_t i = 0; i < b->n_directories; i++) {
        put_number(bytes, b->directories[i].names);
        put_number(bytes, b->directories[i].inode);
        put_text(bytes, str_of(b->directories[i].path));
    }
    put_number(bytes, b->n_mount_points);
    for (size_t i = 0; i < b->n_mount_points; i++)
        put_text(bytes, str_of(b->mount_points[i]));
    sha256_init(&h);
    sha256_add(&h, strbuf_str(bytes));
    sha256_end(&h, digest);
    strbuf_add(bytes, str_make((const char *)digest, sizeof digest));
}

/* --- reading --- */

struct baseline_parser {
    struct str rest;
    struct arena *arena;
    bool is_bad;
};

static uint64_t take_number(struct baseline_parser *p)
{
    uint64_t value = 0;

    if (p->rest.n < sizeof value) {
        p->is_bad = true;
        return 0;
    }
    memcpy(&value, p->rest.p, sizeof value);
    p->rest = str_skip(p->rest, sizeof value);
    return value;
}

static uint64_t take_below(struct baseline_parser *p, uint64_t limit)
{
    uint64_t value = take_number(p);

    p->is_bad |= value >= limit;
    return p->is_bad ? 0 : value;
}

static struct str take_text(struct baseline_parser *p)
{
    size_t n = (size_t)take_below(p, p->rest.n + 1);
    struct str text;

    if (p->is_bad || n > p->rest.n) {
        p->is_bad = true;
        return (struct str){0};
    }
    text = arena_str(p->arena, str_slice(p->rest, 0, n));
    p->rest = str_skip(p->rest, n);
    return text;
}

/* "a/b", without anything that leads elsewhere; "" where that is one. */
static bool is_relative(struct str path, bool may_be_empty)
{
    struct str part;

    if (path.n == 0)
        return may_be_empty;
    if (path.n > MAX_PATH_BYTES || memchr(path.p, 0, path.n))
        return false;
    while (str_split(&path, '/', &part))
        if (part.n == 0 || str_is(part, ".") || str_is(part, ".."))
            return false;
    return true;
}

static const char *take_path(struct baseline_parser *p, bool may_be_empty)
{
    struct str path = take_text(p);

    if (!p->is_bad && !is_relative(path, may_be_empty))
        p->is_bad = true;
    return p->is_bad || !path.n ? "" : path.p;
}

static void take_item(struct baseline_parser *p, struct guarded *item)
{
    item->kind = (enum guarded_kind)take_below(p, N_GUARDED_KINDS);
    item->mode = (mode_t)take_below(p, 1 << 16);
    item->identity.inode = take_number(p);
    item->identity.born_ns = (int64_t)take_number(p);
    item->has_content = take_below(p, 2);
    item->path = take_path(p, /* may_be_empty= */ false);
    item->content = take_text(p);
}

static void take_items(struct baseline_parser *p, struct baseline *b)
{
    b->n = (size_t)take_below(p, MIN((uint64_t)MAX_ITEMS, p->rest.n / 8 + 1));
    b->room = b->n + 1;
    b->items = ARENA_ARRAY(p->arena, b->room, struct guarded);
    for (size_t i = 0; !p->is_bad && i < b->n; i++) {
        take_item(p, &b->items[i]);
        b->n_bytes += b->items[i].content.n;
    }
}

static void take_directories(struct baseline_parser *p, struct baseline *b)
{
    b->n_directories = (size_t)take_below(p, MIN((uint64_t)MAX_ITEMS, p->rest.n / 8 + 1));
    b->directories = ARENA_ARRAY(p->arena, b->n_directories + 1, struct directory);
    for (size_t i = 0; !p->is_bad && i < b->n_directories; i++) {
        b->directories[i].names = (unsigned)take_below(p, ALL_GIT_NAMES);
        b->directories[i].inode = take_number(p);
        b->directories[i].path =
            arena_cstr(p->arena, str_of(take_path(p, /* may_be_empty= */ true)));
    }
}

static void take_mount_points(struct baseline_parser *p, struct baseline *b)
{
    size_t n = (size_t)take_below(p, MIN((uint64_t)MAX_ITEMS, p->rest.n / 8 + 1));

    for (size_t i = 0; i < n; i++) {
        const char *path = take_path(p, /* may_be_empty= */ false);

        if (p->is_bad)
            return;
        baseline_add_mount_point(b, path);
    }
}

static bool has_its_hash(struct str bytes)
{
    unsigned char digest[SHA256_SIZE];
    struct sha256 h;

    if (bytes.n < SHA256_SIZE)
        return false;
    sha256_init(&h);
    sha256_add(&h, str_slice(bytes, 0, bytes.n - SHA256_SIZE));
    sha256_end(&h, digest);
    return memcmp(digest, bytes.p + bytes.n - SHA256_SIZE, SHA256_SIZE) == 0;
}

/* As they are searched by halves. */
static bool is_sorted(const struct baseline *b)
{
    for (size_t i = 1; i < b->n; i++)
        if (path_cmp(b->items[i - 1].path, b->items[i].path) >= 0)
            return false;
    for (size_t i = 1; i < b->n_directories; i++)
        if (path_cmp(b->directories[i - 1].path, b->directories[i].path) >= 0)
            return false;
    return true;
}

static bool parse(struct baseline_parser *p, struct baseline *b)
{
    struct str root;

    b->has_namespaces = take_below(p, 2);
    b->time_ns = (int64_t)take_number(p);
    b->covers = "";
    root = take_text(p);
    b->root = root.n ? root.p : "";
    p->is_bad |= b->root[0] != '/' || memchr(root.p, 0, root.n);
    take_items(p, b);
    take_directories(p, b);
    if (p->is_bad || !is_sorted(b))
        return false;
    take_mount_points(p, b);
    return !p->is_bad && p->rest.n == 0 && b->time_ns >= 0;
}

struct err *baseline_parse(struct str bytes, struct baseline **ret_baseline)
{
    AUTO(baseline) struct baseline *b = mem_alloc(sizeof *b);
    struct baseline_parser p = {.arena = &b->arena};

    if (!str_starts(bytes, str_of(magic)) || !has_its_hash(bytes))
        return err_new(ERR_STORAGE, "the record is damaged or from another version of keel");
    p.rest = str_slice(bytes, sizeof magic - 1, bytes.n - (sizeof magic - 1) - SHA256_SIZE);
    if (!parse(&p, b))
        return err_new(ERR_STORAGE, "the record is damaged");
    *ret_baseline = TAKE(b);
    return NULL;
}
