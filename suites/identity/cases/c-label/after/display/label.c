#include <string.h>

#include "label.h"

void label_set(struct label *label, const char *text)
{
    strcpy(label->text,
           text);
    label->length = strlen(text);
}
