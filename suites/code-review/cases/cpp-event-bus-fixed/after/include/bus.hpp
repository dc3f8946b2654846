#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

struct Event {
    std::string topic;
    std::string body;
};

/// Passes events on to handlers, in the order of their subscription. For use by one thread.
class Bus {
public:
    Bus() = default;
    Bus(const Bus&) = delete;
    Bus& operator=(const Bus&) = delete;

    using Handler = std::function<void(const Event&)>;
    using Token = std::uint64_t;

    /// Calls the handler for each event of the topic until `unsubscribe` is called with the token.
    Token subscribe(std::string topic, Handler handler);

    /// Calls the handler for the next event of the topic only.
    Token once(std::string topic, Handler handler);

    /// Returns whether there was a handler with this token.
    bool unsubscribe(Token token);

    /// Passes the event on and returns how many handlers it had.
    std::size_t publish(const Event& event);

private:
    struct Entry {
        Token token;
        std::string topic;
        std::shared_ptr<Handler> handler;
    };

    std::vector<Entry> entries_;
    Token last_ = 0;
};
