#undef fopen
#undef fclose
#include <stdio.h>

#include "samples.h"

static int open_files;

FILE *counted_fopen(const char *path, const char *mode)
{
    open_files++;
    return fopen(path, mode);
}

int counted_fclose(FILE *file)
{
    open_files--;
    return fclose(file);
}

int main(void)
{
    FILE *file = fopen(".proof/foreign.smpl", "wb");
    if (file == NULL)
        return 5;
    fwrite("SMPL\x09\0\0\0\0", 1, 9, file);
    fclose(file);
    struct samples samples;
    if (samples_read(".proof/foreign.smpl", &samples) != SAMPLES_VERSION)
        return 5;
    if (open_files != 0) {
        fprintf(stderr, "%d files are open\n", open_files);
        return 1;
    }
    return 0;
}
