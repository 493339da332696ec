/* state.h - the state of one path: its kind, its attributes, its stamp, and the hash of its
 * content.
 *
 * The stamp shows whether a file is still the one whose hash is known, so that most files are read
 * only once. A directory or file that keel's user owns and may not read is made readable during the
 * call. These calls block; several threads may make them. */
#ifndef KEEL_SNAPSHOT_STATE_H
#define KEEL_SNAPSHOT_STATE_H

#include "port/snapshot.h"

struct stamp {
    int64_t mtime_ns, ctime_ns;
    uint64_t size, inode, device;
};

struct file_state {
    const char *path; /* absolute */
    enum image_kind kind;
    unsigned mode; /* permissions; 0 for a link */
    unsigned uid, gid;
    bool has_xattrs;                   /* extended attributes; of a file or directory */
    unsigned char xattrs[SHA256_SIZE]; /* their hash; zeros: they cannot be read */
    unsigned n_names;                  /* hard links of a file or link */
    struct stamp stamp;
    int64_t seen_ns; /* time of the stamp */
    /* Time of the last change before the look or read. When keel opens a locked file to read it,
     * that does not count. */
    int64_t changed_ns;
    int64_t born_ns; /* 0: unknown */
    bool is_known;   /* `digest` is that of its content, or of the target of a link */
    bool is_saved;   /* its content is in the blob store, or in `bytes` */
    unsigned char digest[SHA256_SIZE];
    bool has_bytes; /* the content is in `bytes`, which the caller owns */
    struct str bytes;
    bool is_ignored;     /* by git; set by the caller */
    const char *why_not; /* why it could not be saved; NULL: it was, or need not be */
};

/* Looks at its path, through no link; sets everything except path and content. If nothing is there:
 * IMAGE_NONE. False: it cannot be looked at. */
bool state_look(struct file_state *f);

int64_t state_now_ns(void); /* of the clock that stamps files */

/* Has it content that is worth a hash? */
static inline bool state_has_content(const struct file_state *f)
{
    return f->kind == IMAGE_FILE || f->kind == IMAGE_LINK;
}

/* Reads it and sets its content; with `blobs` the content is saved, too, durable after the next
 * blob_sync(). `buffer` is for reading. Problems of the file go to why_not; errors are those of the
 * store. */
MUST_USE struct err *state_read(struct file_state *f, uint64_t max_bytes, struct blob_store *blobs,
                                struct strbuf *buffer);

/* Saves its extended attributes, if it has any and they are unchanged. */
MUST_USE struct err *state_save_xattrs(const struct file_state *f, struct blob_store *blobs);
/* Copies permissions, owner and extended attributes. */
void state_take_attributes(struct file_state *f, const struct file_state *other);

bool stamp_eq(const struct stamp *a, const struct stamp *b);
/* Might it have changed after the look, without a new stamp? */
bool state_is_racy(const struct file_state *f);
/* Same kind, permissions, owner, extended attributes? */
bool state_eq_attributes(const struct file_state *a, const struct file_state *b);
/* And, as far as known, the same content? */
bool state_eq(const struct file_state *a, const struct file_state *b);

/* Are its extended attributes the saved ones, or none? */
bool state_has_xattrs(const struct file_state *f, struct str handle);

/* Its text for pre_image.after. */
struct str state_sign(struct arena *a, const struct file_state *f) MUST_USE;
/* The same for the state of an image, if its content was saved; false: unknown. */
bool image_sign(struct arena *a, const struct pre_image *image, struct str *ret_sign);

/* Is this the file that could not be saved, perhaps at another path? */
enum same_file {
    SAME_FILE_NO,
    SAME_FILE_UNSURE,  /* it has its number, which may have been reused */
    SAME_FILE_CHANGED, /* yes, with other content */
    SAME_FILE_YES,
};
enum same_file state_compare_identity(const struct file_state *now, enum image_kind kind,
                                      const struct file_identity *id);
/* state_sign() of a file that was not read. */
struct str identity_sign(struct arena *a, const struct file_identity *id) MUST_USE;

/* The image of the former state, with the present one. `keeps_content`: only attributes were
 * changed. */
struct pre_image state_image(struct arena *a, const struct file_state *before, bool keeps_content,
                             const struct file_state *after) MUST_USE;

#endif
