/* public_places.c - the list. */
#include "base/public_places.h"

#include <stddef.h>

const char *const public_places[] = {
    "/bin",
    "/etc",
    "/gnu/store",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/nix/store",
    "/opt",
    /* the parts of /proc about the machine, not about a process */
    "/proc/cpuinfo",
    "/proc/filesystems",
    "/proc/loadavg",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/uptime",
    "/proc/version",
    "/sbin",
    "/usr",
    /* which packages are installed */
    "/var/lib/apt/lists",
    "/var/lib/dpkg",
    "/var/lib/pacman",
    "/var/lib/rpm",
    NULL,
};
