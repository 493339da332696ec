/* state.h - what is at one path: its kind, its attributes, its stamp, and the hash of what it
 * holds.
 *
 * The stamp tells whether a file is still the one whose hash is known, so that most files are never
 * read twice. A directory or file that keel's user owns and may not read is made readable for as
 * long as the call takes. These calls block, and may be made from several threads. */
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
    unsigned char xattrs[SHA256_SIZE]; /* their hash; zeroes: they cannot be read */
    unsigned n_names;                  /* hard links of a file or link */
    struct stamp stamp;
    int64_t seen_ns; /* when the stamp was taken */
    /* Of the last change before it was looked at, or read. That keel itself opens a file which is
     * shut, to read it, does not count. */
    int64_t changed_ns;
    int64_t born_ns; /* 0: not known */
    bool is_known;   /* `digest` is that of its content, or of a link's target */
    bool is_saved;   /* and the content is in the blob store, or in `bytes` */
    unsigned char digest[SHA256_SIZE];
    bool has_bytes; /* the content is in `bytes`, which the caller keeps */
    struct str bytes;
    bool is_ignored;     /* by git: the caller's to say */
    const char *why_not; /* it could not be saved; NULL: it could, or was not to be */
};

/* By its path, through no link; fills in all but path and content. Nothing there: IMAGE_NONE.
 * False: it cannot be looked at. */
bool state_look(struct file_state *f);

int64_t state_now_ns(void); /* by the clock that stamps files */

/* Has it content that is worth a hash? */
static inline bool state_has_content(const struct file_state *f)
{
    return f->kind == IMAGE_FILE || f->kind == IMAGE_LINK;
}

/* Reads it and makes its content known; with `blobs` the content is saved too, durable after the
 * next blob_sync(). `buffer` is for reading. What is wrong with the file goes to why_not; an error
 * is the store's. */
MUST_USE struct err *state_read(struct file_state *f, uint64_t max_bytes, struct blob_store *blobs,
                                struct strbuf *buffer);

/* Saves its extended attributes, if it has any and they are still the same. */
MUST_USE struct err *state_save_xattrs(const struct file_state *f, struct blob_store *blobs);
/* Permissions, owner and extended attributes are those of the other. */
void state_take_attributes(struct file_state *f, const struct file_state *other);

bool stamp_eq(const struct stamp *a, const struct stamp *b);
/* Might it have been changed after it was seen, without another stamp? */
bool state_is_racy(const struct file_state *f);
/* Same kind, permissions, owner, extended attributes. */
bool state_eq_attributes(const struct file_state *a, const struct file_state *b);
/* And, as far as it is known, content. */
bool state_eq(const struct file_state *a, const struct file_state *b);

/* Of extended attributes that were, or of none: are they the same? */
bool state_has_xattrs(const struct file_state *f, struct str handle);

/* What pre_image.after says of it. */
struct str state_sign(struct arena *a, const struct file_state *f) MUST_USE;
/* The same of a file that was, where its content was saved; false: that is not known. */
bool image_sign(struct arena *a, const struct pre_image *image, struct str *ret_sign);

/* Is this the file that could not be saved, perhaps at another path? */
enum same_file {
    SAME_FILE_NO,
    SAME_FILE_UNSURE,  /* it has its number, which may be another's by now */
    SAME_FILE_CHANGED, /* it is, with other content */
    SAME_FILE_YES,
};
enum same_file state_compare_identity(const struct file_state *now, enum image_kind kind,
                                      const struct file_identity *id);
/* state_sign() of a file that was not read. */
struct str identity_sign(struct arena *a, const struct file_identity *id) MUST_USE;

/* As it was, with what is there now. `keeps_content`: only attributes were changed. */
struct pre_image state_image(struct arena *a, const struct file_state *before, bool keeps_content,
                             const struct file_state *after) MUST_USE;

#endif
