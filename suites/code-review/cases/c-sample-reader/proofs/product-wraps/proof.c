#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "samples.h"

int main(void)
{
    static const unsigned char head[] = {'S', 'M', 'P', 'L', 2, 1, 0, 1, 0, 0, 0, 1, 0};
    static unsigned char body[3 * 65536];
    FILE *file = fopen(".proof/long.smpl", "wb");
    if (file == NULL)
        return 5;
    fwrite(head, 1, sizeof head, file);
    fwrite(body, 1, sizeof body, file);
    fclose(file);
    struct samples samples;
    return samples_read(".proof/long.smpl", &samples) == SAMPLES_FORMAT ? 0 : 1;
}
