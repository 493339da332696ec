/* alike.c - distances between words. */
#include "base/alike.h"

/* Levenshtein's, one row at a time. */
size_t text_distance(struct str a, struct str b)
{
    size_t row[64];

    if (a.n >= ARRAY_LEN(row) || b.n >= ARRAY_LEN(row))
        return SIZE_MAX;
    for (size_t i = 0; i <= b.n; i++)
        row[i] = i;
    for (size_t k = 1; k <= a.n; k++) {
        size_t diagonal = row[0];

        row[0] = k;
        for (size_t i = 1; i <= b.n; i++) {
            size_t change = diagonal + (a.p[k - 1] != b.p[i - 1]);

            diagonal = row[i];
            row[i] = MIN(MIN(row[i] + 1, row[i - 1] + 1), change);
        }
    }
    return row[b.n];
}

/* A short word must keep some letters of its own. */
void alike_try(struct alike *a, struct str known)
{
    size_t d = str_eq_nocase(a->word, known) ? 0 : text_distance(a->word, known);

    if (d > TEXT_ALIKE || d * 2 > a->word.n || (a->best.n && d >= a->distance))
        return;
    a->best = known;
    a->distance = d;
}
