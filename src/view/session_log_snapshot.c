/* session_log_snapshot.c - writes and reads former states of files as fields of log lines. */
#include "view/session_log_fields.h"

#include "base/base64.h"
#include "base/utf8.h"

/* Names of files are bytes; those that are not UTF-8 are also written in base64. */
void session_log_path(struct json_writer *w, struct str path)
{
    AUTO(strbuf) struct strbuf exact = {0};

    jw_kv_str(w, "path", path);
    if (utf8_is_valid(path))
        return;
    base64_add(&exact, path);
    jw_kv_str(w, "pathBase64", strbuf_str(&exact));
}

static void identity_fields(struct json_writer *w, const struct file_identity *id)
{
    jw_key(w, "identity");
    jw_begin_object(w);
    jw_kv_int(w, "device", (int64_t)id->device);
    jw_kv_int(w, "inode", (int64_t)id->inode);
    jw_kv_int(w, "size", (int64_t)id->size);
    jw_kv_int(w, "mtimeNs", id->mtime_ns);
    jw_kv_int(w, "ctimeNs", id->ctime_ns);
    jw_end_object(w);
}

static void image_fields(struct json_writer *w, const struct pre_image *p)
{
    session_log_path(w, p->path);
    jw_kv_bool(w, "existed", p->kind != IMAGE_NONE);
    jw_kv_str(w, "kind", str_of(image_kind_name(p->kind)));
    jw_kv_int(w, "mode", p->mode);
    if (p->has_owner) {
        jw_kv_int(w, "uid", p->uid);
        jw_kv_int(w, "gid", p->gid);
    }
    if (p->has_xattrs)
        jw_kv_str(w, "xattrs", p->xattrs);
    if (p->n_names) {
        jw_kv_int(w, "names", p->n_names);
        jw_kv_int(w, "device", (int64_t)p->device);
        jw_kv_int(w, "inode", (int64_t)p->inode);
    }
    session_log_text(w, "content", p->content);
    if (p->keeps_content)
        jw_kv_bool(w, "keepsContent", true);
    session_log_text(w, "whyNot", p->why_not);
    if (p->is_ignored)
        jw_kv_bool(w, "ignored", true);
    if (p->identity.inode)
        identity_fields(w, &p->identity);
}

void session_log_snapshot(struct json_writer *w, const struct event_snapshot *b)
{
    const struct snapshot_record *r = b->record;

    jw_kv_str(w, "toolCallId", b->call_id);
    if (r->has_file) {
        jw_key(w, "file");
        jw_begin_object(w);
        image_fields(w, &r->file);
        jw_end_object(w);
    }
    session_log_text(w, "log", r->log);
    if (r->tree.n) {
        jw_kv_str(w, "tree", r->tree);
        jw_kv_int(w, "takenNs", r->taken_ns);
        jw_kv_int(w, "readyNs", r->ready_ns);
        jw_kv_int(w, "files", (int64_t)r->n_files);
    }
    session_log_text(w, "unsaved", r->unsaved);
}

void session_log_pre_image(struct json_writer *w, const struct event_image *b)
{
    session_log_text(w, "toolCallId", b->call_id);
    image_fields(w, b->image);
    jw_kv_str(w, "after", b->image->after);
}

/* --- reading --- */

static struct str parse_path(const struct json *v, struct arena *a)
{
    struct str exact = json_get_text(v, "pathBase64");
    AUTO(strbuf) struct strbuf bytes = {0};
    AUTO(err) struct err *e = exact.n ? base64_decode(&bytes, exact) : NULL;

    return exact.n && !e ? arena_str(a, strbuf_str(&bytes)) : json_get_text(v, "path");
}

static void parse_bytes(const struct json *v, struct arena *a, struct pre_image *p)
{
    const struct json *text = json_get(v, "bytes");
    AUTO(strbuf) struct strbuf bytes = {0};
    AUTO(err) struct err *e = text ? base64_decode(&bytes, json_get_text(v, "bytes")) : NULL;

    p->has_bytes = text && !e;
    p->bytes = p->has_bytes ? arena_str(a, strbuf_str(&bytes)) : (struct str){0};
}

static struct file_identity parse_identity(const struct json *v)
{
    return (struct file_identity){
        .device = (uint64_t)json_int_or(json_get(v, "device"), 0),
        .inode = (uint64_t)json_int_or(json_get(v, "inode"), 0),
        .size = (uint64_t)json_int_or(json_get(v, "size"), 0),
        .mtime_ns = json_int_or(json_get(v, "mtimeNs"), 0),
        .ctime_ns = json_int_or(json_get(v, "ctimeNs"), 0),
    };
}

const struct pre_image *pre_image_parse(const struct json *v, struct arena *a)
{
    struct pre_image *p = ARENA_NEW(a, struct pre_image);

    p->path = parse_path(v, a);
    if (!image_kind_find(json_get_text(v, "kind"), &p->kind)) {
        p->kind = IMAGE_OTHER;
        p->why_not = S("the record does not say what it was");
        return p;
    }
    p->mode = (unsigned)json_int_or(json_get(v, "mode"), 0) & 07777;
    p->has_owner = json_get(v, "uid") && json_get(v, "gid");
    p->uid = (unsigned)json_int_or(json_get(v, "uid"), 0);
    p->gid = (unsigned)json_int_or(json_get(v, "gid"), 0);
    p->has_xattrs = json_get(v, "xattrs") != NULL;
    p->xattrs = json_get_text(v, "xattrs");
    p->n_names = (unsigned)json_int_or(json_get(v, "names"), 0);
    p->device = (uint64_t)json_int_or(json_get(v, "device"), 0);
    p->inode = (uint64_t)json_int_or(json_get(v, "inode"), 0);
    p->keeps_content = json_bool(json_get(v, "keepsContent"), false);
    p->content = json_get_text(v, "content");
    parse_bytes(v, a, p);
    p->why_not = json_get_text(v, "whyNot");
    p->is_ignored = json_bool(json_get(v, "ignored"), false);
    p->identity = parse_identity(json_get(v, "identity"));
    p->after = json_get_text(v, "after");
    return p;
}

const struct snapshot_record *snapshot_record_parse(const struct json *v, struct arena *a)
{
    struct snapshot_record *r = ARENA_NEW(a, struct snapshot_record);
    const struct json *file = json_get(v, "file");

    r->has_file = file != NULL;
    if (file)
        r->file = *pre_image_parse(file, a);
    r->log = json_get_text(v, "log");
    r->tree = json_get_text(v, "tree");
    r->taken_ns = json_int_or(json_get(v, "takenNs"), 0);
    r->ready_ns = json_int_or(json_get(v, "readyNs"), 0);
    r->n_files = (size_t)json_int_or(json_get(v, "files"), 0);
    r->unsaved = json_get_text(v, "unsaved");
    return r;
}
