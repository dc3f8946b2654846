#include "bus.hpp"

#include <algorithm>
#include <memory>
#include <utility>

Bus::Token Bus::subscribe(std::string topic, Handler handler) {
    const Token token = ++last_;
    entries_.push_back({token, std::move(topic), std::make_shared<Handler>(std::move(handler))});
    return token;
}

Bus::Token Bus::once(std::string topic, Handler handler) {
    auto token = std::make_shared<Token>(0);
    *token = subscribe(std::move(topic), [this, token, handler = std::move(handler)](const Event& event) {
        if (unsubscribe(*token)) {
            handler(event);
        }
    });
    return *token;
}

bool Bus::unsubscribe(Token token) {
    const auto found = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& entry) { return entry.token == token; });
    if (found == entries_.end()) {
        return false;
    }
    entries_.erase(found);
    return true;
}

std::size_t Bus::publish(const Event& event) {
    std::size_t called = 0;
    for (const Entry& entry : entries_) {
        if (entry.topic != event.topic) {
            continue;
        }
        (*entry.handler)(event);
        called++;
    }
    return called;
}
