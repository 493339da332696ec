/* refusal.h - what a model should know when the sandbox has kept something from its command.
 *
 * A program that is refused something says so in its own words, if at all: no network is a resolver
 * that fails, a protected file a device that is busy. The kernel tells nobody else, so the words
 * themselves are looked for, in one table. What is found is explained in full once a session, and
 * then in brief. Pure but for paths that are asked for. */
#ifndef KEEL_SANDBOX_REFUSAL_H
#define KEEL_SANDBOX_REFUSAL_H

#include "sandbox/sandbox.h"

/* Appends which paths of the command line are hidden from it, if any are; returns whether. */
bool sandbox_name_hidden(const struct sandbox *s, const struct command_ending *e,
                         struct strbuf *out);

/* For a command that only looks: appends what it could not see, if it complains of a path that is
 * closed or hidden to it, or of something that cannot be changed. Known: in brief. */
void sandbox_explain_look(const struct sandbox *s, const struct command_ending *e, bool *known,
                          struct strbuf *out);

/* The same, or what else was refused: a text, or nothing. `told` is the session's memory of it, 0
 * at first. */
void sandbox_explain(const struct sandbox *s, const struct command_ending *e, unsigned *told,
                     struct strbuf *out);

#endif
