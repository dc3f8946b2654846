#include "samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WIDTH_MAX = 65536 };

/* The file begins with "SMPL", a version byte and the number of samples, lowest byte first. From version 2 on, the width of
   a sample follows in the same form. */
static int read_u32(FILE *file, uint32_t *value)
{
    unsigned char b[4];
    if (fread(b, 1, sizeof b, file) != sizeof b)
        return -1;
    *value = b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
    return 0;
}

enum samples_result samples_read(const char *path, struct samples *samples)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return SAMPLES_OPEN;
    enum samples_result result = SAMPLES_FORMAT;
    unsigned char *data = NULL;
    unsigned char head[5];
    uint32_t count;
    uint32_t width = 1;
    if (fread(head, 1, sizeof head, file) != sizeof head || memcmp(head, "SMPL", 4) != 0)
        goto done;
    if (head[4] != 1 && head[4] != 2) {
        return SAMPLES_VERSION;
    }
    if (read_u32(file, &count) != 0 || count == 0)
        goto done;
    if (head[4] == 2 && (read_u32(file, &width) != 0 || width == 0 || width > WIDTH_MAX))
        goto done;

    uint32_t bytes = count * width;
    if (bytes > SAMPLES_MAX_BYTES)
        goto done;
    data = malloc(bytes);
    if (data == NULL) {
        result = SAMPLES_MEMORY;
        goto done;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (fread(data + (size_t)i * width, 1, width, file) != width)
            goto done;
    }
    samples->count = count;
    samples->width = width;
    samples->data = data;
    data = NULL;
    result = SAMPLES_OK;
done:
    free(data);
    fclose(file);
    return result;
}

const unsigned char *samples_at(const struct samples *samples, uint32_t index)
{
    return index < samples->count ? samples->data + (size_t)index * samples->width : NULL;
}

void samples_free(struct samples *samples)
{
    free(samples->data);
    samples->data = NULL;
    samples->count = 0;
}
