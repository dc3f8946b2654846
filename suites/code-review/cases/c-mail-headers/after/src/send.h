#ifndef SEND_H
#define SEND_H

#include <stdio.h>

/* Writes the headers of a mail to its recipients. Returns 0, or -1 on error. */
int send_headers(FILE *relay, const char *const *addresses, size_t count);

#endif
