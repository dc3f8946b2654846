#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "work_queue.hpp"

static WorkQueue<int> queue;
static std::mutex mutex;
static std::condition_variable changed;
static int taken = 0;

int main() {
    for (int i = 0; i < 3; i++) {
        std::thread([] {
            if (queue.pop()) {
                const std::lock_guard<std::mutex> lock(mutex);
                taken++;
                changed.notify_all();
            }
        }).detach();
    }
    // A thread that is counted has released the queue's mutex by waiting, since waiting() takes it.
    while (queue.waiting() < 3) std::this_thread::yield();
    queue.push_all({1, 2, 3});
    std::unique_lock<std::mutex> lock(mutex);
    const bool all = changed.wait_for(lock, std::chrono::seconds(4), [] { return taken == 3; });
    if (!all) std::fprintf(stderr, "%d of 3 items were taken although 3 threads waited\n", taken);
    std::fflush(stderr);
    std::_Exit(all ? 0 : 1);
}
