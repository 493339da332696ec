/* media.h - images and documents as a provider takes them: checked, made smaller, cut.
 *
 * Every file that enters a conversation passes here, whichever way it came: in a prompt, by Read or
 * WebFetch, from a notebook. So the stored session holds what is sent, and what is not sent is told
 * in its place. Nothing is decoded in keel's own process: keel-media (src/media) does that,
 * confined and within limits. All of it in a task; it may wait. */
#ifndef KEEL_PORT_MEDIA_H
#define KEEL_PORT_MEDIA_H

#include "base/strbuf.h"
#include "model/message.h"

/* What a provider takes; 0: no limit is known. */
struct media_limits {
    uint32_t max_edge;      /* pixels of an image's longer side */
    size_t max_image_bytes; /* before base64 */
    size_t max_pdf_bytes;
    uint32_t max_pdf_pages; /* of one document */
    bool no_gif;            /* it becomes a PNG of the first frame */
};

#define MEDIA_MAX_IMAGE_BYTES ((size_t)32 << 20) /* what is worth scaling */
#define MEDIA_MAX_PDF_BYTES ((size_t)60 << 20)   /* what is worth cutting */

/* Makes the file fit. *ret_is_fine is false when it must not be sent. In both cases a line for the
 * model is appended to `note` where it should know something: that it was scaled, why it is left
 * out. The new bytes are in `a`. Only cancelling is an error. */
MUST_USE struct err *media_fit(const struct media_limits *l, struct media *m, struct arena *a,
                               struct strbuf *note, bool *ret_is_fine);

/* The same for all files of a message: a new one where anything has changed, else a reference. */
MUST_USE struct err *media_fit_message(const struct media_limits *l, struct message *m,
                                       struct message **ret_message);

/* A PDF of some pages, from 1; what is behind the last one is left out. ERR_TOOL_FAILED says why
 * not, for the model. */
MUST_USE struct err *media_cut_pages(struct str pdf, uint32_t first, uint32_t last, struct arena *a,
                                     struct str *ret_pdf, uint32_t *ret_n_pages);

#endif
