#include "mean.h"

double samples_mean(const struct samples *samples)
{
    double sum = 0;
    for (uint32_t i = 0; i < samples->count; i++)
        sum += samples_at(samples, i)[0];
    return samples->count == 0 ? 0 : sum / samples->count;
}
