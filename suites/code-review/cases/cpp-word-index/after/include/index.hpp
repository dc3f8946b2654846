#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

/// Finds the documents that contain a word. Words are runs of letters and digits; case does not matter.
class Index {
public:
    Index() = default;
    Index(const Index&) = delete;
    Index& operator=(const Index&) = delete;

    /// Adds a document and returns its number.
    std::size_t add(std::string text);

    /// The numbers of the documents that contain the word, in ascending order.
    std::vector<std::size_t> find(std::string_view word) const;

    /// The text of a document, in lower case.
    const std::string& text(std::size_t number) const { return texts_.at(number); }

    std::size_t size() const { return texts_.size(); }

private:
    std::vector<std::string> texts_;
    /// The keys are parts of `texts_`.
    std::unordered_map<std::string_view, std::vector<std::size_t>> postings_;
};
