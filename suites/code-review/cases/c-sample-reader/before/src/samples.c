#include "samples.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The file begins with "SMPL", a version byte and the number of samples, lowest byte first. */
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
    if (fread(head, 1, sizeof head, file) != sizeof head || memcmp(head, "SMPL", 4) != 0)
        goto done;
    if (head[4] != 1) {
        result = SAMPLES_VERSION;
        goto done;
    }
    if (read_u32(file, &count) != 0 || count == 0 || count > SAMPLES_MAX_BYTES)
        goto done;

    data = malloc(count);
    if (data == NULL) {
        result = SAMPLES_MEMORY;
        goto done;
    }
    if (fread(data, 1, count, file) != count)
        goto done;
    samples->count = count;
    samples->data = data;
    data = NULL;
    result = SAMPLES_OK;
done:
    free(data);
    fclose(file);
    return result;
}

void samples_free(struct samples *samples)
{
    free(samples->data);
    samples->data = NULL;
    samples->count = 0;
}
