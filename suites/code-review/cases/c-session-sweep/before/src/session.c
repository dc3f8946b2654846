#include "session.h"

#include <stdlib.h>

static void tell(const struct session_table *table, const struct session *session)
{
    for (size_t i = 0; i < table->listener_count; i++)
        table->listeners[i](session, table->contexts[i]);
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
    if (table->listener_count == 4)
        return -1;
    table->listeners[table->listener_count] = listener;
    table->contexts[table->listener_count] = context;
    table->listener_count++;
    return 0;
}
