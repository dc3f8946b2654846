#include "send.h"

#include <stdlib.h>

#include "header.h"

int send_headers(FILE *relay, const char *const *addresses, size_t count)
{
    char *header = header_recipients(addresses, count);
    if (header == NULL)
        return -1;
    char line[48];
    header_count(line, count);
    int result = fputs(header, relay) < 0 || fputs(line, relay) < 0 ? -1 : 0;
    free(header);
    return result;
}
