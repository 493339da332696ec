/* operator_log.h - events as lines of the log (sys/log.h) that an operator of many sessions reads.
 *
 * Each line says which session, run and round it is about. Numbers, names of tools and models,
 * outcomes and errors stand there, and what notices say; not what people, models or tools wrote,
 * nor arguments. docs/log.md lists the lines. */
#ifndef KEEL_VIEW_OPERATOR_LOG_H
#define KEEL_VIEW_OPERATOR_LOG_H

#include "port/event.h"
#include "sys/log.h"

/* For an event_subscriber, with the log as its self. */
void operator_log_event(void *log, const struct event *e);

/* The members `code`, `message` and `hint` of an error, as every line has them. */
void operator_log_error(struct json_writer *w, const struct err *e);

#endif
