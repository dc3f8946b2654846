#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

/// Finds the documents that contain a word. Words are runs of letters and digits; case does not matter.
class Index {
public:
    /// Adds a document and returns its number.
    std::size_t add(const std::string& text);

    /// The numbers of the documents that contain the word, in ascending order.
    std::vector<std::size_t> find(const std::string& word) const;

private:
    std::size_t documents_ = 0;
    std::unordered_map<std::string, std::vector<std::size_t>> postings_;
};
