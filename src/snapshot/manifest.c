/* manifest.c - writes and reads lists of files. */
#include "snapshot/manifest.h"

#include <inttypes.h>
#include <stdlib.h>

#define VERSION "keel-tree 1 "
#define MAX_BYTES ((size_t)64 << 20)
#define N_NUMBERS 6
#define STEP ((size_t)1 << 20) /* read at once where the whole is not needed */

void manifest_base_done(struct manifest_base *b)
{
    file_tree_unref(b->tree);
    *b = (struct manifest_base){0};
}

/* --- writing --- */

static void write_record(struct strbuf *out, const struct file_state *f)
{
    char hex[SHA256_HEX_SIZE] = "-";

    if (f->is_saved)
        sha256_format_hex(f->digest, hex);
    strbuf_addf(
        out, "%s %o %s %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\t%s",
        image_kind_name(f->kind), f->mode, hex, f->stamp.mtime_ns, f->stamp.ctime_ns,
        (int64_t)f->stamp.size, (int64_t)f->stamp.inode, (int64_t)f->stamp.device, f->born_ns,
        f->path);
    strbuf_add_char(out, '\0');
}

static void write_head(struct strbuf *out, const char *base)
{
    strbuf_addf(out, VERSION "%s", base);
    strbuf_add_char(out, '\0');
}

static void write_all(struct strbuf *out, const struct file_tree *t)
{
    write_head(out, "-");
    for (size_t i = 0; i < t->n; i++)
        write_record(out, &t->files[i]);
}

static bool is_same_record(const struct file_state *a, const struct file_state *b)
{
    return a->kind == b->kind && a->mode == b->mode && a->is_saved == b->is_saved &&
           stamp_eq(&a->stamp, &b->stamp) &&
           (!a->is_saved || memcmp(a->digest, b->digest, sizeof a->digest) == 0);
}

/* Returns how many records differ; those that are gone are written as nothing. */
static size_t write_difference(struct strbuf *out, const struct file_tree *base, const char *handle,
                               const struct file_tree *t)
{
    size_t i = 0, k = 0, n = 0;

    write_head(out, handle);
    while (i < base->n || k < t->n) {
        int order = i == base->n ? 1
                    : k == t->n  ? -1
                                 : strcmp(base->files[i].path, t->files[k].path);
        struct file_state gone = {.path = i < base->n ? base->files[i].path : NULL};

        if (order < 0) {
            write_record(out, &gone);
            n++;
        } else if (order > 0 || !is_same_record(&base->files[i], &t->files[k])) {
            write_record(out, &t->files[k]);
            n++;
        }
        i += order <= 0;
        k += order >= 0;
    }
    return n;
}

static struct err *put(struct blob_store *blobs, const struct strbuf *text,
                       char handle[SHA256_HEX_SIZE])
{
    TRY(strbuf_check(text, "the list of the workspace's files"));
    return blob_put_soon(blobs, strbuf_str(text), handle);
}

struct err *manifest_store(struct blob_store *blobs, struct file_tree *t,
                           struct manifest_base *base, char handle[SHA256_HEX_SIZE])
{
    AUTO(strbuf) struct strbuf text = {.max_bytes = MAX_BYTES};
    size_t n_changed = base->tree ? write_difference(&text, base->tree, base->handle, t) : 0;

    if (base->tree && n_changed == 0) {
        memcpy(handle, base->handle, SHA256_HEX_SIZE);
        return NULL;
    }
    if (base->tree && !strbuf_is_over(&text) && n_changed <= t->n / 4 + 16)
        return put(blobs, &text, handle);
    strbuf_clear(&text);
    write_all(&text, t);
    TRY(put(blobs, &text, handle));
    manifest_base_done(base);
    base->tree = file_tree_ref(t);
    memcpy(base->handle, handle, SHA256_HEX_SIZE);
    return NULL;
}

/* --- reading --- */

static struct err *damaged(struct str handle)
{
    return err_new(ERR_STORAGE, "the list of files %.12s... is no list of files", handle.p);
}

static bool take_word(struct str *rest, struct str *ret_word)
{
    return rest->n && str_split(rest, ' ', ret_word);
}

static bool parse_digest(struct str hex, struct file_state *f)
{
    if (str_is(hex, "-"))
        return true;
    if (!blob_handle_is_valid(hex))
        return false;
    for (size_t i = 0; i < SHA256_SIZE; i++) {
        char byte[3] = {hex.p[2 * i], hex.p[2 * i + 1]};

        f->digest[i] = (unsigned char)strtoul(byte, NULL, 16);
    }
    return f->is_known = f->is_saved = true;
}

static bool parse_mode(struct str octal, struct file_state *f)
{
    for (size_t i = 0; i < octal.n; i++) {
        if (octal.p[i] < '0' || octal.p[i] > '7' || i == 5)
            return false;
        f->mode = f->mode * 8 + (unsigned)(octal.p[i] - '0');
    }
    return octal.n > 0;
}

/* The record's text ends in NUL, and so does the path in it. */
static bool parse_record(struct str record, struct file_state *f)
{
    size_t tab = str_find_char(record, '\t');
    struct str rest = str_slice(record, 0, tab), word;
    int64_t numbers[N_NUMBERS];

    *f = (struct file_state){0};
    if (tab == STR_NONE || tab + 1 == record.n || record.p[tab + 1] != '/')
        return false;
    if (!take_word(&rest, &word) || !image_kind_find(word, &f->kind))
        return false;
    if (!take_word(&rest, &word) || !parse_mode(word, f))
        return false;
    if (!take_word(&rest, &word) || !parse_digest(word, f))
        return false;
    for (size_t i = 0; i < N_NUMBERS; i++)
        if (!take_word(&rest, &word) || !str_to_int64(word, &numbers[i]))
            return false;
    f->stamp = (struct stamp){.mtime_ns = numbers[0],
                              .ctime_ns = numbers[1],
                              .size = (uint64_t)numbers[2],
                              .inode = (uint64_t)numbers[3],
                              .device = (uint64_t)numbers[4]};
    f->born_ns = numbers[5];
    f->path = record.p + tab + 1;
    return true;
}

/* Adds the records to the tree, or with a base what of it they leave. */
static struct err *parse_records(struct str rest, struct str handle, const struct file_tree *base,
                                 struct file_tree *t)
{
    size_t i = 0;

    while (rest.n) {
        struct str record;
        struct file_state f;

        str_split(&rest, '\0', &record);
        if (!parse_record(record, &f))
            return damaged(handle);
        for (; base && i < base->n && strcmp(base->files[i].path, f.path) < 0; i++)
            file_tree_add(t, &base->files[i]);
        if (base && i < base->n && strcmp(base->files[i].path, f.path) == 0)
            i++;
        if (f.kind != IMAGE_NONE)
            file_tree_add(t, &f);
    }
    for (; base && i < base->n; i++)
        file_tree_add(t, &base->files[i]);
    file_tree_sort(t);
    return NULL;
}

static struct err *load(struct blob_store *blobs, struct str handle, bool is_base,
                        struct file_tree **ret_tree)
{
    AUTO(strbuf) struct strbuf text = {.max_bytes = MAX_BYTES};
    AUTO(file_tree) struct file_tree *base = NULL, *t = file_tree_new();
    struct str rest, head;

    TRY(blob_get(blobs, handle, &text));
    rest = strbuf_str(&text);
    if (!rest.n || rest.p[rest.n - 1] != '\0' || !str_split(&rest, '\0', &head) ||
        !str_starts(head, S(VERSION)))
        return damaged(handle);
    head = str_skip(head, strlen(VERSION));
    if (!str_is(head, "-")) {
        if (is_base) /* one step only */
            return damaged(handle);
        TRY(load(blobs, head, /* is_base= */ true, &base));
    }
    TRY(parse_records(rest, handle, base, t));
    *ret_tree = TAKE(t);
    return NULL;
}

struct err *manifest_load(struct blob_store *blobs, struct str handle, struct file_tree **ret_tree)
{
    return load(blobs, handle, /* is_base= */ false, ret_tree);
}

/* --- contents --- */

/* The records that the buffer holds whole; the first of all is the head. */
static struct err *tell_contents(struct strbuf *buffer, struct str handle, bool *is_first,
                                 void (*on_content)(void *self, struct str handle), void *self)
{
    struct str rest = strbuf_str(buffer);
    size_t end;

    while ((end = str_find_char(rest, '\0')) != STR_NONE) {
        struct str record = str_slice(rest, 0, end);
        struct file_state f = {0};
        char hex[SHA256_HEX_SIZE];

        rest = str_skip(rest, end + 1);
        if (*is_first ? !str_starts(record, S(VERSION)) : !parse_record(record, &f))
            return damaged(handle);
        *is_first = false;
        if (!f.is_saved)
            continue;
        sha256_format_hex(f.digest, hex);
        on_content(self, str_of(hex));
    }
    strbuf_drop_front(buffer, buffer->n - rest.n);
    return NULL;
}

struct err *manifest_each_content(struct blob_store *blobs, struct str handle,
                                  void (*on_content)(void *self, struct str handle), void *self)
{
    AUTO(strbuf) struct strbuf buffer = {.max_bytes = 2 * STEP};
    bool is_first = true;
    uint64_t at = 0;
    size_t n_before;

    do {
        n_before = buffer.n;
        TRY(blob_get_range(blobs, handle, at, STEP, &buffer));
        TRY(strbuf_check(&buffer, "a file of the list"));
        at += buffer.n - n_before;
        if (buffer.n == n_before)
            return buffer.n || is_first ? damaged(handle) : NULL;
        TRY(tell_contents(&buffer, handle, &is_first, on_content, self));
    } while (true);
}
