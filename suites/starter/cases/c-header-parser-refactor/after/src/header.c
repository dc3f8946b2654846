#include "header.h"

#include <stdbool.h>
#include <string.h>

/* A piece of someone else's text; not ended by a zero byte. */
struct slice {
    const char *start;
    size_t length;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static struct slice trimmed(struct slice text)
{
    while (text.length > 0 && is_blank(text.start[0])) {
        text.start++;
        text.length--;
    }
    while (text.length > 0 && is_blank(text.start[text.length - 1])) {
        text.length--;
    }
    return text;
}

/* The caller has checked that `to` has room for the text and a zero byte. */
static void copy(char *to, struct slice text)
{
    memcpy(to, text.start, text.length);
    to[text.length] = '\0';
}

enum header_result header_parse(const char *line, size_t length, struct header *out)
{
    const char *colon = memchr(line, ':', length);
    if (colon == NULL) {
        return HEADER_NO_COLON;
    }

    size_t before_colon = (size_t)(colon - line);
    struct slice name = trimmed((struct slice){line, before_colon});
    struct slice value = trimmed((struct slice){colon + 1, length - before_colon - 1});
    if (name.length == 0) {
        return HEADER_EMPTY_NAME;
    }
    if (name.length >= sizeof out->name || value.length >= sizeof out->value) {
        return HEADER_TOO_LONG;
    }

    copy(out->name, name);
    copy(out->value, value);
    return HEADER_OK;
}
