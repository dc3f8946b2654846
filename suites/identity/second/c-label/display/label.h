#include <stddef.h>

struct label {
    char text[64];
    size_t length;
    int changed;
};

void label_set(struct label *label, const char *text);
