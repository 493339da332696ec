/* public_places.h - the system's own directories: programs, their documentation and configuration,
 * the same on every machine of its kind.
 *
 * What everybody on the machine may read there is read without a question. Files that others may
 * not read are not public, wherever they are. Pure. */
#ifndef KEEL_BASE_PUBLIC_PLACES_H
#define KEEL_BASE_PUBLIC_PLACES_H

/* Absolute, without links: files, or directories with all in them. Ends with NULL. */
extern const char *const public_places[];

#endif
