#include "startup.hpp"

Startup::Startup(Bus& bus) {
    bus.once("config", [this](const Event& event) { config_ = event.body; });
}
