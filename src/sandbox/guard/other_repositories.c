/* other_repositories.c - puts aside what others than git would obey in a new repository of theirs.
 *
 * Their configuration can run programs as git's can. Nothing is read here: a new repository has
 * none, unless it was cloned. */
#include "sandbox/guard/other_repositories.h"

#include "base/protected_places.h"
#include "sandbox/guard/open_below.h"
#include "sandbox/guard/quarantine.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* False where there is no directory. What is in the place of one, a link or a file that leads
 * elsewhere, goes as a whole. */
static bool put_aside(const struct guard_report *r, const struct survey *s, const char *path,
                      bool is_directory)
{
    const char *name;
    int dir = below_open_parent(s->fd, path, &name, s->unlocks);
    struct stat st;
    bool is_there;

    if (dir < 0) {
        if (errno != ENOENT)
            guard_report_failure(r, path);
        return false;
    }
    is_there = fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
    is_directory = is_directory && is_there && S_ISDIR(st.st_mode);
    if (is_there && !is_directory)
        quarantine_named(r, dir, name, path);
    close(dir);
    return is_directory;
}

static void check_place(const struct guard_report *r, const struct survey *s, const char *directory,
                        const char *place)
{
    struct str rest = str_of(place), part;
    AUTO(strbuf) struct strbuf path = {0};
    bool goes_on = true;

    strbuf_add_cstr(&path, directory);
    while (goes_on && str_split(&rest, '/', &part)) {
        strbuf_addf(&path, "%s%" STR_FMT, path.n ? "/" : "", STR_ARG(part));
        goes_on = put_aside(r, s, strbuf_cstr(&path), /* is_directory= */ rest.n > 0);
    }
}

void other_repositories_check_new(const struct survey *s, struct strbuf *notes)
{
    const struct guard_report report = {s->root, notes, s->unlocks};

    for (size_t i = 0; i < s->now.n; i++) {
        const struct directory *d = &s->now.items[i];

        if (!(d->names & ~survey_names_before(s, d) & GIT_NAME_OTHER))
            continue;
        for (const struct protected_place *row = protected_places; row->path; row++)
            if (row->how & PLACE_OF_REPOSITORY)
                check_place(&report, s, d->path, row->path);
    }
}
