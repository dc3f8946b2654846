#pragma once

#include <cstddef>

#include "command.hpp"
#include "inplace_queue.hpp"

/// Executes one command in each cycle of the control loop, on the thread of that loop.
class Controller {
public:
    /// Queues a command. If there are too many, the oldest is dropped, since the operator has moved on.
    void submit(const Command& command);

    /// Executes the next command; returns false if there was none.
    bool cycle();

    double position(std::uint8_t axis) const { return axis < axes ? positions_[axis] : 0; }

    std::size_t dropped() const { return dropped_; }

private:
    static constexpr std::uint8_t axes = 6;
    static constexpr std::size_t pending_max = 64;

    InplaceQueue<Command, pending_max> pending_;
    std::size_t dropped_ = 0;
    double positions_[axes] = {};
};
