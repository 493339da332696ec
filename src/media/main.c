/* main.c - keel-media: makes one image or PDF smaller. See protocol.h. */
#include "media/media.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { EXIT_CANNOT_CONFINE = 3, EXIT_INPUT = 4 };

/* Reads stdin up to the limit and one byte, to notice what exceeds it. */
static bool read_all(struct bytes *ret)
{
    size_t max = sizeof(struct media_request) + MEDIA_MAX_FILE_BYTES + 1, room = 1 << 16;

    ret->p = mem_alloc(room);
    for (;;) {
        ssize_t n = read(STDIN_FILENO, ret->p + ret->n, MIN(room, max) - ret->n);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n == 0;
        ret->n += (size_t)n;
        if (ret->n == max)
            return false;
        if (ret->n == room)
            ret->p = mem_resize(ret->p, room *= 2);
    }
}

static bool write_all(const void *bytes, size_t n)
{
    while (n) {
        ssize_t written = write(STDOUT_FILENO, bytes, n);

        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        bytes = (const char *)bytes + written;
        n -= (size_t)written;
    }
    return true;
}

int main(void)
{
    struct media_job job = {0};
    struct bytes input = {0};

    if (!media_confine())
        return EXIT_CANNOT_CONFINE;
    if (!read_all(&input))
        return EXIT_INPUT;
    media_handle(input, &job);
    return write_all(&job.reply, sizeof job.reply) && write_all(job.text, job.reply.n_text) &&
                   write_all(job.made.p, job.made.n)
               ? 0
               : EXIT_FAILURE;
}
