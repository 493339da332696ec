/* operator_log.h - events as lines of the log (sys/log.h) that an operator of many sessions reads.
 *
 * Each line names its session, run and round. It has numbers, names of tools and models, outcomes,
 * errors and the texts of notices, but no texts of people, models or tools, nor arguments.
 * docs/log.md lists the lines. */
#ifndef KEEL_VIEW_OPERATOR_LOG_H
#define KEEL_VIEW_OPERATOR_LOG_H

#include "port/event.h"
#include "sys/log.h"

/* For an event_subscriber whose self is the log. */
void operator_log_event(void *log, const struct event *e);

/* The members `code`, `message` and `hint` of an error, as in every line. */
void operator_log_error(struct json_writer *w, const struct err *e);

#endif
