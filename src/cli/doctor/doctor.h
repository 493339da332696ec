/* doctor.h - one finding of `keel doctor`, and the checks that make them. */
#ifndef KEEL_CLI_DOCTOR_DOCTOR_H
#define KEEL_CLI_DOCTOR_DOCTOR_H

#include "sdk/project.h"

enum health { HEALTH_GOOD, HEALTH_NOTE, HEALTH_BAD };

struct report {
    struct arena arena;
    struct doctor_finding {
        enum health health;
        const char *section;
        struct str name, text;
    } *findings;
    size_t n, room, n_printed;
};

void report_done(struct report *r);
DEFINE_AUTO_VAL(report, report_done)
void report_add(struct report *r, enum health health, const char *section, const char *name,
                const char *format, ...) PRINTF_LIKE(5, 6);
/* A failure with its hint: HEALTH_BAD. */
void report_add_error(struct report *r, const char *section, const char *name, const struct err *e);

/* --- providers.c: what a request needs --- */

void doctor_check_settings(struct report *r, const struct project *project);
void doctor_check_rules(struct report *r, const struct project *project);
/* `model`: as --model says it; NULL: as for a prompt without it. */
void doctor_check_providers(struct report *r, const struct project *project, const char *model);
void doctor_check_network(struct report *r, const struct project *project);

/* --- machine.c: what this machine offers --- */

void doctor_check_sandbox(struct report *r, const struct project *project);
void doctor_check_media(struct report *r);
void doctor_check_stores(struct report *r, const struct project *project);
void doctor_check_terminal(struct report *r);

#endif
