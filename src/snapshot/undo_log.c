/* undo_log.c - writes and reads the log of a command. */
#include "snapshot/undo_log.h"

#include "base/base64.h"
#include "base/checksum.h"
#include "sys/auto_fd.h"
#include "sys/fs.h"
#include "sys/random.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#define DIR_NAME "undo"
#define HEAD "keel-undo 3"
#define SECOND_HEAD "keel-undo 2"
#define FIRST_HEAD "keel-undo 1"
#define REPORTED "reported"
#define FULL "full" /* further records are missing */
#define ATTRIBUTES "attributes"
#define IGNORED "ignored:"
#define XATTRS "xattrs:" /* followed by their hash and a colon */
#define N_SUM 16         /* digits */
#define KEPT_SECONDS ((time_t)UNDO_LOG_KEPT_DAYS * 24 * 60 * 60)
#define SPARE_MAX_BYTES ((off_t)1 << 20) /* longer ones are not worth keeping */

/* --- writing --- */

void undo_log_init(struct undo_log *l, const char *home, struct undo_log_spare *spare)
{
    unsigned char bytes[(UNDO_LOG_NAME_SIZE - 1) / 2];

    *l = (struct undo_log){.spare = spare, .fd = -1};
    if (!home)
        return;
    random_fill(&random_system, bytes, sizeof bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(l->name + 2 * i, 3, "%02x", bytes[i]);
    l->first_sum = checksum_add(CHECKSUM_START, str_of(l->name));
    l->dir = mem_strdup(home);
}

void undo_log_done(struct undo_log *l)
{
    close_fd(&l->fd);
    mem_free(l->dir);
    *l = (struct undo_log){.fd = -1};
}

static const char *dir_of(struct arena *a, const char *home)
{
    return fs_join(a, home, DIR_NAME);
}

/* False: none. */
static bool take_spare(struct undo_log_spare *s, struct arena *a, const char *dir, const char *path)
{
    bool has_it;

    if (!s)
        return false;
    pthread_mutex_lock(&s->lock);
    has_it = s->name[0] && rename(fs_join(a, dir, s->name), path) == 0;
    s->name[0] = '\0';
    pthread_mutex_unlock(&s->lock);
    return has_it;
}

static bool make_file(struct undo_log *l)
{
    AUTO(arena) struct arena a = {0};
    const char *dir = dir_of(&a, l->dir), *path = fs_join(&a, dir, l->name);
    int flags = O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
    struct err *e;

    if (!take_spare(l->spare, &a, dir, path)) {
        flags |= O_CREAT | O_EXCL;
        e = fs_make_dirs(dir, 0700);
        if (e) {
            err_ignore(e, "only a process that is killed would need it");
            return false;
        }
    }
    l->fd = open(path, flags, 0600);
    return l->fd >= 0;
}

/* Overwrites one byte, for which a full disk has room. */
static void remove_end(const struct undo_log *l)
{
    (void)!pwrite(l->fd, "!", 1, (off_t)l->n_written);
}

static bool append(struct undo_log *l, struct str text)
{
    AUTO(strbuf) struct strbuf record = {0};
    bool is_first = l->fd < 0;
    ssize_t n;

    if (!l->dir || l->has_failed)
        return false;
    if (is_first && !make_file(l)) {
        l->has_failed = true;
        return false;
    }
    if (is_first)
        strbuf_add(&record, str_make(HEAD, sizeof HEAD));
    strbuf_addf(&record, "%016" PRIx64 " ", checksum_add(l->first_sum, text));
    strbuf_add(&record, text);
    strbuf_add_char(&record, '\0');
    strbuf_add_char(&record, '\0');
    n = pwrite(l->fd, record.p, record.n, (off_t)l->n_written);
    l->has_failed = n != (ssize_t)record.n; /* records after half a record do not count */
    if (l->has_failed)
        remove_end(l);
    l->n_written += record.n - 1;
    return !l->has_failed;
}

static void add_hex(struct strbuf *out, const unsigned char digest[SHA256_SIZE])
{
    char hex[SHA256_HEX_SIZE];

    sha256_format_hex(digest, hex);
    strbuf_add_cstr(out, hex);
}

static void add_content(struct strbuf *out, const struct file_state *f, bool has_attributes_only)
{
    if (f->is_ignored)
        strbuf_add_cstr(out, IGNORED);
    if (f->has_xattrs) {
        strbuf_add_cstr(out, XATTRS);
        add_hex(out, f->xattrs);
        strbuf_add_char(out, ':');
    }
    if (has_attributes_only || !f->is_saved) {
        strbuf_add_cstr(out, has_attributes_only ? ATTRIBUTES : "-");
        return;
    }
    add_hex(out, f->digest);
    if (f->has_bytes) {
        strbuf_add_char(out, '=');
        base64_add(out, f->bytes);
    }
}

bool undo_log_add(struct undo_log *l, const struct file_state *f, bool has_attributes_only)
{
    AUTO(strbuf) struct strbuf text = {0};

    strbuf_addf(&text,
                "%s %o %u %u %u %" PRId64 " %" PRId64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " ",
                image_kind_name(f->kind), f->mode, f->uid, f->gid, f->n_names, f->stamp.mtime_ns,
                f->stamp.ctime_ns, f->stamp.size, f->stamp.inode, f->stamp.device);
    add_content(&text, f, has_attributes_only);
    strbuf_addf(&text, " %s\t%s", f->why_not ? f->why_not : "", f->path);
    if (!l->is_full && l->n_bytes + text.n > UNDO_LOG_MAX_BYTES) {
        l->is_full = true;
        append(l, S(FULL));
    }
    if (l->is_full)
        return false;
    l->n_bytes += text.n;
    append(l, strbuf_str(&text));
    return true;
}

void undo_log_end(struct undo_log *l)
{
    if (l->fd >= 0)
        append(l, S(REPORTED));
}

/* --- removing --- */

static bool is_name(struct str name)
{
    for (size_t i = 0; i < name.n; i++)
        if (!strchr("0123456789abcdef", name.p[i]))
            return false;
    return name.n == UNDO_LOG_NAME_SIZE - 1;
}

static const char *path_of(struct arena *a, const char *home, struct str name)
{
    return fs_join(a, dir_of(a, home), arena_cstr(a, name));
}

void undo_log_remove(const char *home, struct str name)
{
    AUTO(arena) struct arena a = {0};

    if (home && is_name(name))
        unlink(path_of(&a, home, name));
}

void undo_log_spare_init(struct undo_log_spare *s)
{
    *s = (struct undo_log_spare){0};
    pthread_mutex_init(&s->lock, NULL);
}

void undo_log_spare_done(struct undo_log_spare *s)
{
    pthread_mutex_destroy(&s->lock);
}

/* Makes it an empty log, whatever its next name. */
static bool empty_spare(const char *path)
{
    AUTO_FD fd = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;

    return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= SPARE_MAX_BYTES &&
           pwrite(fd, "", 1, sizeof HEAD) == 1;
}

void undo_log_spare_put(struct undo_log_spare *s, const char *home, struct str name)
{
    AUTO(arena) struct arena a = {0};
    bool is_kept;

    if (!home || !is_name(name))
        return;
    pthread_mutex_lock(&s->lock);
    is_kept = !s->name[0] && empty_spare(path_of(&a, home, name));
    if (is_kept)
        snprintf(s->name, sizeof s->name, "%" STR_FMT, STR_ARG(name));
    pthread_mutex_unlock(&s->lock);
    if (!is_kept)
        undo_log_remove(home, name);
}

void undo_log_spare_remove(struct undo_log_spare *s, const char *home)
{
    pthread_mutex_lock(&s->lock);
    undo_log_remove(home, str_of(s->name));
    s->name[0] = '\0';
    pthread_mutex_unlock(&s->lock);
}

void undo_log_sweep(const char *home)
{
    AUTO(arena) struct arena a = {0};
    DIR *dir = home ? opendir(dir_of(&a, home)) : NULL;
    const struct dirent *entry;
    struct stat st;

    while (dir && (entry = readdir(dir)))
        if (is_name(str_of(entry->d_name)) && fstatat(dirfd(dir), entry->d_name, &st, 0) == 0 &&
            st.st_mtime < time(NULL) - KEPT_SECONDS)
            unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir)
        closedir(dir);
}

/* --- reading --- */

static bool take_word(struct str *rest, struct str *ret_word)
{
    return rest->n && str_split(rest, ' ', ret_word);
}

static bool take_number(struct str *rest, unsigned base, uint64_t *ret_number)
{
    char digits[24], *end;
    struct str word;

    if (!take_word(rest, &word) || word.n == 0 || word.n >= sizeof digits)
        return false;
    memcpy(digits, word.p, word.n);
    digits[word.n] = '\0';
    if (digits[0] != '-' && (digits[0] < '0' || digits[0] > '9'))
        return false;
    errno = 0;
    *ret_number = digits[0] == '-' ? (uint64_t)strtoll(digits, &end, (int)base)
                                   : strtoull(digits, &end, (int)base);
    return !errno && !*end;
}

static bool parse_digest(struct str hex, unsigned char digest[SHA256_SIZE])
{
    if (!blob_handle_is_valid(hex))
        return false;
    for (size_t i = 0; i < SHA256_SIZE; i++) {
        char byte[3] = {hex.p[2 * i], hex.p[2 * i + 1]};

        digest[i] = (unsigned char)strtoul(byte, NULL, 16);
    }
    return true;
}

static bool parse_xattrs(struct str *word, struct file_state *f)
{
    struct str hex;

    f->has_xattrs = str_starts(*word, S(XATTRS));
    if (!f->has_xattrs)
        return true;
    *word = str_skip(*word, strlen(XATTRS));
    return str_split(word, ':', &hex) && parse_digest(hex, f->xattrs);
}

static bool parse_bytes(struct str base64, struct arena *a, struct file_state *f)
{
    AUTO(strbuf) struct strbuf bytes = {0};
    AUTO(err) struct err *e = base64_decode(&bytes, base64);

    f->has_bytes = !e;
    f->bytes = arena_str(a, strbuf_str(&bytes));
    return !e;
}

static bool parse_content(struct str word, struct arena *a, struct undo_record *r)
{
    struct str hex;

    r->state.is_ignored = str_starts(word, S(IGNORED));
    if (r->state.is_ignored)
        word = str_skip(word, strlen(IGNORED));
    if (!parse_xattrs(&word, &r->state))
        return false;
    r->has_attributes_only = str_is(word, ATTRIBUTES);
    if (r->has_attributes_only || str_is(word, "-"))
        return true;
    str_split(&word, '=', &hex);
    r->state.is_known = r->state.is_saved = parse_digest(hex, r->state.digest);
    return r->state.is_saved && (!word.p || parse_bytes(word, a, &r->state));
}

static bool parse_record(struct str record, struct arena *a, struct undo_record *r)
{
    enum { MODE, UID, GID, NAMES, MTIME, CTIME, SIZE, INODE, DEVICE, N_NUMBERS };
    size_t tab = str_find_char(record, '\t');
    struct str rest = str_slice(record, 0, tab), word;
    uint64_t n[N_NUMBERS];

    *r = (struct undo_record){0};
    if (tab == STR_NONE || tab + 1 == record.n || record.p[tab + 1] != '/' ||
        !take_word(&rest, &word) || !image_kind_find(word, &r->state.kind))
        return false;
    for (size_t i = 0; i < N_NUMBERS; i++)
        if (!take_number(&rest, i == MODE ? 8 : 10, &n[i]))
            return false;
    if (!take_word(&rest, &word) || !parse_content(word, a, r))
        return false;
    r->state.mode = (unsigned)n[MODE] & 07777;
    r->state.uid = (unsigned)n[UID];
    r->state.gid = (unsigned)n[GID];
    r->state.n_names = (unsigned)n[NAMES];
    r->state.stamp = (struct stamp){.mtime_ns = (int64_t)n[MTIME],
                                    .ctime_ns = (int64_t)n[CTIME],
                                    .size = n[SIZE],
                                    .inode = n[INODE],
                                    .device = n[DEVICE]};
    r->state.why_not = rest.n ? arena_cstr(a, rest) : NULL;
    r->state.path = arena_cstr(a, str_skip(record, tab + 1));
    return true;
}

static bool has_its_sum(struct str *record, uint64_t first_sum)
{
    char sum[N_SUM + 1];
    struct str text = str_skip(*record, N_SUM + 1);

    if (record->n <= N_SUM || record->p[N_SUM] != ' ')
        return false;
    snprintf(sum, sizeof sum, "%016" PRIx64, checksum_add(first_sum, text));
    if (memcmp(sum, record->p, N_SUM) != 0)
        return false;
    *record = text;
    return true;
}

/* The version at the start, which is cut off; 0: an unknown one. */
static int take_head(struct str *text)
{
    static const char *const heads[] = {FIRST_HEAD, SECOND_HEAD, HEAD};

    for (size_t i = 0; i < ARRAY_LEN(heads); i++)
        if (str_starts(*text, str_make(heads[i], sizeof HEAD))) {
            *text = str_skip(*text, sizeof HEAD);
            return (int)i + 1;
        }
    return 0;
}

/* False: it is damaged. */
static bool take_record(struct str record, uint64_t first_sum, struct arena *a,
                        struct undo_records *all)
{
    struct undo_record r;

    if (!has_its_sum(&record, first_sum))
        return false;
    if (str_is(record, REPORTED)) {
        all->is_reported = true;
        return true;
    }
    if (str_is(record, FULL) || !parse_record(record, a, &r))
        return false;
    all->items = arena_grow(a, all->items, all->n, &all->room, sizeof *all->items);
    all->items[all->n++] = r;
    return true;
}

void undo_log_parse(struct str text, struct str name, struct arena *a,
                    struct undo_records *ret_records)
{
    bool is_empty = text.n == 0; /* it was made, and nothing had changed yet */
    int version = take_head(&text);
    uint64_t first_sum = version == 1 ? CHECKSUM_START : checksum_add(CHECKSUM_START, name);
    bool has_end = false, is_sound = version > 0;
    struct str record;

    *ret_records = (struct undo_records){0};
    while (is_sound && !has_end && str_find_char(text, '\0') != STR_NONE) {
        str_split(&text, '\0', &record);
        has_end = version > 2 && record.n == 0;
        is_sound = has_end || take_record(record, first_sum, a, ret_records);
    }
    ret_records->is_cut = !is_empty && (version > 2 ? !has_end : version == 0);
}

struct err *undo_log_read(const char *home, struct str name, struct arena *a,
                          struct undo_records *ret_records, bool *ret_exists)
{
    AUTO(strbuf) struct strbuf text = {.max_bytes = 2 * UNDO_LOG_MAX_BYTES};

    *ret_records = (struct undo_records){0};
    *ret_exists = false;
    if (!home || !is_name(name))
        return NULL;
    TRY(fs_read(path_of(a, home, name), &text, ret_exists));
    undo_log_parse(strbuf_str(&text), name, a, ret_records);
    return NULL;
}
