/* other_repositories.h - repositories of others than git that a command has made. Blocks. */
#ifndef KEEL_SANDBOX_GUARD_OTHER_REPOSITORIES_H
#define KEEL_SANDBOX_GUARD_OTHER_REPOSITORIES_H

#include "base/strbuf.h"
#include "sandbox/guard/survey.h"

/* After a command: what of them others would obey (PLACE_OF_REPOSITORY) goes aside. */
void other_repositories_check_new(const struct survey *s, struct strbuf *notes);

#endif
