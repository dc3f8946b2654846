#include "index.hpp"

#include <algorithm>
#include <cctype>

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

std::string lower(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
    return text;
}

}  // namespace

std::size_t Index::add(const std::string& text) {
    const std::size_t number = documents_++;
    auto at = text.begin();
    while (at != text.end()) {
        const auto begin = std::find_if(at, text.end(), is_word);
        const auto end = std::find_if_not(begin, text.end(), is_word);
        if (begin != end) {
            auto& numbers = postings_[lower(std::string(begin, end))];
            if (numbers.empty() || numbers.back() != number) {
                numbers.push_back(number);
            }
        }
        at = end;
    }
    return number;
}

std::vector<std::size_t> Index::find(const std::string& word) const {
    const auto found = postings_.find(lower(word));
    return found == postings_.end() ? std::vector<std::size_t>() : found->second;
}
