/* handle.c - handles one request: checks it, does the work, sets the outcome. */
#include "media/media.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void media_fail(struct media_job *job, enum media_outcome outcome, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(job->text, sizeof job->text, format, args);
    va_end(args);
    job->reply.outcome = outcome;
}

static bool read_request(struct bytes input, struct media_job *job)
{
    struct media_request *r = &job->request;

    if (input.n < sizeof *r)
        return false;
    memcpy(r, input.p, sizeof *r);
    job->file = (struct bytes){input.p + sizeof *r, input.n - sizeof *r};
    return r->version == MEDIA_PROTOCOL_VERSION && r->n_bytes == job->file.n &&
           job->file.n <= MEDIA_MAX_FILE_BYTES && r->max_bytes > 0;
}

static void scale(struct media_job *job)
{
    enum media_format format = media_sniff(job->file);
    struct picture picture = {0};

    if (!format || format == MEDIA_PDF) {
        media_fail(job, MEDIA_UNKNOWN, "it is not a PNG, JPEG, GIF or WebP image");
        return;
    }
    if (media_decode(job, format, &picture)) {
        if (format == MEDIA_JPEG)
            picture_orient(&picture, media_jpeg_orientation(job->file));
        if (media_encode(job, &picture, format))
            job->reply.outcome = MEDIA_DONE;
    }
    picture_done(&picture);
}

void media_handle(struct bytes input, struct media_job *job)
{
    *job = (struct media_job){.reply.version = MEDIA_PROTOCOL_VERSION};
    if (!read_request(input, job))
        media_fail(job, MEDIA_REFUSED, "the request is malformed");
    else if (job->request.work == MEDIA_SCALE && job->request.max_edge > 0)
        scale(job);
    else if (job->request.work == MEDIA_COUNT || job->request.work == MEDIA_PAGES)
        media_pdf(job);
    else
        media_fail(job, MEDIA_REFUSED, "the request is of an unknown kind");
    job->reply.n_text = (uint32_t)strlen(job->text);
    job->reply.n_bytes = job->made.n;
}

void media_job_done(struct media_job *job)
{
    mem_free(job->made.p);
    job->made = (struct bytes){0};
}
