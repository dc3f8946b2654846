#include "vars.h"

#include <string.h>

int vars_set(struct vars *vars, const char *name, const char *value)
{
    if (vars->count == VARS_MAX || strlen(name) >= VARS_NAME || strlen(value) >= VARS_VALUE)
        return -1;
    memcpy(vars->items[vars->count].name, name, strlen(name) + 1);
    memcpy(vars->items[vars->count].value, value, strlen(value) + 1);
    vars->count++;
    return 0;
}

const char *vars_get(const struct vars *vars, const char *name, size_t length)
{
    for (size_t i = 0; i < vars->count; i++)
        if (strlen(vars->items[i].name) == length && memcmp(vars->items[i].name, name, length) == 0)
            return vars->items[i].value;
    return NULL;
}
