#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

namespace svc::http {

/// Bytes that came in. Sixteen bytes small when empty, because every idle connection has one;
/// at most 4 GiB.
class Buffer {
public:
    Buffer() = default;
    ~Buffer() { std::free(data_); }
    Buffer(Buffer&& other) noexcept { swap(other); }
    Buffer& operator=(Buffer&& other) noexcept {
        swap(other);
        return *this;
    }
    void swap(Buffer& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
    }

    char* data() { return data_; }
    std::size_t size() const { return size_; }
    std::size_t capacity() const { return capacity_; }
    bool empty() const { return size_ == 0; }
    std::string_view view() const { return {data_, size_}; }

    char* tail() { return data_ + size_; }
    std::size_t room() const { return capacity_ - size_; }
    void grew(std::size_t bytes) { size_ += static_cast<std::uint32_t>(bytes); }
    void resize_down(std::size_t size) { size_ = static_cast<std::uint32_t>(size); }
    void clear() { size_ = 0; }
    void free() { Buffer().swap(*this); }

    /// Moves what the buffer holds; views into it are void afterwards.
    void reserve(std::size_t capacity) {
        if (capacity <= capacity_) return;
        auto* moved = static_cast<char*>(std::realloc(data_, capacity));
        if (!moved) throw std::bad_alloc();
        data_ = moved;
        capacity_ = static_cast<std::uint32_t>(capacity);
    }
    void append(std::string_view bytes) {
        reserve(size_ + bytes.size());
        if (!bytes.empty()) std::memcpy(tail(), bytes.data(), bytes.size());
        grew(bytes.size());
    }
    void drop_front(std::size_t bytes) { drop(0, bytes); }
    void drop(std::size_t at, std::size_t bytes) {
        size_ -= static_cast<std::uint32_t>(bytes);
        if (size_ > at) std::memmove(data_ + at, data_ + at + bytes, size_ - at);
    }

private:
    char* data_ = nullptr;
    std::uint32_t size_ = 0;
    std::uint32_t capacity_ = 0;
};

}  // namespace svc::http
