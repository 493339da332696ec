/* undo_recorder_peers.c - shares states between commands that run side by side. */
#include "snapshot/undo_recorder_internal.h"

void undo_recorder_peers_init(struct undo_recorder_peers *p)
{
    *p = (struct undo_recorder_peers){0};
    pthread_mutex_init(&p->lock, NULL);
}

void undo_recorder_peers_clear(struct undo_recorder_peers *p)
{
    pthread_mutex_lock(&p->lock);
    path_table_done(&p->states);
    pthread_mutex_unlock(&p->lock);
}

void undo_recorder_peers_done(struct undo_recorder_peers *p)
{
    path_table_done(&p->states);
    pthread_mutex_destroy(&p->lock);
}

/* Copies its texts, except the path, to an arena that lives as long as it. */
static void keep_texts(struct file_state *f, struct arena *a)
{
    if (f->why_not)
        f->why_not = arena_cstr(a, str_of(f->why_not));
    if (f->has_bytes)
        f->bytes = arena_str(a, f->bytes);
}

void undo_recorder_share(struct undo_recorder *r, const struct change_entry *entry)
{
    struct undo_recorder_peers *p = r->options.peers;
    struct path_slot *slot;
    struct peer_state *known;

    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    slot = path_table_put(&p->states, str_of(entry->before.path));
    known = slot->value;
    if (!known || (known->has_attributes_only && !entry->has_attributes_only)) {
        slot->value = known = ARENA_NEW(&p->states.arena, struct peer_state);
        *known = (struct peer_state){entry->before, entry->has_attributes_only};
        keep_texts(&known->state, &p->states.arena);
    }
    pthread_mutex_unlock(&p->lock);
}

bool undo_recorder_find_shared(struct undo_recorder *r, struct str path,
                               struct peer_state *ret_state)
{
    struct undo_recorder_peers *p = r->options.peers;
    const struct path_slot *slot;

    if (!p)
        return false;
    pthread_mutex_lock(&p->lock);
    slot = path_table_find(&p->states, path);
    if (slot) {
        *ret_state = *(const struct peer_state *)slot->value;
        keep_texts(&ret_state->state, &r->by_path.arena);
    }
    pthread_mutex_unlock(&p->lock);
    return slot != NULL;
}

void undo_recorder_leave_peers(struct undo_recorder *r)
{
    pthread_mutex_lock(&r->lock);
    r->options.peers = NULL;
    pthread_mutex_unlock(&r->lock);
}
