#ifndef EXPAND_H
#define EXPAND_H

#include <stddef.h>

#include "vars.h"

/* Replaces ${name} in text and writes the result to out, which has room for size bytes. Unknown names become empty.
   Returns 0, or -1 if the result does not fit. */
int expand(const char *text, const struct vars *vars, char *out, size_t size);

#endif
