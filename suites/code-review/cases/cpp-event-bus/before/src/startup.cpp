#include "startup.hpp"

Startup::Startup(Bus& bus) {
    bus.subscribe("config", [this](const Event& event) {
        if (config_.empty()) {
            config_ = event.body;
        }
    });
}
