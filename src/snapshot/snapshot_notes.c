/* snapshot_notes.c - warns of changes of a command that cannot be undone.
 *
 * Files that git ignores need no warning after every build; a rewind lists them. Moved files can be
 * moved back. */
#include "snapshot/snapshotter_internal.h"

#include "base/quoted.h"
#include "snapshot/path_table.h"

#include <stdio.h>

#define MAX_NAMED 3

static struct str number_text(uint64_t inode, char text[24])
{
    return str_make(text, (size_t)snprintf(text, 24, "%llx", (unsigned long long)inode));
}

/* Files by number: those that could not be saved, and those that are there now. */
struct moved_files {
    struct path_table unsaved, now;
};

static void list_files(const struct pre_images *images, struct moved_files *ret_files)
{
    char text[24];

    for (size_t i = 0; i < images->n; i++) {
        const struct pre_image *p = &images->items[i];

        if (p->why_not.n && p->identity.inode)
            path_table_put(&ret_files->unsaved, number_text(p->identity.inode, text));
        if (p->now_inode)
            path_table_put(&ret_files->now, number_text(p->now_inode, text));
    }
}

static bool is_lost(const struct pre_image *p, const struct moved_files *files)
{
    char text[24];

    if (!p->why_not.n || p->is_ignored)
        return false;
    if (p->identity.inode)
        return !path_table_find(&files->now, number_text(p->identity.inode, text)) ||
               p->now_inode == p->identity.inode;
    return !(p->kind == IMAGE_NONE && p->now_inode &&
             path_table_find(&files->unsaved, number_text(p->now_inode, text)));
}

static struct str name_lost(struct arena *a, const struct pre_images *images,
                            const struct moved_files *files)
{
    AUTO(strbuf) struct strbuf text = {0};
    size_t n = 0;

    for (size_t i = 0; i < images->n; i++) {
        const struct pre_image *p = &images->items[i];

        if (is_lost(p, files) && n++ < MAX_NAMED)
            strbuf_addf(&text, "%s%" STR_FMT " (%" STR_FMT ")", n > 1 ? ", " : "",
                        STR_ARG(quoted(a, p->path)), STR_ARG(p->why_not));
    }
    if (n == 0)
        return (struct str){0};
    if (n > MAX_NAMED)
        strbuf_addf(&text, " and %zu more", n - MAX_NAMED);
    return arena_format(a, "This change cannot be undone: %" STR_FMT ".",
                        STR_ARG(strbuf_str(&text)));
}

struct str snapshot_note_lost(struct arena *a, const struct pre_images *images)
{
    struct moved_files files = {0};
    struct str note;

    list_files(images, &files);
    note = name_lost(a, images, &files);
    path_table_done(&files.unsaved);
    path_table_done(&files.now);
    return note;
}
