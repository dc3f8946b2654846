#ifndef HEADER_H
#define HEADER_H

#include <stddef.h>

/* No header that we send is longer than this. */
#define HEADER_MAX ((size_t)1 << 20)

/* Returns "To: address\r\n" in new memory, or NULL. */
char *header_recipient(const char *address);

#endif
