#include "importer.hpp"

namespace {
constexpr std::size_t batch_size = 1000;
}

std::size_t import_lines(std::istream& in, WorkQueue<std::string>& queue) {
    std::size_t count = 0;
    std::string line;
    std::vector<std::string> batch;
    const auto flush = [&] {
        const std::size_t size = batch.size();
        if (size > 0 && queue.push_all(std::move(batch))) {
            count += size;
        }
        batch.clear();
    };
    while (std::getline(in, line)) {
        if (!line.empty()) {
            batch.push_back(line);
        }
        if (batch.size() == batch_size) {
            flush();
        }
    }
    flush();
    return count;
}
