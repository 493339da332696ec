/* strbuf.h - a growing buffer with a cap.
 *
 * The cap is set at init. An append that would exceed it is dropped whole and remembered: the
 * buffer is then over its cap, later appends are dropped too, and strbuf_check() turns that into an
 * error. So writers append without looking and check once at the end. The check is required: a
 * buffer that is emptied or freed over its cap without having been checked is a bug that ends the
 * program, because half of a text was used as the whole. The text is always NUL-terminated. Zeroed
 * is valid: empty, with STRBUF_DEFAULT_MAX as its cap, which is for texts made of parts with caps
 * of their own. Input from outside needs a smaller one. */
#ifndef KEEL_BASE_STRBUF_H
#define KEEL_BASE_STRBUF_H

#include "base/err.h"
#include "base/str.h"

#include <stdarg.h>

#define STRBUF_DEFAULT_MAX ((size_t)1 << 30)

struct strbuf {
    char *p;
    size_t n, room, max_bytes;
    bool is_over, was_asked; /* private: strbuf_is_over() */
};

void strbuf_init(struct strbuf *b, size_t max_bytes);
void strbuf_done(struct strbuf *b);
void strbuf_clear(struct strbuf *b); /* empties, keeps the memory and the cap */
DEFINE_AUTO_VAL(strbuf, strbuf_done)

void strbuf_add(struct strbuf *b, struct str s);
void strbuf_add_char(struct strbuf *b, char c);
void strbuf_add_cstr(struct strbuf *b, const char *text);
void strbuf_addf(struct strbuf *b, const char *format, ...) PRINTF_LIKE(2, 3);
void strbuf_vaddf(struct strbuf *b, const char *format, va_list args);

/* Makes room for n more bytes to write directly at p + n, followed by strbuf_grew(). NULL: over the
 * cap, which counts as checked. */
char *strbuf_reserve(struct strbuf *b, size_t n) MUST_USE;
void strbuf_grew(struct strbuf *b, size_t n);
/* Keeps the first n bytes. What was dropped and checked no longer counts. */
void strbuf_cut(struct strbuf *b, size_t n);
void strbuf_drop_front(struct strbuf *b, size_t n); /* remove the first n bytes */

static inline struct str strbuf_str(const struct strbuf *b)
{
    return (struct str){b->p ? b->p : "", b->n};
}
static inline const char *strbuf_cstr(const struct strbuf *b)
{
    return b->p ? b->p : "";
}

char *strbuf_take(struct strbuf *b) MUST_USE; /* the heap text; b is empty afterwards */

/* Was something dropped because it did not fit? */
bool strbuf_is_over(const struct strbuf *b) MUST_USE;
/* NULL, or an error that says that `what` is over its cap. */
MUST_USE struct err *strbuf_check(const struct strbuf *b, const char *what);
/* The text lacks something that did not fit elsewhere: treat it as over its cap. */
void strbuf_set_over(struct strbuf *b);

#endif
