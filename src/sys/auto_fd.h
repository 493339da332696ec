/* auto_fd.h - a descriptor that is closed at the end of its scope: AUTO_FD fd = open(...); */
#ifndef KEEL_SYS_AUTO_FD_H
#define KEEL_SYS_AUTO_FD_H

#include <unistd.h>

static inline void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
}
#define AUTO_FD __attribute__((cleanup(close_fd))) int

#endif
