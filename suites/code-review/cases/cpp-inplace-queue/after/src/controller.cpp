#include "controller.hpp"

void Controller::submit(const Command& command) {
    if (pending_.full()) {
        pending_.pop();
        dropped_++;
    }
    pending_.emplace(command);
}

bool Controller::cycle() {
    if (pending_.empty()) {
        return false;
    }
    const Command command = pending_.front();
    pending_.pop();
    if (command.axis < axes) {
        positions_[command.axis] = command.target;
    }
    return true;
}
