/* pdf.c - counts and extracts pages of PDF documents with libqpdf. */
#include "media/media.h"

#include <string.h>

#if KEEL_HAS_QPDF
#include <qpdf/qpdf-c.h>

static void tell_error(struct media_job *job, qpdf_data pdf)
{
    qpdf_error e = qpdf_has_error(pdf) ? qpdf_get_error(pdf) : NULL;

    if (e && qpdf_get_error_code(pdf, e) == qpdf_e_password)
        media_fail(job, MEDIA_ENCRYPTED, "it is encrypted and needs a password");
    else
        media_fail(job, MEDIA_BROKEN, "libqpdf: %.120s",
                   e ? qpdf_get_error_message_detail(pdf, e) : "it cannot be read");
}

static qpdf_data new_pdf(void)
{
    qpdf_data pdf = qpdf_init();

    qpdf_set_suppress_warnings(pdf, QPDF_TRUE);
    qpdf_silence_errors(pdf);
    return pdf;
}

/* Only the pages, with what they share with other pages. */
static void cut(struct media_job *job, qpdf_data from)
{
    const struct media_request *r = &job->request;
    qpdf_data to = new_pdf();
    bool is_fine = (qpdf_empty_pdf(to) & QPDF_ERRORS) == 0;

    for (uint32_t i = r->first_page; is_fine && i <= MIN(r->last_page, job->reply.n_pages); i++)
        is_fine =
            (qpdf_add_page(to, from, qpdf_get_page_n(from, i - 1), QPDF_FALSE) & QPDF_ERRORS) == 0;
    if (is_fine && (qpdf_init_write_memory(to) & QPDF_ERRORS) == 0) {
        qpdf_set_deterministic_ID(to, QPDF_TRUE);
        qpdf_set_object_stream_mode(to, qpdf_o_generate);
        is_fine = (qpdf_write(to) & QPDF_ERRORS) == 0;
    }
    if (is_fine) {
        job->made.n = qpdf_get_buffer_length(to);
        job->made.p = mem_copy(qpdf_get_buffer(to), job->made.n);
        job->reply.format = MEDIA_PDF;
        job->reply.outcome = MEDIA_DONE;
    } else {
        tell_error(job, qpdf_has_error(to) ? to : from);
    }
    qpdf_cleanup(&to);
}

void media_pdf(struct media_job *job)
{
    const struct media_request *r = &job->request;
    qpdf_data pdf = new_pdf();
    int n_pages = -1;

    if ((qpdf_read_memory(pdf, "document", (const char *)job->file.p, job->file.n, NULL) &
         QPDF_ERRORS) == 0)
        n_pages = qpdf_get_num_pages(pdf);
    if (n_pages < 0) {
        tell_error(job, pdf);
    } else {
        job->reply.n_pages = (uint32_t)n_pages;
        if (r->work == MEDIA_COUNT)
            job->reply.outcome = MEDIA_DONE;
        else if (r->first_page == 0 || r->first_page > r->last_page ||
                 r->first_page > job->reply.n_pages)
            media_fail(job, MEDIA_REFUSED, "it has %d page%s", n_pages, n_pages == 1 ? "" : "s");
        else
            cut(job, pdf);
    }
    qpdf_cleanup(&pdf);
}

#else

void media_pdf(struct media_job *job)
{
    media_fail(job, MEDIA_UNKNOWN, "keel-media was built without libqpdf");
}

#endif
