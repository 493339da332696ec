/* own_settings.h - the files in keel's home that keel obeys, and the links that lead to them.
 *
 * Commands do not reach keel's home. But people keep settings in a directory of dotfiles and put
 * links in the home, and that directory may be the workspace. */
#ifndef KEEL_CONFIG_OWN_SETTINGS_H
#define KEEL_CONFIG_OWN_SETTINGS_H

#include "sandbox/sandbox.h"

/* Adds each such file, there or not, and every link on the way to it, by its own name. Blocks. */
void own_settings_find(struct path_list *l, const char *keel_home);

#endif
