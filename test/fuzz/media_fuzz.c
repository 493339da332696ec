/* media_fuzz.c - keel-media without its walls: any bytes as a request, and the libraries behind it.
 * What it makes fits what was asked for. */
#include "media/media.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes input = {.p = mem_copy(data, size), .n = size};
    struct media_job job;

    media_handle(input, &job);
    BUG_IF(job.reply.outcome < MEDIA_DONE || job.reply.outcome > MEDIA_UNKNOWN);
    BUG_IF(job.reply.n_bytes != job.made.n || job.reply.n_text != strlen(job.text));
    BUG_IF((job.reply.outcome == MEDIA_DONE) == (job.reply.n_text > 0));
    if (job.reply.outcome == MEDIA_DONE && job.request.work == MEDIA_SCALE) {
        BUG_IF(job.made.n == 0 || job.made.n > job.request.max_bytes);
        BUG_IF(MAX(job.reply.new_width, job.reply.new_height) > job.request.max_edge);
        BUG_IF(media_sniff(job.made) != job.reply.format);
    }
    media_job_done(&job);
    mem_free(input.p);
    return 0;
}
