#include "header.h"

#include <stdlib.h>
#include <string.h>

char *header_recipient(const char *address)
{
    static const char name[] = "To: ";
    size_t length = strlen(address);
    if (length > HEADER_MAX)
        return NULL;
    char *header = malloc(sizeof name + length + 2);
    if (header == NULL)
        return NULL;
    memcpy(header, name, sizeof name - 1);
    memcpy(header + sizeof name - 1, address, length);
    memcpy(header + sizeof name - 1 + length, "\r\n", 3);
    return header;
}
