#ifndef SAMPLES_H
#define SAMPLES_H

#include <stddef.h>
#include <stdint.h>

/* No recording has more than this many bytes of samples. */
#define SAMPLES_MAX_BYTES (64u << 20)

enum samples_result { SAMPLES_OK, SAMPLES_OPEN, SAMPLES_FORMAT, SAMPLES_VERSION, SAMPLES_MEMORY };

/* The samples of a recording; each has width bytes. */
struct samples {
    uint32_t count;
    uint32_t width;
    unsigned char *data;
};

/* Reads a recording. On success the caller frees it with samples_free. */
enum samples_result samples_read(const char *path, struct samples *samples);

/* Returns the first byte of a sample, or NULL if there is none with that index. */
const unsigned char *samples_at(const struct samples *samples, uint32_t index);

void samples_free(struct samples *samples);

#endif
