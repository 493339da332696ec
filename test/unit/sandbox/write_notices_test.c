/* write_notices_test.c - what an observer hears of a command's changes, with namespaces and
 * without. */
#include "sandbox/watcher.h"

#include <fcntl.h>
#include <sys/stat.h>

/* --- what is reported --- */

BOX_TEST(each_kind_of_change_is_reported_before_it_is_made)
{
    AUTO(watcher) struct watcher w;

    watcher_init(&w, b->dir.path);
    TRY(put_file(box_path(b, "ws/gone"), "x"));
    TRY(box_watch(b, &w,
                  "echo 1 >> file; echo 2 > new; mkdir d; mv new d/moved; ln d/moved hard; "
                  "ln -s moved d/soft; rm gone; rm d/soft d/moved; rmdir d; mkfifo pipe; "
                  "truncate -s 1 file"));
    EXPECT_OUTPUT(w.lines, "content ws/file\n"
                           "content ws/new\n"
                           "name ws/d\n"
                           "rename ws/new > ws/d/moved\n"
                           "name ws/hard > ws/d/moved\n"
                           "name ws/d/soft\n"
                           "removal ws/gone\n"
                           "removal ws/d/soft\n"
                           "removal ws/d/moved\n"
                           "removal ws/d\n"
                           "name ws/pipe\n"
                           "content ws/file\n");
    EXPECT(b->exit_code == 0 && w.missed.n == 0);
    return NULL;
}

RUN_TESTS(BOTH_WAYS(each_kind_of_change_is_reported_before_it_is_made))
