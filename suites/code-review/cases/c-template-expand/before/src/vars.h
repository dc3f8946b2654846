#ifndef VARS_H
#define VARS_H

#include <stddef.h>

#define VARS_MAX 32
#define VARS_NAME 32
#define VARS_VALUE 128

/* The variables of one recipient. */
struct vars {
    size_t count;
    struct {
        char name[VARS_NAME];
        char value[VARS_VALUE];
    } items[VARS_MAX];
};

/* Returns 0, or -1 if there is no room or one of the texts is too long. */
int vars_set(struct vars *vars, const char *name, const char *value);

/* Returns the value of the variable whose name has the given length, or NULL. */
const char *vars_get(const struct vars *vars, const char *name, size_t length);

#endif
