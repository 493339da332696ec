/* passwd.c - the password database as a test needs it: loaded with LD_PRELOAD.
 *
 * KEEL_TEST_PASSWD_HOME is the home directory of every user; without it there is no entry. */
#include <pwd.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int getpwuid_r(uid_t uid, struct passwd *entry, char *buffer, size_t size,
                      struct passwd **ret)
{
    char *home = getenv("KEEL_TEST_PASSWD_HOME");

    (void)buffer;
    (void)size;
    *entry = (struct passwd){.pw_uid = uid, .pw_dir = home};
    *ret = home ? entry : NULL;
    return 0;
}
