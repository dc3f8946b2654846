#include <cstdio>
#include <exception>

#include "bus.hpp"

int main() {
    Bus bus;
    int once = 0, second = 0, third = 0, late = 0;
    bus.once("config", [&](const Event&) { once++; });
    bus.subscribe("config", [&](const Event&) { second++; });
    bus.subscribe("config", [&](const Event&) { third++; });
    bus.once("config", [&](const Event&) {
        for (int i = 0; i < 20; i++) bus.subscribe("other", [&](const Event&) { late++; });
    });
    try {
        bus.publish({"config", "a"});
        bus.publish({"config", "b"});
    } catch (const std::exception& e) {
        std::fprintf(stderr, "%s\n", e.what());
        return 1;
    }
    std::fprintf(stderr, "%d %d %d\n", once, second, third);
    return once == 1 && second == 2 && third == 2 && late == 0 ? 0 : 1;
}
