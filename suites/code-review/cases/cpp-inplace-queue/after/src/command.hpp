#pragma once

#include <cstdint>

/// What the operator wants an axis to do.
struct Command {
    Command(std::uint8_t axis, double target) : axis(axis), target(target) {}

    std::uint8_t axis;
    double target;
};
