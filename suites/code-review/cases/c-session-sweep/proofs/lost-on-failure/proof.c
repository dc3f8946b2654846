#undef realloc
#include <stdio.h>
#include <stdlib.h>

#include "session.h"

static int scarce, called;

void *scarce_realloc(void *old, size_t size)
{
    return scarce ? NULL : realloc(old, size);
}

static void count(const struct session *session, void *context)
{
    (void)session;
    (void)context;
    called++;
}

int main(void)
{
    struct session_table table = {0};
    for (int i = 0; i < 4; i++)
        if (sessions_listen(&table, count, NULL) != 0)
            return 5;
    scarce = 1;
    if (sessions_listen(&table, count, NULL) == 0)
        return 5;
    if (table.listeners == NULL && table.listener_count > 0) {
        fprintf(stderr, "%zu listeners are lost\n", table.listener_count);
        return 1;
    }
    struct session *session = sessions_open(&table, 10);
    sessions_close(&table, session->id);
    return called == 4 ? 0 : 1;
}
