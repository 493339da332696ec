/* change.h - one change of one file: its old content, its new content, and the report.
 *
 * The steps are begin, load, fill in new_text, store, report. The model must have read the file
 * before it changes it, and the file must be unchanged since. Mode, owner and encoding stay. load
 * and store block and run in a worker; the rest runs in the task. begin may wait. */
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
    const char *full, *shown;         /* the path in messages: absolute, and relative to the cwd */
    const char *target;               /* the path without links; borrowed like `path` */
    const struct path_filter *hidden; /* borrowed */
    struct file_seen seen;
    /* after load */
    struct spot spot; /* of the target: store() writes the file that load() looked at */
    bool exists;
    struct file_stamp loaded;
    const char *opaque; /* why old_text is missing: "is an ELF program"; NULL: it is there */
    enum text_encoding encoding;
    struct strbuf old_text; /* as UTF-8 */
    /* for store */
    struct strbuf new_text;
    /* after store */
    bool was_cancelled; /* before it wrote anything */
    bool is_stored;
    bool has_stamp;
    struct file_stamp stamp;
    char sha256[SHA256_HEX_SIZE];
    size_t n_bytes;
    struct strbuf diff;
    struct diff_stat stat;
};

/* Call file_change_end() even if it fails. */
MUST_USE struct err *file_change_begin(struct file_change *f, const struct tool_context *c,
                                       struct tool_result *r, struct str given_path);
void file_change_end(struct file_change *f);
#define FILE_CHANGE_NONE ((struct file_change){.spot = SPOT_NONE})
DEFINE_AUTO_VAL(file_change, file_change_end)

/* Looks at the existing file, if any: may it be changed, and what does it hold? */
MUST_USE struct err *file_change_load(struct file_change *f);
/* Writes the new text in the file's encoding, completely or not at all. */
MUST_USE struct err *file_change_store(struct file_change *f);
/* Remembers the new state, which the model knows as a whole or not, and fills in the details
 * {"diff","startLine","created","bytes"}. */
void file_change_report(const struct file_change *f, const struct tool_context *c, bool whole,
                        struct tool_result *r);
/* Appends "Created src/a.c (120 bytes, 7 lines)." to the text for the model. */
void file_change_headline(const struct file_change *f, struct tool_result *r);
/* Appends the diff, cut to size. */
void file_change_show(const struct file_change *f, struct tool_result *r);

#endif
