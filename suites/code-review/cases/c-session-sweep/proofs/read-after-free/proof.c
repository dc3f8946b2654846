#include <stdio.h>

#include "session.h"

int main(void)
{
    struct session_table table = {0};
    for (int i = 0; i < 6; i++)
        sessions_open(&table, i % 2 == 0 ? 10 : 1000);
    size_t ended = sessions_sweep(&table, 100);
    sessions_destroy(&table);
    return ended == 3 ? 0 : 1;
}
