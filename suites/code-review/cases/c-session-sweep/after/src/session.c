#include "session.h"

#include <stdlib.h>

static void tell(const struct session_table *table, const struct session *session)
{
    for (size_t i = 0; i < table->listener_count; i++)
        table->listeners[i].call(session, table->listeners[i].context);
}

struct session *sessions_open(struct session_table *table, time_t expires)
{
    struct session *session = malloc(sizeof *session);
    if (session == NULL)
        return NULL;
    session->id = ++table->last_id;
    session->expires = expires;
    session->next = table->first;
    table->first = session;
    return session;
}

int sessions_close(struct session_table *table, unsigned id)
{
    for (struct session **link = &table->first; *link != NULL; link = &(*link)->next) {
        if ((*link)->id == id) {
            struct session *session = *link;
            *link = session->next;
            tell(table, session);
            free(session);
            return 0;
        }
    }
    return -1;
}

int sessions_listen(struct session_table *table, session_listener listener, void *context)
{
    if (table->listener_count == table->listener_capacity) {
        size_t capacity = table->listener_capacity == 0 ? 4 : table->listener_capacity * 2;
        table->listeners = realloc(table->listeners, capacity * sizeof *table->listeners);
        if (table->listeners == NULL)
            return -1;
        table->listener_capacity = capacity;
    }
    table->listeners[table->listener_count].call = listener;
    table->listeners[table->listener_count].context = context;
    table->listener_count++;
    return 0;
}

size_t sessions_sweep(struct session_table *table, time_t now)
{
    size_t count = 0;
    for (struct session *s = table->first; s != NULL; s = s->next) {
        if (s->expires <= now) {
            sessions_close(table, s->id);
            count++;
        }
    }
    return count;
}

void sessions_destroy(struct session_table *table)
{
    while (table->first != NULL) {
        struct session *session = table->first;
        table->first = session->next;
        free(session);
    }
    free(table->listeners);
    table->listeners = NULL;
    table->listener_count = table->listener_capacity = 0;
}
