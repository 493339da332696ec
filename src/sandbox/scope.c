/* scope.c - the writable directories of a sandbox, looked over before and after a command. */
#include "sandbox/scope.h"

#include "sandbox/git_dir.h"
#include "sandbox/places.h"
#include "sandbox/plan.h"

enum { FEW_DIRECTORIES = 256 };

struct scope {
    const struct sandbox_policy *policy;
    struct survey *surveys;
    size_t n_surveys;
    struct arena arena; /* of the places */
    struct places places;
    bool has_places;
};

struct scope *scope_new(const struct sandbox_policy *policy)
{
    struct scope *s = mem_alloc(sizeof *s);

    s->policy = policy;
    return s;
}

static void close_surveys(struct scope *s)
{
    while (s->n_surveys)
        survey_done(&s->surveys[--s->n_surveys]);
    mem_free(TAKE(s->surveys));
}

void scope_free(struct scope *s)
{
    if (!s)
        return;
    close_surveys(s);
    arena_done(&s->arena);
    mem_free(s);
}

static struct err *add_survey(struct scope *s, const char *root)
{
    TRY(survey_init(&s->surveys[s->n_surveys], root));
    s->n_surveys++;
    return NULL;
}

/* Each that is not in another. */
static struct err *open_surveys(struct scope *s)
{
    const struct sandbox_policy *policy = s->policy;

    s->surveys = mem_alloc((policy->n_writable + 1) * sizeof *s->surveys);
    TRY(add_survey(s, policy->workspace));
    for (size_t i = 0; i < policy->n_writable; i++)
        if (!path_is_in(policy->writable[i], policy->workspace))
            TRY(add_survey(s, policy->writable[i]));
    return NULL;
}

static bool are_places_good(const struct scope *s)
{
    for (size_t i = 0; i < s->n_surveys; i++)
        if (s->surveys[i].has_changed)
            return false;
    return s->has_places &&
           git_stamps_are_good(s->places.settings.stamps, s->places.settings.n_stamps);
}

static void find_places(struct scope *s)
{
    arena_clear(&s->arena);
    places_init(&s->places, &s->arena, s->policy);
    for (size_t i = 0; i < s->n_surveys; i++)
        places_add(&s->places, &s->surveys[i]);
    s->has_places = true;
}

static struct err *look(struct scope *s)
{
    for (size_t i = 0; i < s->n_surveys; i++)
        TRY(survey_look(&s->surveys[i]));
    return NULL;
}

struct err *scope_look(struct scope *s)
{
    struct err *e = s->surveys ? NULL : open_surveys(s);

    if (e) {
        close_surveys(s);
        return e;
    }
    TRY(look(s));
    if (!are_places_good(s))
        find_places(s);
    return NULL;
}

struct err *scope_check(struct scope *s, struct strbuf *notes)
{
    TRY(look(s));
    for (size_t i = 0; i < s->n_surveys; i++)
        if (s->surveys[i].has_changed)
            git_dirs_check_new(&s->surveys[i], notes);
    if (!are_places_good(s))
        find_places(s);
    return NULL;
}

struct sandbox_policy scope_policy(const struct scope *s)
{
    struct sandbox_policy all = *s->policy;

    all.read_only = s->places.paths;
    all.n_read_only = s->places.n;
    return all;
}

bool scope_is_small(const struct scope *s)
{
    size_t n = 0;

    for (size_t i = 0; i < s->n_surveys; i++)
        n += s->surveys[i].n;
    return n > 0 && n <= FEW_DIRECTORIES;
}
