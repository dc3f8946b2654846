#pragma once

#include <functional>
#include <string>
#include <vector>

struct Event {
    std::string topic;
    std::string body;
};

/// Passes events on to handlers, in the order of their subscription. For use by one thread.
class Bus {
public:
    using Handler = std::function<void(const Event&)>;

    void subscribe(std::string topic, Handler handler);
    void publish(const Event& event);

private:
    struct Entry {
        std::string topic;
        Handler handler;
    };

    std::vector<Entry> entries_;
};
