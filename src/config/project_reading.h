/* project_reading.h - a reading of a project's files, which project_files.c starts.
 *
 *     project_reading.c  reads files and directories
 *     project_words.c    finds the files that commands name */
#ifndef KEEL_CONFIG_PROJECT_READING_H
#define KEEL_CONFIG_PROJECT_READING_H

#include "config/project_files.h"
#include "hook/words.h"

enum { PROJECT_MAX_DEPTH = 16, PROJECT_MAX_BASES = 16 };

struct project_reading {
    struct arena *arena;
    const struct project_place *place;
    struct project_files *files;
    int fd;              /* of the project */
    const char *dirs[2]; /* its path as it was given, and without links */
    uint64_t n_bytes;
    /* Where relative names may begin: "" is the project itself. */
    const char *bases[PROJECT_MAX_BASES];
    size_t n_bases, n_own_bases; /* the first ones are not named by a command */
    size_t n_entries;
};

struct project_reading project_reading_begin(struct arena *a, const struct project_place *place,
                                             struct project_files *files);
void project_reading_done(struct project_reading *r);
DEFINE_AUTO_VAL(project_reading, project_reading_done)

/* Stops the reading: the files are not complete, for this reason. */
void project_reading_refuse(struct project_reading *r, const char *problem);
/* Nothing happens if it does not exist or was added before. */
void project_reading_add(struct project_reading *r, const char *name, enum project_file_kind kind);
/* Adds all files below a directory, which is at this depth. */
void project_reading_add_directory(struct project_reading *r, const char *name, int depth);
/* A link to a directory counts as one. */
bool project_reading_has_directory(const struct project_reading *r, const char *name);
/* "dir/name"; just the name if `dir` is "". */
const char *project_join(struct arena *a, const char *dir, const char *name);

/* --- commands --- */

/* Sets the first bases: the project and the working directory. Before the others. */
void project_words_begin(struct project_reading *r);
/* Adds the files that a command with these words names, and those that these files name. */
void project_words_add(struct project_reading *r, struct word_list *words);
/* The same for the commands in the settings that were read. */
void project_words_add_settings(struct project_reading *r);

#endif
