#include "header.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What stands between two addresses: on the same line, or in front of a folded one. */
static const char SAME_LINE[] = ", ";
static const char NEXT_LINE[] = ",\r\n ";

enum { FOLD_AT = 78 };

char *header_recipients(const char *const *addresses, size_t count)
{
    static const char name[] = "To: ";
    static const char end[] = "\r\n";
    if (count == 0)
        return NULL;

    size_t total = sizeof name + sizeof end;
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(addresses[i]) + sizeof NEXT_LINE;
        if (length > HEADER_MAX - total)
            return NULL;
        total += length;
    }
    char *header = malloc(total);
    if (header == NULL)
        return NULL;

    char *at = header;
    memcpy(at, name, sizeof name - 1);
    at += sizeof name - 1;
    size_t column = sizeof name - 1;
    for (size_t i = 0; i < count; i++) {
        size_t length = strlen(addresses[i]);
        if (i > 0 && column + sizeof SAME_LINE - 1 + length + 1 > FOLD_AT) {
            memcpy(at, NEXT_LINE, sizeof NEXT_LINE - 1);
            at += sizeof NEXT_LINE - 1;
            column = 1;
        } else if (i > 0) {
            memcpy(at, SAME_LINE, sizeof SAME_LINE - 1);
            at += sizeof SAME_LINE - 1;
            column += sizeof SAME_LINE - 1;
        }
        strcpy(at, addresses[i]);
        at += length;
        column += length;
    }
    memcpy(at, end, sizeof end);
    return header;
}

void header_count(char line[48], size_t count)
{
    /* 14 bytes of text, up to 20 digits, line end and zero. */
    sprintf(line, "X-Recipients: %zu\r\n", count);
}
