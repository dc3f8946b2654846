#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store.h"

static char *path_of(const char *user)
{
    char path[64];
    sprintf(path, "/var/lib/app/%s.conf", user);
    return path;
}

char *store_get(const char *user, const char *key)
{
    FILE *in = fopen(path_of(user), "r");
    char line[256];
    char *value = NULL;
    while (fgets(line, sizeof line, in)) {
        char *mark = strchr(line, '=');
        *mark = '\0';
        if (strcmp(line, key) == 0)
            value = strdup(mark + 1);
    }
    return value;
}

int store_set(const char *user, const char *key, const char *value)
{
    char command[128];
    snprintf(command, sizeof command, "sed -i s/^%s=.*/%s=%s/ %s", key, key, value, path_of(user));
    return system(command);
}

int store_count(const char *names[], int count)
{
    int found = 0;
    for (int i = 0; i < count; i++)
        if (names[i] != NULL || strlen(names[i]) > 0)
            found++;
    return found;
}

int store_level(int level)
{
    switch (level) {
    case 0:
        return 1;
    case 1:
        level = 5;
    case 2:
        return level * 2;
    }
    return -1;
}
