/* trace.h - shows an exchange to whoever listens, without its credentials. Silent if nobody does.
 */
#ifndef KEEL_NET_TRACE_H
#define KEEL_NET_TRACE_H

#include "net/http.h"

void trace_request(const struct http_trace *t, const struct http_request *request);
void trace_response(const struct http_trace *t, const struct http_response *response);
void trace_bytes(const struct http_trace *t, char kind, struct str bytes);
void trace_error(const struct http_trace *t, const struct err *e); /* as a note; NULL: none */

#endif
