#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

/// A queue between the threads that find work and those that do it.
template <typename T>
class WorkQueue {
public:
    /// Returns whether the item was queued, which it is not after `close`.
    bool push(T item) {
        std::vector<T> items;
        items.push_back(std::move(item));
        return push_all(std::move(items));
    }

    /// Queues the items in their order, and returns whether they were queued.
    bool push_all(std::vector<T> items) {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            if (closed_) {
                return false;
            }
            for (T& item : items) {
                items_.push_back(std::move(item));
            }
        }
        ready_.notify_one();
        return true;
    }

    /// Waits for an item; nothing is returned once the queue is closed and empty.
    std::optional<T> pop() {
        std::unique_lock<std::mutex> lock(mutex_);
        waiting_++;
        ready_.wait(lock, [this] { return closed_ || !items_.empty(); });
        waiting_--;
        if (items_.empty()) {
            return std::nullopt;
        }
        std::optional<T> item(std::move(items_.front()));
        items_.pop_front();
        return item;
    }

    std::optional<T> try_pop() {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (items_.empty()) {
            return std::nullopt;
        }
        std::optional<T> item(std::move(items_.front()));
        items_.pop_front();
        return item;
    }

    /// Ends the queue: what is in it can still be taken, nothing can be added.
    void close() {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            closed_ = true;
        }
        ready_.notify_all();
    }

    /// The number of threads that wait for an item.
    std::size_t waiting() const {
        const std::lock_guard<std::mutex> lock(mutex_);
        return waiting_;
    }

private:
    mutable std::mutex mutex_;
    std::condition_variable ready_;
    std::deque<T> items_;
    std::size_t waiting_ = 0;
    bool closed_ = false;
};
