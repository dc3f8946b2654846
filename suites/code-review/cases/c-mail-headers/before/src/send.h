#ifndef SEND_H
#define SEND_H

#include <stdio.h>

/* Writes the headers of a mail to one recipient. Returns 0, or -1 on error. */
int send_headers(FILE *relay, const char *address);

#endif
