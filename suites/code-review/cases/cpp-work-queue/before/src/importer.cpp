#include "importer.hpp"

std::size_t import_lines(std::istream& in, WorkQueue<std::string>& queue) {
    std::size_t count = 0;
    std::string line;
    while (std::getline(in, line)) {
        if (!line.empty()) {
            queue.push(line);
            count++;
        }
    }
    return count;
}
