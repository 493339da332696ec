/* html_style.h - how the page of a transcript looks. */
#ifndef KEEL_TRANSCRIPT_HTML_STYLE_H
#define KEEL_TRANSCRIPT_HTML_STYLE_H

extern const char html_style[];

#endif
