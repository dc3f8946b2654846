#include "bus.hpp"

#include <utility>

void Bus::subscribe(std::string topic, Handler handler) {
    entries_.push_back({std::move(topic), std::move(handler)});
}

void Bus::publish(const Event& event) {
    for (const Entry& entry : entries_) {
        if (entry.topic == event.topic) {
            entry.handler(event);
        }
    }
}
