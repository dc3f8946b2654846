#pragma once

#include <cassert>
#include <cstddef>
#include <new>
#include <utility>

/// A first-in, first-out queue of at most N elements, which live inside the object.
template <typename T, std::size_t N>
class InplaceQueue {
    static_assert(N > 0, "a queue needs room for an element");

public:
    InplaceQueue() = default;
    InplaceQueue(const InplaceQueue&) = delete;
    InplaceQueue& operator=(const InplaceQueue&) = delete;

    ~InplaceQueue() {
        while (!empty()) {
            pop();
        }
    }

    bool empty() const { return size_ == 0; }
    bool full() const { return size_ == N; }
    std::size_t size() const { return size_; }

    /// Adds an element; the queue must not be full.
    template <typename... Args>
    void emplace(Args&&... args) {
        assert(!full());
        const std::size_t index = (first_ + size_) % N;
        ::new (static_cast<void*>(storage_ + index * sizeof(T))) T(std::forward<Args>(args)...);
        size_++;
    }

    /// The oldest element; the queue must not be empty.
    T& front() {
        assert(!empty());
        return *slot(first_);
    }

    /// Removes the oldest element; the queue must not be empty.
    void pop() {
        front().~T();
        first_ = (first_ + 1) % N;
        size_--;
    }

private:
    T* slot(std::size_t index) { return std::launder(reinterpret_cast<T*>(storage_ + index * sizeof(T))); }

    alignas(T) unsigned char storage_[N * sizeof(T)];
    std::size_t first_ = 0;
    std::size_t size_ = 0;
};
