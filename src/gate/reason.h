/* reason.h - the sentences of the gate for the model and the person. They are in the arena. */
#ifndef KEEL_GATE_REASON_H
#define KEEL_GATE_REASON_H

#include "gate/gate.h"
#include "gate/pattern.h"

struct protected_place;

struct str reason_not_json(struct arena *a, const struct tool *tool, struct str given);
struct str reason_bad_arguments(struct arena *a, const struct err *e, struct str given);

/* Denied by a rule or by the mode. */
struct str reason_denied(struct arena *a, const struct decided *d, enum permission_mode mode);
/* Denied by the hard policy. */
struct str reason_outside(struct arena *a, const struct tool *tool, const char *path,
                          const char *workspace);
struct str reason_protected(struct arena *a, const char *path, const struct protected_place *p);
struct str reason_git(struct arena *a, const struct place *place);
struct str reason_secret(struct arena *a, const char *path);
struct str reason_leads_nowhere(struct arena *a, const char *path);
/* `what` is "command" or "host". */
struct str reason_unlisted(struct arena *a, const char *what, struct str given,
                           const struct str *list, size_t n);
/* Denied by a person; `said` may be empty. */
struct str reason_refused(struct arena *a, struct str said);
/* The person approved changed arguments that the tool does not accept. */
struct str reason_bad_change(struct arena *a, const struct err *e);
/* A hook denied the call, or changed its arguments to ones that the tool does not accept. */
struct str reason_blocked(struct arena *a, struct str said);
struct str reason_bad_hook_change(struct arena *a, const struct err *e);
/* No one could be asked: says what would have allowed the call. */
struct str reason_unattended(struct arena *a, const struct decided *d, const struct subject *s);

/* Why no one is asked. */
struct str reason_allowed(struct arena *a, const struct decided *d, enum permission_mode mode,
                          const struct tool *tool);
/* Why a person is asked. */
struct str reason_ask(struct arena *a, const struct decided *d, enum permission_mode mode,
                      const struct subject *s);

#endif
