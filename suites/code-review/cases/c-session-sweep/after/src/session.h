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

struct session_subscription {
    session_listener call;
    void *context;
};

struct session_table {
    struct session *first;
    unsigned last_id;
    struct session_subscription *listeners;
    size_t listener_count;
    size_t listener_capacity;
};

/* Starts with all fields zero; returns NULL if there is no memory. */
struct session *sessions_open(struct session_table *table, time_t expires);

/* Ends one session. Returns 0, or -1 if there is none with that id. */
int sessions_close(struct session_table *table, unsigned id);

/* Calls listener for each session that ends; it must not open or end sessions itself. Returns 0, or -1 if there is no
   memory. */
int sessions_listen(struct session_table *table, session_listener listener, void *context);

/* Ends the sessions whose time is over, and returns their number. */
size_t sessions_sweep(struct session_table *table, time_t now);

/* Ends all sessions without telling anyone, and forgets the listeners. */
void sessions_destroy(struct session_table *table);

#endif
