#ifndef SESSION_H
#define SESSION_H

#include <stddef.h>
#include <time.h>

struct session {
    unsigned id;
    time_t expires;
    struct session *next;
};

typedef void (*session_listener)(const struct session *session, void *context);

struct session_table {
    struct session *first;
    unsigned last_id;
    session_listener listeners[4];
    void *contexts[4];
    size_t listener_count;
};

/* Starts with all fields zero; returns NULL if there is no memory. */
struct session *sessions_open(struct session_table *table, time_t expires);

/* Ends one session. Returns 0, or -1 if there is none with that id. */
int sessions_close(struct session_table *table, unsigned id);

/* Calls listener for each session that ends; it must not open or end sessions itself. Returns 0, or -1 if there are four
   already. */
int sessions_listen(struct session_table *table, session_listener listener, void *context);

#endif
