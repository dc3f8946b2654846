#ifndef MEAN_H
#define MEAN_H

#include "samples.h"

/* The mean of the first bytes of all samples, 0 if there are none. */
double samples_mean(const struct samples *samples);

#endif
