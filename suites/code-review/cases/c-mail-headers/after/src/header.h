#ifndef HEADER_H
#define HEADER_H

#include <stddef.h>

/* No header that we send is longer than this. */
#define HEADER_MAX ((size_t)1 << 20)

/* Returns the To: header for the addresses in new memory, folded at 78 bytes, or NULL if there is no address, they are too
   long together, or there is no memory. The addresses are valid: the queue has checked them. */
char *header_recipients(const char *const *addresses, size_t count);

/* Writes the header that states the number of recipients; line has 48 bytes. */
void header_count(char line[48], size_t count);

#endif
