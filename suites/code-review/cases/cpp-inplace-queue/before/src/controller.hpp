#pragma once

#include <deque>

#include "command.hpp"

/// Executes one command in each cycle of the control loop, on the thread of that loop.
class Controller {
public:
    /// Queues a command.
    void submit(const Command& command);

    /// Executes the next command; returns false if there was none.
    bool cycle();

    double position(std::uint8_t axis) const { return axis < axes ? positions_[axis] : 0; }

private:
    static constexpr std::uint8_t axes = 6;

    std::deque<Command> pending_;
    double positions_[axes] = {};
};
