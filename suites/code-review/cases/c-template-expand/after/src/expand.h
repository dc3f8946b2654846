#ifndef EXPAND_H
#define EXPAND_H

#include <stddef.h>

#include "vars.h"

enum expand_result { EXPAND_OK, EXPAND_FULL, EXPAND_SYNTAX };

/* Replaces ${name} and ${name|default} in text and writes the result to out, which has room for size bytes; size is at
   least 1. Unknown names without a default become empty. */
enum expand_result expand(const char *text, const struct vars *vars, char *out, size_t size);

#endif
