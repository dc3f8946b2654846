#include "send.h"

#include <stdlib.h>

#include "header.h"

int send_headers(FILE *relay, const char *address)
{
    char *header = header_recipient(address);
    if (header == NULL)
        return -1;
    int result = fputs(header, relay) < 0 ? -1 : 0;
    free(header);
    return result;
}
