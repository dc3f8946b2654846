#include <stdio.h>
#include <string.h>

#include "expand.h"

static unsigned long long walked;

size_t counted_strlen(const char *text)
{
    size_t n = 0;
    while (text[n] != '\0')
        n++;
    walked += n;
    return n;
}

int main(void)
{
    static struct vars vars;
    static char text[4001], out[8192];
    memset(text, 'x', 4000);
    if (expand(text, &vars, out, sizeof out) != EXPAND_OK)
        return 5;
    if (walked > 100000) {
        fprintf(stderr, "%llu characters were walked over for a template of 4000\n", walked);
        return 1;
    }
    return 0;
}
