/* event.c - names of events and of what they hold. */
#include "port/event.h"

const char *event_type_name(enum event_type t)
{
    static const char *const names[] = {
#define X(name, text, ...) text,
        EVENT_TABLE(X)
#undef X
    };
    return names[t];
}

bool event_has_trait(enum event_type t, enum event_trait trait)
{
    static const unsigned char traits[] = {
#define X(name, text, body, traits) traits,
        EVENT_TABLE(X)
#undef X
    };
    return traits[t] & trait;
}

const char *output_source_name(enum output_source s)
{
    static const char *const names[] = {"stream", "replay", "finalize"};
    return names[s];
}

const char *severity_name(enum severity s)
{
    static const char *const names[] = {"VRB", "WRN", "ERR", "FIN", "INF"};
    return NAME_IN(names, s);
}

bool severity_is_for_person(enum severity s)
{
    return s == SEVERITY_WARNING || s == SEVERITY_ERROR || s == SEVERITY_INFO;
}
