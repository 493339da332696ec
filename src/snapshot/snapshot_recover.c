/* snapshot_recover.c - after a crash, finds the changes of a call whose process died. */
#include "snapshot/snapshotter_internal.h"
#include "snapshot/undo_recorder.h"

static struct str why_unreadable(struct arena *a, struct err *take_error)
{
    AUTO(err) struct err *e = take_error;
    AUTO_FREE char *text = err_message(e);

    return arena_format(a, "its undo log is lost: %s", text);
}

static struct err *recover_command(const struct snapshot_options *o,
                                   const struct snapshot_record *record, bool has_ended,
                                   struct arena *a, struct recovered_call *call)
{
    struct snapshot_options all = snapshot_with_defaults(o);
    struct undo_records records;
    bool exists;
    struct err *e = undo_log_read(o->home, record->log, a, &records, &exists);

    call->has_no_log = !exists;
    call->keeps_log = e != NULL;
    if (e)
        call->unsaved = why_unreadable(a, e);
    if (!exists || (has_ended && records.is_reported))
        return NULL;
    if (records.is_cut)
        call->unsaved = S("its undo log is damaged, or from another version of keel, and does not "
                          "have all of its changes");
    return undo_recorder_recover(&records, all.max_file_bytes, a, &call->images);
}

/* The file as it was reported; its content is known if it was saved. */
static void recover_file(const struct pre_image *reported, struct arena *a,
                         struct pre_images *images)
{
    AUTO(strbuf) struct strbuf bytes = {.max_bytes = SNAPSHOT_MAX_ONE_FILE + (1 << 18)};
    struct file_state now = {.path = arena_cstr(a, reported->path)};
    struct pre_image image = *reported;

    if (!state_look(&now))
        return;
    if (state_has_content(&now))
        err_ignore(state_read(&now, SNAPSHOT_MAX_ONE_FILE, NULL, &bytes), "nothing is stored");
    image.after = state_sign(a, &now);
    pre_images_add(images, a, image);
}

struct err *snapshot_recover(const struct snapshot_options *options,
                             const struct snapshot_record *record, bool has_ended, struct arena *a,
                             struct recovered_call *ret_call)
{
    *ret_call = (struct recovered_call){0};
    if (record->log.n)
        TRY(recover_command(options, record, has_ended, a, ret_call));
    if (has_ended)
        return NULL;
    if (record->tree.n)
        ret_call->unsaved =
            S("keel exited while it ran, and an earlier version of keel saved its files");
    if (record->has_file)
        recover_file(&record->file, a, &ret_call->images);
    return NULL;
}

void snapshot_forget_log(const struct snapshot_options *options,
                         const struct snapshot_record *record)
{
    undo_log_remove(options->home, record->log);
}
