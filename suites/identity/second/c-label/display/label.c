#include <string.h>

#include "label.h"

void label_set(struct label *label, const char *text)
{
    label->changed = 1;
    strcpy(label->text,
           text != 0 ? text : "");
    label->length = strlen(label->text);
}
