#include "controller.hpp"

void Controller::submit(const Command& command) {
    pending_.push_back(command);
}

bool Controller::cycle() {
    if (pending_.empty()) {
        return false;
    }
    const Command command = pending_.front();
    pending_.pop_front();
    if (command.axis < axes) {
        positions_[command.axis] = command.target;
    }
    return true;
}
