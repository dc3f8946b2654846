#include <stdio.h>
#include <string.h>

#include "expand.h"

int main(void)
{
    static struct vars vars;
    char memory[16];
    memset(memory, 'S', sizeof memory);
    enum expand_result result = expand("12345678", &vars, memory, 8);
    if (memory[8] != 'S') {
        fprintf(stderr, "the byte behind the buffer was written (result %d)\n", result);
        return 1;
    }
    if (expand("1234567", &vars, memory, 8) != EXPAND_OK || strcmp(memory, "1234567") != 0)
        return 5;
    return 0;
}
