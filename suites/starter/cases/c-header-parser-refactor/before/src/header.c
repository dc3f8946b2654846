#include "header.h"

#include <string.h>

enum header_result header_parse(const char *line, size_t length, struct header *out)
{
    size_t colon = 0;
    while (colon < length && line[colon] != ':') {
        colon++;
    }
    if (colon == length) {
        return HEADER_NO_COLON;
    }

    size_t name_start = 0;
    while (name_start < colon && (line[name_start] == ' ' || line[name_start] == '\t')) {
        name_start++;
    }
    size_t name_end = colon;
    while (name_end > name_start && (line[name_end - 1] == ' ' || line[name_end - 1] == '\t')) {
        name_end--;
    }
    if (name_end == name_start) {
        return HEADER_EMPTY_NAME;
    }
    if (name_end - name_start >= HEADER_NAME_MAX) {
        return HEADER_TOO_LONG;
    }

    size_t value_start = colon + 1;
    while (value_start < length && (line[value_start] == ' ' || line[value_start] == '\t')) {
        value_start++;
    }
    size_t value_end = length;
    while (value_end > value_start && (line[value_end - 1] == ' ' || line[value_end - 1] == '\t')) {
        value_end--;
    }
    if (value_end - value_start >= HEADER_VALUE_MAX) {
        return HEADER_TOO_LONG;
    }

    memcpy(out->name, line + name_start, name_end - name_start);
    out->name[name_end - name_start] = '\0';
    memcpy(out->value, line + value_start, value_end - value_start);
    out->value[value_end - value_start] = '\0';
    return HEADER_OK;
}
