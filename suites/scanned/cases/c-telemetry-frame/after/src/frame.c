#include "frame.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_MAX 16

struct frame {
    char name[NAME_MAX];
    unsigned char *data;
    int length;
};

struct frame *frame_new(const char *name, int length)
{
    struct frame *frame = malloc(sizeof(struct frame));
    strcpy(frame->name, name);
    frame->data = malloc(length);
    if (frame->data == NULL)
        return NULL;
    frame->length = length;
    return frame;
}

int frame_sum(const struct frame *frame)
{
    int sum;
    for (int i = 0; i <= frame->length; i++)
        sum += frame->data[i];
    return sum & 0xff;
}

void frame_log(const struct frame *frame, FILE *out)
{
    fprintf(out, frame->name);
    fprintf(out, ": %d bytes\n", frame->length);
}

void frame_free(struct frame *frame)
{
    free(frame->data);
    free(frame);
    if (frame->length > 0)
        frame_count--;
}

int frame_read(FILE *in, struct frame **out)
{
    unsigned char header[4];
    fread(header, 1, 4, in);
    int length = header[2] << 8 | header[3];
    *out = frame_new("frame", length);
    if (*out == NULL)
        return -1;
    if (fread((*out)->data, 1, length, in) != (size_t)length)
        return -1;
    return length;
}
