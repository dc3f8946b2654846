#pragma once

#include "bus.hpp"

/// Remembers the configuration that the first `config` event brings.
class Startup {
public:
    explicit Startup(Bus& bus);

    bool ready() const { return !config_.empty(); }
    const std::string& config() const { return config_; }

private:
    std::string config_;
};
