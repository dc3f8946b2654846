#include <cstdio>

#include "index.hpp"

int main() {
    Index index;
    const char* words[] = {"alpha", "beta", "gamma", "delta", "omega"};
    for (const char* word : words) index.add(word);
    for (std::size_t i = 0; i < 5; i++) {
        const auto found = index.find(words[i]);
        if (found.size() != 1 || found[0] != i) {
            std::fprintf(stderr, "%s is not found\n", words[i]);
            return 1;
        }
    }
    return 0;
}
