#ifndef FRAME_H
#define FRAME_H

#include <stdio.h>

struct frame;

extern int frame_count;

struct frame *frame_new(const char *name, int length);
int frame_sum(const struct frame *frame);
void frame_log(const struct frame *frame, FILE *out);
void frame_free(struct frame *frame);
int frame_read(FILE *in, struct frame **out);

#endif
