#include "expand.h"

#include <string.h>

struct output {
    char *data;
    size_t size;
    size_t used;
};

static enum expand_result put(struct output *out, const char *text, size_t length)
{
    if (length > out->size - out->used)
        return EXPAND_FULL;
    memcpy(out->data + out->used, text, length);
    out->used += length;
    return EXPAND_OK;
}

/* Handles what stands between the braces. */
static enum expand_result put_variable(struct output *out, const struct vars *vars, const char *inner, size_t length)
{
    const char *bar = memchr(inner, '|', length);
    size_t name = bar != NULL ? (size_t)(bar - inner) : length;
    const char *value = vars_get(vars, inner, name);
    if (value == NULL && bar == NULL)
        return EXPAND_OK;
    if (value == NULL)
        return put(out, bar + 1, length - name - 1);
    return put(out, value, strlen(value));
}

enum expand_result expand(const char *text, const struct vars *vars, char *out, size_t size)
{
    struct output output = {out, size, 0};
    for (size_t at = 0; at < strlen(text); at++) {
        enum expand_result result;
        if (text[at] == '$' && text[at + 1] == '{') {
            const char *inner = text + at + 2;
            const char *close = strchr(inner, '}');
            if (close == NULL)
                return EXPAND_SYNTAX;
            result = put_variable(&output, vars, inner, (size_t)(close - inner));
            at = (size_t)(close - text);
        } else {
            result = put(&output, text + at, 1);
        }
        if (result != EXPAND_OK)
            return result;
    }
    output.data[output.used] = '\0';
    return EXPAND_OK;
}
