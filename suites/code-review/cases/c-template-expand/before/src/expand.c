#include "expand.h"

#include <string.h>

int expand(const char *text, const struct vars *vars, char *out, size_t size)
{
    char *end = out + size;
    while (*text != '\0') {
        const char *piece = text;
        size_t length = 1;
        if (text[0] == '$' && text[1] == '{' && strchr(text, '}') != NULL) {
            const char *close = strchr(text, '}');
            piece = vars_get(vars, text + 2, (size_t)(close - text) - 2);
            length = piece != NULL ? strlen(piece) : 0;
            text = close + 1;
        } else {
            text++;
        }
        if (length >= (size_t)(end - out))
            return -1;
        if (length > 0)
            memcpy(out, piece, length);
        out += length;
    }
    *out = '\0';
    return 0;
}
