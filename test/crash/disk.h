/* disk.h - what a loss of power would leave: see disk.c. */
#ifndef KEEL_TEST_CRASH_DISK_H
#define KEEL_TEST_CRASH_DISK_H

void disk_begin(const char *dir); /* NULL: nothing is kept */
void disk_keep(int fd);           /* a file or a directory that was synced */
void disk_keep_all(const char *place);

#endif
