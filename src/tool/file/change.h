/* change.h - one change of one file: what was there, what is to be there, and how that is reported.
 *
 * begin, load, fill in new_text, store, report. The model must have read a file before it changes
 * it, and the file must be as it was then. What the new text does not speak of stays: mode, owner,
 * encoding. load and store block and run in a worker; the rest runs in the task. begin may wait. */
#ifndef KEEL_TOOL_FILE_CHANGE_H
#define KEEL_TOOL_FILE_CHANGE_H

#include "base/diff.h"
#include "port/tool.h"
#include "tool/file/encoding.h"
#include "tool/file/seen.h"

#define FILE_CHANGE_MAX_BYTES ((size_t)64 << 20)

struct file_change {
    const char *path;                 /* borrowed from the result's arena */
    const char *cwd, *workspace;      /* borrowed from the session */
    const char *full, *shown;         /* the path in texts: absolute, and from the cwd on */
    const char *target;               /* the path without links; so is this */
    const struct path_filter *hidden; /* borrowed */
    struct file_seen seen;
    /* after load */
    struct spot spot; /* of the target: what store() writes to is what load() looked at */
    bool exists;
    struct file_stamp loaded;
    const char *opaque; /* why old_text is not there: "is an ELF program"; NULL: it is there */
    enum text_encoding encoding;
    struct strbuf old_text; /* as UTF-8 */
    /* for store */
    struct strbuf new_text;
    /* after store */
    bool was_cancelled; /* before anything was written */
    bool is_stored;
    bool has_stamp;
    struct file_stamp stamp;
    char sha256[SHA256_HEX_SIZE];
    size_t n_bytes;
    struct strbuf diff;
    struct diff_stat stat;
};

/* file_change_end() is due even if it fails. */
MUST_USE struct err *file_change_begin(struct file_change *f, const struct tool_context *c,
                                       struct tool_result *r, struct str given_path);
void file_change_end(struct file_change *f);
#define FILE_CHANGE_NONE ((struct file_change){.spot = SPOT_NONE})
DEFINE_AUTO_VAL(file_change, file_change_end)

/* Looks at the file that is there, if there is one: may it be changed, and what does it hold? */
MUST_USE struct err *file_change_load(struct file_change *f);
/* Writes the new text in the file's encoding, whole or not at all. */
MUST_USE struct err *file_change_store(struct file_change *f);
/* Remembers the new state, of which the model knows the `whole` or not, and fills in the details
 * {"diff","startLine","created","bytes"}. */
void file_change_report(const struct file_change *f, const struct tool_context *c, bool whole,
                        struct tool_result *r);
/* Appends "Created src/a.c (120 bytes, 7 lines)." to the text for the model. */
void file_change_headline(const struct file_change *f, struct tool_result *r);
/* Appends the diff to it, cut to size. */
void file_change_show(const struct file_change *f, struct tool_result *r);

#endif
