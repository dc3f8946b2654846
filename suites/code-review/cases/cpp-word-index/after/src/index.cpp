#include "index.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }

void make_lower(std::string& text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
}

}  // namespace

std::size_t Index::add(std::string text) {
    const std::size_t number = texts_.size();
    make_lower(text);
    texts_.push_back(std::move(text));
    const std::string_view all = texts_.back();
    std::size_t at = 0;
    while (at < all.size()) {
        if (!is_word(all[at])) {
            at++;
            continue;
        }
        std::size_t end = at;
        while (end < all.size() && is_word(all[end])) {
            end++;
        }
        auto& numbers = postings_[all.substr(at, end - at)];
        if (numbers.empty() || numbers.back() != number) {
            numbers.push_back(number);
        }
        at = end;
    }
    return number;
}

std::vector<std::size_t> Index::find(std::string_view word) const {
    std::string wanted(word);
    make_lower(wanted);
    const auto found = postings_.find(wanted);
    return found == postings_.end() ? std::vector<std::size_t>() : found->second;
}
