#ifndef HEADER_H
#define HEADER_H

#include <stddef.h>

#define HEADER_NAME_MAX 32
#define HEADER_VALUE_MAX 256

enum header_result {
    HEADER_OK,
    HEADER_NO_COLON,
    HEADER_EMPTY_NAME,
    HEADER_TOO_LONG,
};

/* Both texts end with a zero byte. */
struct header {
    char name[HEADER_NAME_MAX];
    char value[HEADER_VALUE_MAX];
};

/*
 * Splits the first `length` bytes of `line`, "Name: value", and trims blanks
 * on both sides of both parts. `out` is only written to on HEADER_OK.
 */
enum header_result header_parse(const char *line, size_t length, struct header *out);

#endif
